"""The 64-bit hash by which words, pairs of words and category levels are known.

It is defined on UTF-8 bytes and whole numbers, so it is the same on every machine. Words of up to
eight bytes that differ have different hashes; otherwise two of n terms share one with a probability
of about n²/2⁶⁵: 5·10⁻⁷ for the four million terms that a vocabulary has at most by default.
"""

HASH_VERSION = 1  # in model files: another way to hash gets another number

SEED = 0x243F6A8885A308D3  # the digits of π
LENGTH_FACTOR = 0x9E3779B97F4A7C15  # the golden ratio; the next two are those of SplitMix64
CHUNK_FACTOR = 0xBF58476D1CE4E5B9
LAST_FACTOR = 0x94D049BB133111EB

WORD_MASK = (1 << 64) - 1


def term_hash(term: bytes, seed: int) -> int:
    """Return the hash of a term, eight bytes at a time, the first byte lowest.

    >>> hex(term_hash(b"good", SEED))
    '0xafd382373490b9cb'
    """
    mixed = seed ^ (len(term) * LENGTH_FACTOR & WORD_MASK)
    for start in range(0, len(term), 8):
        chunk = int.from_bytes(term[start : start + 8], "little")
        mixed = (mixed ^ chunk) * CHUNK_FACTOR & WORD_MASK
        mixed ^= mixed >> 32
    mixed = mixed * LAST_FACTOR & WORD_MASK
    return mixed ^ mixed >> 29


def pair_hash(first: int, second: int) -> int:
    """Return the hash of two terms in this order, from the hash of each."""
    mixed = (first * LENGTH_FACTOR & WORD_MASK) ^ second
    mixed = (mixed ^ mixed >> 32) * LAST_FACTOR & WORD_MASK
    return mixed ^ mixed >> 29


def column_seed(kind: str, column: str) -> int:
    """Return the seed for the terms of a column: the same word in another column is another one."""
    return term_hash(f"{kind}:{column}".encode(), SEED)
