import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.encoding.plain_terms import plain_terms
from rosenblatt.data.encoding.rows import Part
from rosenblatt.data.encoding.shares import plain_shares
from rosenblatt.kernels.text.hashing import SEED
from rosenblatt.kernels.text.shares import scanned_shares
from tests.data.encoding.naive import naive_counts, naive_terms

ROWS = st.lists(st.text("ab ", max_size=30), max_size=5)


@given(ROWS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_terms_weigh_the_root_of_their_share_among_the_known(
    rows: list[str], known: list[bool]
) -> None:
    """Compiled and plain agree to the bit, and with the definition; what is unknown is left out."""
    terms = plain_terms(rows, SEED, 2**64 - 1, pairs=True)
    names = [name for row in rows for name in naive_counts(row)]
    numbers = {name: k if known[k % 12] else -1 for k, name in enumerate(dict.fromkeys(names))}
    found = np.array([numbers[name] for name in names], np.int32)
    plain = plain_shares(found, terms.counts, terms.indptr)
    scanned = Part(*scanned_shares(found, terms.counts, terms.indptr))
    for field, array in plain._asdict().items():
        np.testing.assert_array_equal(getattr(scanned, field), array, strict=True)
    accepted = {name for name, number in numbers.items() if number >= 0}
    for i, row in enumerate(rows):
        own = slice(plain.indptr[i], plain.indptr[i + 1])
        expected = naive_terms(row, accepted)
        assert plain.indices[own].tolist() == [numbers[name] for name in expected]
        np.testing.assert_allclose(plain.data[own], list(expected.values()), rtol=3e-7)


def test_keys_of_a_hash_are_all_known() -> None:
    """Numbers without a sign, as hashes have them, are taken as they are."""
    terms = plain_terms(["a b a", "", "c"], SEED, 1023, pairs=True)
    plain = plain_shares(terms.keys, terms.counts, terms.indptr)
    scanned = Part(*scanned_shares(terms.keys, terms.counts, terms.indptr))
    assert plain.indices.tolist() == scanned.indices.tolist() == terms.keys.tolist()
    assert np.array_equal(plain.data, scanned.data)
