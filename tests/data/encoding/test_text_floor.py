"""Which terms of texts are too rare to be features, by default."""

import numpy as np

from rosenblatt import TextEncoder


def texts(n_texts: int, n_words: int) -> list[str]:
    """Return texts of common words and one word each that no other has."""
    generator = np.random.default_rng(0)
    common = generator.integers(0, 50, (n_texts, n_words - 1))
    return [" ".join([f"own{k}", *(f"w{word}" for word in row)]) for k, row in enumerate(common)]


def test_short_texts_and_few_keep_every_term() -> None:
    """A word of one text is left out where there are many texts, and these are not short."""
    for n_texts, n_words, kept in ((1_200, 30, False), (1_200, 6, True), (900, 30, True)):
        encoder = TextEncoder(word_pairs=False).fit(texts(n_texts, n_words))
        assert ("own7" in encoder.get_feature_names_out()) == kept
        encoder = TextEncoder(word_pairs=False, min_count=2).fit(texts(n_texts, n_words))
        assert "own7" not in encoder.get_feature_names_out()
