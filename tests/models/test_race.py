"""The recipe that held-out rows choose: the same bits as if it had been asked for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rosenblatt.data.files import BLOCK_BYTES
from rosenblatt.errors import InputError, UnfamiliarDataWarning
from rosenblatt.models.model import Model
from rosenblatt.models.race import HeldRace
from rosenblatt.models.search import Candidate, Search, Trial
from rosenblatt.models.train import model_from_files
from rosenblatt.tuning.folds import cross_validate


def table(folder: Path, *, bends: bool, n_rows: int = 700) -> str:
    """Write two numbers, of which some are missing, and a word: the label bends, or it does not."""
    generator = np.random.default_rng(3)
    x, noise = generator.normal(size=(2, n_rows))
    z = generator.integers(0, 3, n_rows)
    score = (0.8 - np.abs(x) if bends else x) + 0.2 * noise
    numbers = ["" if k % 50 == 7 else f"{value:.4f}" for k, value in enumerate(x)]
    lines = [
        f"{a},{b:.3f},{'abc'[c]},{'yes' if s > 0 else 'no'}"
        for a, b, c, s in zip(numbers, noise, z, score, strict=True)
    ]
    path = folder / f"{bends}{n_rows}.csv"
    path.write_text("\n".join(["x,noise,word,label", *lines, ""]))
    return str(path)


def asked_for(race: Any) -> dict[str, Any]:
    """Return the parameters that ask for what a race chose, with nothing left to try."""
    best = next(one for one in race["tried"] if one["name"] == race["chosen"])
    names = ("rule", "C", "r", "memory", "form")
    return {name: best[name] for name in names if name in best} | {"recipe": "plain"}


@pytest.mark.parametrize("buffer", [None, 8192], ids=["in memory", "on disk"])
def test_a_chosen_form_is_that_which_one_asks_for(tmp_path: Path, buffer: int | None) -> None:
    """Where a number bends it has bins, and the model is that of the form, bit for bit.

    Rows on disk come in the same order only where they are as long.
    """
    path = table(tmp_path, bends=True)
    found = model_from_files(path, label="label", column_pairs=0, buffer=buffer)
    race = found.training["recipe"]
    best, plain = (one for one in race["tried"] if one["name"] in (race["chosen"], "plain"))
    assert best["form"] in ("bins", "few-bins")
    assert best["error"] < 0.5 * plain["error"]
    assert race["rows"] == 700
    how = asked_for(race) | {"max_iter": best["passes"], "column_pairs": 0, "buffer": buffer}
    asked = model_from_files(path, label="label", **how)
    assert asked.training["recipe"] is None
    told = dict(found.training["read_as"])
    assert told["recipe"] == race["chosen"]
    n_tried = len(race["tried"])
    assert told["tried"].startswith(
        f"{n_tried} recipes, judged on 700 rows that they had not seen; the best of each form: "
    )
    assert not found.training["notes"]
    if buffer is None:
        np.testing.assert_array_equal(found.weights, asked.weights)
    assert found.encoding == asked.encoding
    assert found.encoding_arrays.keys() == asked.encoding_arrays.keys()
    for name, array in found.encoding_arrays.items():
        np.testing.assert_array_equal(array, asked.encoding_arrays[name])
    found.save(tmp_path / "m.model")
    again, error = Model.load(tmp_path / "m.model"), found.evaluate(path).error
    assert error is not None
    assert error < 0.15
    assert again.evaluate(path).error == error


def test_a_line_needs_no_bins(tmp_path: Path) -> None:
    """Where a number does not bend the encoding is the plain one."""
    path = table(tmp_path, bends=False)
    found = model_from_files(path, label="label")
    without = model_from_files(path, label="label", recipe="plain")
    assert found.training["recipe"]["chosen"].startswith("plain")
    assert without.training["recipe"] is None
    assert found.encoding == without.encoding


@pytest.mark.parametrize("form", ["plain", "few-bins", "bins", "pairs"])
def test_no_form_is_richer_than_one_says(tmp_path: Path, form: str) -> None:
    """The richest form that is tried is the one that one names."""
    race = model_from_files(table(tmp_path, bends=True), label="label", form=form).training
    order = ["plain", "few-bins", "bins", "pairs"]
    tried = {one["form"] for one in race["recipe"]["tried"]}
    assert tried <= {*order[: order.index(form) + 1]}
    assert "plain" in tried


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "plain"},
        {"rule": "pa1", "bins": 0},
        {"early_stopping": False},
        {"memory": "vote"},
        {"memory": "average", "hash_bits": 6},
        {"C": 0.5, "bins": 0, "column_pairs": 0},
    ],
    ids=str,
)
def test_where_nothing_is_tried(tmp_path: Path, options: Any) -> None:
    """Nothing is tried where all is decided, nothing is held out, or bins cannot be added."""
    model = model_from_files(table(tmp_path, bends=True), label="label", **options)
    assert model.training["recipe"] is None


@pytest.mark.parametrize(
    ("options", "tried"),
    [
        ({"rule": "arow"}, [{"rule": "arow"}]),
        ({"C": 0.5}, [{"rule": "pa1", "C": 0.5}]),
    ],
    ids=str,
)
def test_what_one_says_is_not_tried(tmp_path: Path, options: Any, tried: list[Any]) -> None:
    """A rule or its parameter decides on the learner, and the rest is tried with it."""
    path = table(tmp_path, bends=True)
    model = model_from_files(path, label="label", column_pairs=0, **options)
    found = model.training["recipe"]["tried"]
    names = ("rule", "C", "r")
    assert {one["form"] for one in found} == {"plain", "few-bins", "bins"}
    assert [{n: one[n] for n in names if n in one} for one in found] == 3 * tried


def test_bins_that_one_says_leave_the_rule_open(tmp_path: Path) -> None:
    """Rows that have bins in any case are learned by the rule that held-out rows choose."""
    path = table(tmp_path, bends=True)
    model = model_from_files(path, label="label", bins=7, column_pairs=0)
    race = model.training["recipe"]
    assert {one["rule"] for one in race["tried"]} == {"pa1", "arow"}
    assert {one["name"].partition(",")[0] for one in race["tried"]} == {"bins"}
    assert model.encoding is not None
    assert model.encoding["settings"]["bins"] == 7


def test_folds_choose_as_training_does(tmp_path: Path) -> None:
    """Every fold chooses by its own rows, and rows without bins are those that never had any."""
    bent, straight = table(tmp_path, bends=True), table(tmp_path, bends=False)
    found = cross_validate(bent, folds=3, label="label")
    assert sum(found.recipes.values()) == 3
    assert all("bins" in name for name in found.recipes)
    assert found.mean < 0.15
    found = cross_validate(straight, folds=3, label="label", rule="pa1")
    assert found.recipes == {"plain": 3}
    plain = cross_validate(straight, folds=3, label="label", recipe="plain")
    assert plain.mean < 0.15
    assert not plain.recipes


def test_a_metric_chooses_what_it_rewards(tmp_path: Path) -> None:
    """Of a rare class, the recipe with the best mean F1 is taken, by standard errors of draws."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=(3200, 2)).round(3)
    labels = np.where((x[:, 0] > 1.2) & (x[:, 1] > 0.5), "rare", "usual")
    path = tmp_path / "rare.csv"
    lines = [f"{a},{b},{y}" for (a, b), y in zip(x, labels, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    found = model_from_files(str(path), label="label", metric="f1").training
    race = found["recipe"]
    assert all("error" not in one and 0.0 <= one["f1"] <= 1.0 for one in race["tried"])
    best = max(one["f1"] for one in race["tried"])
    chosen = next(one for one in race["tried"] if one["name"] == race["chosen"])
    assert best - chosen["f1"] < 0.05
    assert "judged by mean F1 of the classes on " in dict(found["read_as"])["tried"]
    with pytest.raises(InputError, match="has no effect: held-out rows have nothing to decide"):
        model_from_files(str(path), label="label", metric="f1", recipe="plain")
    with pytest.raises(InputError, match="metric"):
        model_from_files(str(path), label="label", metric="r2")


def test_few_rows_are_not_raced(tmp_path: Path) -> None:
    """Below a hundred rows nothing is tried, in training and in folds."""
    path = table(tmp_path, bends=True, n_rows=90)
    assert model_from_files(path, label="label").training["recipe"] is None
    found = cross_validate(path, folds=3, label="label")
    assert not found.recipes
    assert found.values == cross_validate(path, folds=3, label="label", recipe="plain").values


def test_pairs_that_mistakes_ask_for(tmp_path: Path) -> None:
    """Where only two numbers together tell, their pair is tried and chosen, in folds as well."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=(1200, 3)).round(3)
    labels = np.where((x[:, 0] > 0) ^ (x[:, 1] > 0), "one", "other")
    lines = [f"{a},{b},{c},{k}" for (a, b, c), k in zip(x, labels, strict=True)]
    path = tmp_path / "xor.csv"
    path.write_text("\n".join(["a,b,c,label", *lines, ""]))
    model = model_from_files(str(path), label="label")
    race = model.training["recipe"]
    assert race["chosen"].startswith(("pairs", "triples"))
    told = dict(model.training["read_as"])
    assert "'a' and 'b'" in told["combined"]
    assert told["tried"].index("pairs") < told["tried"].index("plain")
    error = model.evaluate(str(path)).error
    assert error is not None
    assert error < 0.1
    found = cross_validate(str(path), folds=3, label="label")
    assert sum(found.recipes.values()) == 3
    assert all(name.startswith(("pairs", "triples")) for name in found.recipes)
    assert found.mean < 0.15


def texts(folder: Path, *, endings: bool, n_rows: int = 900) -> str:
    """Write one-word notes: the label shows in their ending, or it is one of the words."""
    generator = np.random.default_rng(8)
    letters = np.array(list("abcdefghiklmnoprstuvw"))
    lines = []
    for k in range(n_rows):
        words = ["".join(generator.choice(letters, 6)) for _ in range(3)]
        mark = ("tion", "ness")[k % 2]
        lines.append(f"{'ab'[k % 2]}\t{' '.join(w + mark if endings else w for w in words)}")
        lines[-1] += "" if endings else f" {mark}"
    path = folder / f"{endings}.tsv"
    path.write_text("\n".join(["label\tnote", *lines, ""]))
    return str(path)


def held_out_texts(folder: Path, kind: str, n_rows: int = 600) -> str:
    """Write a file of texts in which words tell the label, or the ends of words that are new."""
    generator = np.random.default_rng(9)
    letters = np.array(list("abcdefghiklmnoprstuvw"))
    common = ["".join(generator.choice(letters, 4)) for _ in range(40)]
    lines = []
    for k in range(n_rows):
        new = "".join(generator.choice(letters, 8))
        sides = (common[:20], common[20:]) if kind == "words" else (common, common)
        words = [*generator.choice(sides[k % 2], 6)]
        ending = "" if kind == "words" else ("xyx", "yxy")[k % 2]
        lines.append(f"{'ab'[k % 2]}\t{' '.join(words)} {new}{ending}")
    path = folder / f"{kind}.tsv"
    path.write_text("\n".join(["label\tnote", *lines, ""]))
    return str(path)


@pytest.mark.parametrize(
    ("kind", "chosen", "words", "lengths"),
    [
        ("words", "words", True, None),
        ("characters", "2 to 5 characters", False, (2, 5)),
    ],
)
def test_texts_are_read_as_held_out_rows_say(
    kind: str, chosen: str, words: bool, lengths: Any, tmp_path: Path
) -> None:
    """Words, characters or both are features, and asking for them gives the same bits."""
    path = held_out_texts(tmp_path, kind)
    model = model_from_files(path, label="label", text="note")
    texts = model.training["texts"]
    assert texts["chosen"].partition(",")[0] == chosen
    assert {one["name"].partition(",")[0] for one in texts["tried"]} == {
        "words",
        "2 to 5 characters",
        "words and 2 to 5 characters",
    }
    assert model.encoding is not None
    settings = model.encoding["settings"]
    assert (settings["words"], settings["char_ngrams"]) == (words, lengths)
    how: dict[str, Any] = {"words": words, "char_ngrams": lengths or (0, 0)}
    asked = model_from_files(path, label="label", text="note", **how)
    assert asked.training["texts"] is None
    np.testing.assert_array_equal(model.weights, asked.weights)
    assert model.encoding == asked.encoding


def test_characters_that_texts_ask_for(tmp_path: Path) -> None:
    """Runs of characters are features where words say too little, unless one decides on them."""
    path = texts(tmp_path, endings=True)
    model = model_from_files(path, label="label", text="note")
    assert model.training["texts"]["chosen"] == "2 to 5 characters"
    assert model.evaluate(path).error == 0.0
    words = model_from_files(path, label="label", text="note", char_ngrams=(0, 0))
    assert words.training["texts"] is None
    assert words.training["held_out_error"] > 0.3
    beside = model_from_files(path, label="label", text="note", words=True)
    assert beside.training["texts"]["chosen"] == "words and 2 to 5 characters"
    plain = model_from_files(texts(tmp_path, endings=False), label="label", text="note")
    assert plain.training["texts"]["chosen"] == "words"
    assert plain.encoding is not None
    assert plain.encoding["settings"]["char_ngrams"] is None
    assert cross_validate(path, folds=3, label="label", text="note").mean < 0.05


def test_the_race_of_texts_sees_classes_that_stand_together(tmp_path: Path) -> None:
    """A file sorted by class is sampled behind its first block, which has one class alone."""
    generator = np.random.default_rng(4)
    words = ["".join(generator.choice(list("abcdefgh"), 7)) for _ in range(3000)]
    rows = [
        f"{label}\t{' '.join(generator.choice(words[k * 1500 : (k + 1) * 1500], 150))}"
        for k, label in enumerate(("one", "two"))
        for _ in range(4000)
    ]
    path = tmp_path / "sorted.tsv"
    path.write_text("\n".join(["label\tnote", *rows, ""]))
    assert path.stat().st_size > 2 * BLOCK_BYTES
    texts = model_from_files(str(path), label="label", text="note").training["texts"]
    assert texts["chosen"] == "words"
    assert texts["rows"] < 4000


def test_characters_without_words(tmp_path: Path) -> None:
    """Without words texts are runs of 2 to 5 characters, unless their lengths are given."""
    path = texts(tmp_path, endings=True, n_rows=200)
    model = model_from_files(path, label="label", text="note", words=False)
    assert model.encoding is not None
    assert model.encoding["settings"]["char_ngrams"] == (2, 5)
    names = model.table.names(range(model.n_features)) if model.table is not None else []
    assert names
    assert all(name.startswith("characters '") for name in names)
    with pytest.warns(UnfamiliarDataWarning, match="runs of characters were seen in training"):
        model.predict(["aЖЪЫ bЭЮЯ cЩШЧ"] * 40)
    with pytest.raises(InputError, match="leaves texts nothing but characters"):
        model_from_files(path, label="label", text="note", words=False, char_ngrams=(0, 0))


def mixed(folder: Path, *, text_tells: bool, n_rows: int = 800) -> str:
    """Write numbers and a text of 12 words, of which the one or the other tells the label."""
    generator = np.random.default_rng(2)
    words = np.array(["".join(own) for own in generator.choice([*"abcdefghik"], (400, 6))])
    x, y = generator.normal(size=(2, n_rows)).round(3)
    sides = generator.integers(0, 2, n_rows) if text_tells else (x + 0.3 * y > 0).astype(int)
    texts = [generator.choice(words[k * 200 : 200 + k * 200], 12) for k in sides]
    if not text_tells:
        texts = [*generator.choice(words, (n_rows, 12))]
    lines = [
        f"{a},{b},{' '.join(own)},{'ab'[k]}"
        for a, b, own, k in zip(x, y, texts, sides, strict=True)
    ]
    path = folder / f"{text_tells}.csv"
    path.write_text("\n".join(["x,y,note,label", *lines, ""]))
    return str(path)


def test_a_text_that_says_nothing_does_not_spoil_a_table(tmp_path: Path) -> None:
    """It is left out, which is said, and the model is that of the table, bit for bit."""
    path = mixed(tmp_path, text_tells=False)
    model = model_from_files(path)
    assert model.training["parts"]["chosen"].partition(",")[0] == "table"
    told = dict(model.training["read_as"])
    assert told["left out"] == "'note': held-out rows are predicted better without"
    asked = model_from_files(path, ignore="note")
    np.testing.assert_array_equal(model.weights, asked.weights)
    assert model.training["recipe"] == asked.training["recipe"]
    assert model.predict([{"x": 2.0, "y": 0.0}, {"x": -2.0, "y": 0.0}]).tolist() == ["b", "a"]


def test_numbers_that_say_nothing_do_not_spoil_texts(tmp_path: Path) -> None:
    """They are left out; asked for nothing, both stay."""
    path = mixed(tmp_path, text_tells=True)
    model = model_from_files(path)
    assert model.training["parts"]["chosen"].partition(",")[0] in ("texts", "table and texts")
    assert model.training["held_out_error"] < 0.02
    plain = model_from_files(path, recipe="plain")
    assert plain.training["parts"] is None
    assert plain.table is not None
    batch = next(iter(plain.rows(path)))
    of_text = plain.table.text_features()[batch.indices]
    squares = np.add.reduceat(np.where(of_text, batch.data, 0.0) ** 2, batch.indptr[:-1])
    np.testing.assert_allclose(squares, 2 / 4, rtol=1e-5)  # a quarter of two numbers


def stores(folder: Path, *, coded: bool) -> str:
    """Write sales of 80 stores by number: each has its label, or they rise with the number."""
    generator = np.random.default_rng(5)
    store, price = generator.integers(1, 81, 1200), generator.integers(1, 9, 1200)
    shown = generator.permutation(81)[store] if coded else store + generator.normal(0, 20, 1200)
    labels = np.where(shown < 35, "yes", "no")
    path = folder / f"{coded}.csv"
    rows = zip(store.tolist(), price.tolist(), labels, strict=True)
    path.write_text("\n".join(["store,price,label", *(f"{a},{b},{c}" for a, b, c in rows), ""]))
    return str(path)


def test_codes_are_categories_where_that_helps(tmp_path: Path) -> None:
    """Whole numbers of few values are categories where held-out rows say so, bit for bit."""
    path = stores(tmp_path, coded=True)
    model = model_from_files(path)
    told = dict(model.training["read_as"])
    assert told["categories"] == "1: 'store'"
    lines = model.training["read_as"]
    tried = lines[lines.index(["codes", "'store' as a category"]) + 1]
    assert tried[0] == "tried"
    assert tried[1].startswith(
        "6 recipes, judged on 1,200 rows that they had not seen; the best of each form: "
        "'store' as a category 0.00%"
    )
    assert model.training["held_out_error"] == 0.0
    (note,) = model.training["notes"]
    assert note.endswith("leave it out with ignore='store'.")
    asked = model_from_files(path, category="store")
    assert asked.training["codes"] is None
    np.testing.assert_array_equal(model.weights, asked.weights)
    assert model.encoding == asked.encoding
    written = [model.predict([{"store": k, "price": 1}]) for k in (7, 7.0, "7", "7.0")]
    assert all(one == written[0] for one in written)
    assert cross_validate(path, folds=3).mean == 0.0


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "plain"},
        {"recipe": "plain", "column_pairs": 3},
        {"rule": "pa1", "bins": 0},
        {"memory": "vote"},
        {"early_stopping": False, "max_iter": 2},
    ],
    ids="-".join,
)
def test_codes_that_are_not_tried_are_told_of(tmp_path: Path, options: Any) -> None:
    """Where nothing is tried, the line on the column that alone decides names the option."""
    model = model_from_files(stores(tmp_path, coded=True), **options)
    assert model.training["codes"] is None
    assert dict(model.training["read_as"])["numbers"] == "2: 'store', 'price'"
    assert model.training["notes"][0] == (
        "Column 'store' alone decides 100 % of 1,200 rows (always no: 54.7 %): is it known when you"
        " predict? If not, leave it out with ignore='store'. If its numbers are codes, use "
        "category='store'."
    )


def test_numbers_that_rise_are_no_codes(tmp_path: Path) -> None:
    """Where values that are near have the same label, or one says so, numbers stay numbers."""
    rising = model_from_files(stores(tmp_path, coded=False))
    said = model_from_files(stores(tmp_path, coded=True), numeric="store")
    for model in (rising, said):
        assert model.training["codes"] is None
        assert dict(model.training["read_as"])["numbers"] == "2: 'store', 'price'"


def test_rows_without_a_label_are_not_tried(tmp_path: Path) -> None:
    """Bad rows are skipped where codes are looked for, too."""
    path = Path(stores(tmp_path, coded=True))
    path.write_text(path.read_text() + "3,many,\n4,4,\n")
    model = model_from_files(str(path), bad_rows="skip", max_bad_share=0.1)
    assert model.training["codes"]["chosen"] == "'store' as a category"


def test_texts_alone_are_not_trained_for_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where fewer than two columns have levels nothing is learned to look for pairs of them."""

    def never(*_: Any) -> Any:
        raise AssertionError("There is no pair of columns.")

    monkeypatch.setattr("rosenblatt.models.forms.ranked_pairs", never)
    path = texts(tmp_path, endings=False)
    model = model_from_files(path, label="label", text="note")
    assert model.training["recipe"]["chosen"]


def test_bins_beside_texts(tmp_path: Path) -> None:
    """Numbers beside a text have bins where held-out rows say so, and the model loads so."""
    generator = np.random.default_rng(6)
    x = generator.normal(size=1500).round(3)
    words = generator.integers(0, 50, (1500, 6))
    labels = np.where(np.abs(x) + 0.5 * (words < 5).any(axis=1) > 1, "far", "near")
    notes = [" ".join(f"word{k}" for k in row) for row in words]
    lines = [f"{a},{note},{k}" for a, note, k in zip(x, notes, labels, strict=True)]
    path = tmp_path / "notes.csv"
    path.write_text("\n".join(["x,note,label", *lines, ""]))
    model = model_from_files(str(path), label="label", text="note")
    assert model.training["recipe"]["chosen"].startswith("bins")
    error = model.evaluate(str(path)).error
    assert error is not None
    assert error < 0.1
    model.save(tmp_path / "m.model")
    assert Model.load(tmp_path / "m.model").evaluate(str(path)).error == error
    once = model_from_files(str(path), label="label", text="note", early_stopping=False, max_iter=1)
    assert once.training["recipe"] is None


SIMPLE, OTHER = Candidate((("rule", "pa1"),), ()), Candidate((("rule", "arow"),), ())
BINS = Candidate((("rule", "pa1"),), (("bins", 10),))


def chosen(**wrong: set[int]) -> Candidate:
    """Return what a race of 40 rows chooses, by the rows that each candidate predicts wrongly."""
    pool = {"simple": SIMPLE, "other": OTHER, "bins": BINS}
    held = HeldRace.__new__(HeldRace)
    held._pool, held.search = [pool[name] for name in wrong], Search("error", 40, 1)  # noqa: SLF001
    losses = {}
    for name, rows in wrong.items():
        losses[pool[name], 1.0, 0] = np.isin(np.arange(40), [*rows]).astype(float)[None]
        held.search.trials.append(Trial(pool[name], 1.0, (len(rows) / 40,), 1, 0.0))
    held._judge = SimpleNamespace(losses=losses)  # type: ignore[assignment]  # noqa: SLF001
    assert held.best is not None
    return held.best.candidate


@pytest.mark.parametrize(("better", "other"), [("bins", BINS), ("other", OTHER)])
@pytest.mark.parametrize(
    ("gained", "lost", "surpassed"),
    [(7, 3, True), (2, 0, True), (6, 4, False), (10, 6, False), (1, 0, False), (3, 7, False)],
)
def test_the_simpler_of_two_that_are_about_as_good(
    better: str, other: Candidate, gained: int, lost: int, surpassed: bool
) -> None:
    """A form, or a learner, must win by more than one standard error over one that comes before.

    Where ``gained`` rows are right by it alone and ``lost`` rows by the simpler one alone, that is
    where gained - lost is more than the root of gained + lost, however many are right by both.
    """
    wrong = {"simple": {*range(gained)}, better: {*range(20, 20 + lost)}}
    assert chosen(**wrong) == (other if surpassed else SIMPLE)
