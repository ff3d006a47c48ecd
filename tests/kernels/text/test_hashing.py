import itertools
import random

from rosenblatt.kernels.text.hashing import (
    SEED,
    column_seed,
    pair_hash,
    term_hash,
)

GENERATOR = random.Random(0)  # noqa: S311  # no secret


def test_hashes_never_change() -> None:
    """Models on disk hold these numbers: another way to hash needs another HASH_VERSION."""
    assert term_hash(b"", SEED) == 0x4562272DF2B325CF
    assert term_hash(b"good", SEED) == 0xAFD382373490B9CB
    assert term_hash("Straße und so weiter".encode(), SEED) == 0x309EDB56F4F395E2
    assert pair_hash(term_hash(b"not", SEED), term_hash(b"good", SEED)) == 0x86E9FC3F03A108B6
    assert column_seed("text", "review") == 0x5752C74CE838ACB4


def test_different_terms_have_different_hashes() -> None:
    """No two of a hundred thousand words and pairs share a hash, nor do a pair and its reverse."""
    letters = b"abcdefghijklmnopqrstuvwxyz"
    words = [bytes(three) for three in itertools.product(letters, repeat=3)]
    words += [word + b"-and-longer-than-eight" for word in words] + [bytes(k) for k in range(1, 40)]
    hashes = [term_hash(word, SEED) for word in words]
    pairs = [pair_hash(*GENERATOR.sample(hashes, 2)) for _ in range(60_000)]
    reverse = [pair_hash(b, a) for a, b in itertools.pairwise(hashes)]
    assert len({*hashes, *pairs, *reverse}) > len(hashes) + len(reverse) + 59_990


def test_a_change_of_one_bit_changes_half_of_the_lower_bits() -> None:
    """Every bit of a term reaches every one of the lower 22 bits, which number hashed features."""
    for length in (1, 4, 8, 13):
        changed = [0] * 22
        n_trials = 0
        for _ in range(60):
            term = GENERATOR.randbytes(length)
            before = term_hash(term, SEED)
            for bit in range(8 * length):
                other = (int.from_bytes(term, "little") ^ 1 << bit).to_bytes(length, "little")
                difference = before ^ term_hash(other, SEED)
                changed = [n + (difference >> k & 1) for k, n in enumerate(changed)]
                n_trials += 1
        assert all(0.35 < n / n_trials < 0.65 for n in changed), (length, changed)
