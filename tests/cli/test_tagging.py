"""Commands on sentences: train, predict, evaluate, weights and explain of tags for tokens."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from rosenblatt import SequencePerceptron, load
from tests.cli.running import invoked

WORDS = {"DET": "the a", "NOUN": "dog cat book bank", "VERB": "sees reads books banks"}
PATTERNS = ["DET NOUN VERB DET NOUN", "NOUN VERB", "DET NOUN VERB NOUN"]


def sentences(n: int, shift: int = 0) -> list[list[tuple[str, str]]]:
    """Return made-up sentences with tags, in which no word is ambiguous."""
    found = []
    for k in range(shift, shift + n):
        tags = PATTERNS[k % len(PATTERNS)].split()
        cells = [
            (WORDS[tag].split()[(k + i) % len(WORDS[tag].split())], tag)
            for i, tag in enumerate(tags)
        ]
        found.append(cells)
    return found


def conll(rows: list[list[tuple[str, str]]]) -> str:
    """Return sentences as CoNLL columns."""
    return "\n".join("".join(f"{word}\t{tag}\n" for word, tag in row) for row in rows)


@pytest.fixture
def model() -> str:
    """Train on a file, by its content: its name says nothing."""
    Path("words.txt").write_text(conll(sentences(40)))
    done = invoked("train", "words.txt", "-o", "m.model")
    assert done.exit_code == 0, done.output
    assert "40 sentences" in done.output
    assert "3 tags: DET, NOUN, VERB" in done.output
    return "m.model"


def test_a_model_loads_in_python(model: str) -> None:
    """What a command learned tags sentences in Python, as what Python saved does in a command."""
    tagger: Any = load(model)
    assert type(tagger) is SequencePerceptron
    assert tagger.predict([["the", "dog", "sees"]]) == [["DET", "NOUN", "VERB"]]
    rows = sentences(40)
    X, y = [[[w for w, _ in row] for row in rows], [[t for _, t in row] for row in rows]]
    SequencePerceptron().fit(X, y).save("p.model")
    given = "the\ndog\nsees\n\n"
    told = [invoked("predict", name, "-", given=given).output for name in (model, "p.model")]
    assert told == ["the\tDET\ndog\tNOUN\nsees\tVERB\n\n"] * 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("the dog sees\n", "the/DET dog/NOUN sees/VERB\n"),
        ("the\tX\ndog\tX\n\nsees\tX\n", "the\tX\tDET\ndog\tX\tNOUN\n\nsees\tX\tVERB\n"),
        ("the\r\ndog\r\n", "the\tDET\r\ndog\tNOUN\r\n"),
        ("", ""),
        ("\n\n", "\n\n"),
    ],
)
def test_lines_come_back_with_tags(model: str, text: str, answer: str) -> None:
    """A column is added to columns as they stand, a tag to each word of a line."""
    Path("new.txt").write_bytes(text.encode())
    done = invoked("predict", model, "new.txt")
    assert done.stdout_bytes.decode() == answer


def test_json_and_the_best_paths(model: str) -> None:
    """With --json a sentence is an object; --nbest adds paths, the best first."""
    given = '{"tokens": ["the", "dog"]}\n'
    Path("new.jsonl").write_text(given)
    row = json.loads(invoked("predict", model, "new.jsonl", "--format", "jsonl").output)
    assert row == {"tokens": ["the", "dog"], "predicted": ["DET", "NOUN"]}
    row = json.loads(invoked("predict", model, "-", "--json", given="the dog\n").output)
    assert row == {"words": ["the", "dog"], "tags": ["DET", "NOUN"]}
    row = json.loads(invoked("predict", model, "-", "--nbest", "3", given="the dog\n").output)
    scores = [path["score"] for path in row["best"]]
    assert row["best"][0]["tags"] == ["DET", "NOUN"]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(path["tags"]) for path in row["best"]}) == 3


def test_forced_tags_stand(model: str) -> None:
    """A column of --force is obeyed; a tag that the model does not know is refused."""
    given = "the\tNOUN\ndog\t?\n"
    done = invoked("predict", model, "-", "--force", "2", given=given)
    assert done.output.startswith("the\tNOUN\tNOUN\n")
    done = invoked("predict", model, "-", "--force", "2", given="the\tODD\n")
    assert done.exit_code == 2
    assert "The model knows no tag 'ODD'; it knows DET, NOUN, VERB." in done.output


def test_evaluation_counts_tokens_sentences_and_words(model: str) -> None:
    """Figures are those of counting by hand; above --max-error the exit code is 1."""
    text = "the\tDET\ndog\tNOUN\n\nthe\tDET\nzebra\tNOUN\n\nthe\tVERB\ndog\t?\n"
    Path("test.conll").write_text(text)
    done = invoked("evaluate", model, "test.conll", "--json")
    found = json.loads(done.output)
    assert (found["tokens"], found["wrong"], found["tokens_without_tag"]) == (5, 1, 1)
    assert found["sentences"] == {"count": 3, "right": 2, "share": 2 / 3}
    assert found["known_words"]["count"] == 4
    assert found["unknown_words"] == {"count": 1, "right": 1, "share": 1.0}
    done = invoked("evaluate", model, "test.conll", "--max-error", "10%")
    assert done.exit_code == 1
    assert "80.00% of the tokens, 66.67% of 3 sentences" in done.output
    assert "Confusion table" in done.output


def test_phrases_are_counted_as_conlleval_counts_them() -> None:
    """BIO is recognised, and phrases stand beside tokens."""
    text = "He\tO\nsaw\tO\nNew\tB-LOC\nYork\tI-LOC\n\nAnn\tB-PER\nsaw\tO\nRome\tB-LOC\n\n"
    Path("names.conll").write_text(text * 8)
    done = invoked("train", "names.conll", "--test", "names.conll")
    assert "BIO and learned as IOBES; illegal steps are impossible" in done.output
    assert "phrases F1 1.000" in done.output
    Path("test.conll").write_text("New\tB-LOC\nYork\tB-LOC\n\n")
    found = json.loads(invoked("evaluate", "names.model", "test.conll", "--json").output)
    whole, location = found["phrases"][:2]
    assert (whole["there"], whole["found"], whole["right"]) == (2, 1, 0)
    assert location["kind"] == "LOC"


def test_explain_adds_up(model: str) -> None:
    """The amounts are all of the lead, which is what the best other path lacks."""
    told = invoked("explain", model, "the dog sees", "--word", "2", "--json").output
    found = json.loads(told)
    assert (found["tag"], found["word"]) == ("NOUN", 2)
    assert math.isclose(math.fsum(term["amount"] for term in found["terms"]), found["lead"])
    given = "the dog sees\n"
    row = json.loads(invoked("predict", model, "-", "--nbest", "40", given=given).output)
    best = row["best"][0]["score"]
    other = next(path["score"] for path in row["best"] if path["tags"][1] != "NOUN")
    assert math.isclose(best - other, found["lead"])
    assert math.isclose(found["leads"][1], found["lead"])
    done = invoked("explain", model, "the dog sees")
    assert "Best path" in done.output
    assert "= lead" in done.output
    done = invoked("explain", model, "the dog sees", "--word", "4")
    assert done.exit_code == 2
    assert "The sentence has 3 words" in done.output


def test_weights_name_features_and_steps(model: str) -> None:
    """The weights of a tag are listed with those of the steps to it."""
    done = invoked("weights", model, "--class", "NOUN", "--all", "--json")
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert {row["tag"] for row in rows} == {"NOUN"}
    assert "after DET" in {row["name"] for row in rows}
    assert "Weights for DET" in invoked("weights", model, "-n", "3").output


def test_learning_goes_on(model: str) -> None:
    """--from learns new sentences, words and tags; the first model stays as it is."""
    before = Path(model).read_bytes()
    Path("more.conll").write_text("yes\tINTJ\nthe\tDET\ndog\tNOUN\n\n" * 400)
    done = invoked("train", "--from", model, "more.conll", "-o", "n.model")
    assert "New tags: INTJ." in done.output
    assert invoked("predict", "n.model", "-", given="yes the cat\n").output == (
        "yes/INTJ the/DET cat/NOUN\n"
    )
    assert Path(model).read_bytes() == before
    done = invoked("train", "--from", model, "more.conll", "--rule", "arow")
    assert "--rule cannot be used with --from" in done.output


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a\tX\nb\nc\tX\n\n", "bad.conll, line 2: 1 column, and the first token has 2: 'b'."),
        ("a\tX\n\nb\tX\tY\n", "bad.conll, line 3: 3 columns, and the first token has 2: 'b\\tX"),
        ("a\tX\nb\t\n", "bad.conll, line 2: column 2 is empty."),
        ("a\nb\n", "bad.conll has one column: no tag stands beside the words."),
        ("\n\n", "bad.conll has no sentence."),
        ("a\tX\n\xff\tY\n", "bad.conll, line 2: byte 0xff is not UTF-8; name another --encoding"),
    ],
)
def test_malformed_files_are_refused_by_line(text: str, error: str) -> None:
    """A fault is told with file and line, and no model is written."""
    Path("bad.conll").write_bytes(text.encode("latin-1"))
    done = invoked("train", "bad.conll")
    assert done.exit_code == 2
    assert error in done.output
    assert not Path("bad.model").exists()


def test_truncated_files_are_refused(model: str) -> None:
    """Data that end early, and a model that does, are told of by their names."""
    packed = gzip.compress(conll(sentences(200)).encode())
    Path("cut.conll.gz").write_bytes(packed[: len(packed) // 2])
    done = invoked("train", "cut.conll.gz")
    assert done.exit_code == 2
    assert "cut.conll.gz is damaged" in done.output
    whole = Path(model).read_bytes()
    Path("cut.model").write_bytes(whole[:-100])
    done = invoked("predict", "cut.model", "-", given="the\n")
    assert done.exit_code == 2
    assert "cut.model is damaged" in done.output


def test_options_of_the_other_kind_are_refused(model: str) -> None:
    """What is of rows alone is refused for sentences, and the other way round."""
    done = invoked("predict", model, "-", "--proba", given="the\n")
    assert "--proba is not available for sentences" in done.output
    Path("rows.csv").write_text("x,y\n1,a\n2,b\n" * 10)
    done = invoked("train", "rows.csv", "--label", "y", "--template", "t")
    assert done.exit_code == 2
    assert "--template has no effect without sentences." in done.output
    done = invoked("plot", "weights", model, "-o", "p.svg")
    assert done.exit_code == 2
    assert f"{model} tags the tokens of sentences, which plot does not take" in done.output
    done = invoked("diagnose", "words.txt")
    assert done.exit_code == 2
    assert "words.txt holds sentences whose tokens have tags" in done.output


@pytest.mark.usefixtures("model")
def test_templates_of_crfpp_are_taken() -> None:
    """A template file says what tokens show; one that asks for more columns is refused."""
    Path("t.tpl").write_text("U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nB\n")
    done = invoked("train", "words.txt", "--template", "t.tpl", "-o", "t.model")
    assert done.exit_code == 0, done.output
    assert invoked("predict", "t.model", "-", given="the dog\n").output == "the/DET dog/NOUN\n"
    Path("t.tpl").write_text("U00:%x[0,1]\n")
    done = invoked("train", "words.txt", "--template", "t.tpl", "-o", "t.model")
    assert "--template asks for column 1" in done.output


def test_the_label_may_be_any_column() -> None:
    """CoNLL-U has its tags in a column with a name, others are counted from 1."""
    lines = (
        "# text\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    )
    Path("ud.conllu").write_text(f"{lines}\n" * 6)
    done = invoked("train", "ud.conllu", "--label", "xpos", "-o", "x.model")
    assert "2 tags: DT, NN" in done.output
    told = invoked("predict", "x.model", "ud.conllu").output
    assert told.splitlines()[1] == "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_"
    Path("three.conll").write_text("The\tDT\tX\ndog\tNN\tX\n\n" * 6)
    done = invoked("train", "three.conll", "--label", "2")
    assert "2 tags: DT, NN" in done.output
    done = invoked("train", "three.conll", "--label", "4", "-o", "y.model")
    assert "three.conll has no column '4'; it has columns 1 to 3" in done.output


def noisy(n: int) -> str:
    """Return sentences of which every twentieth tag is wrong."""
    rows = sentences(n)
    wrong = {(k, k % 2) for k in range(0, n, 7)}
    return conll(
        [
            [(word, "VERB" if (k, i) in wrong else tag) for i, (word, tag) in enumerate(row)]
            for k, row in enumerate(rows)
        ]
    )


def test_audit_finds_the_tag_that_was_changed() -> None:
    """A tag that models of other sentences doubt is listed with file, line and sentence."""
    rows = sentences(60)
    rows[30][0] = (rows[30][0][0], "VERB")
    Path("a.conll").write_text(conll(rows))
    line = sum(len(row) + 1 for row in rows[:30]) + 1
    found = json.loads(invoked("audit", "a.conll", "--json").output)
    first = found["suspects"][0]
    assert (first["line"], first["label"], first["suggested"]) == (line, "VERB", "DET")
    assert first["probability"] < 0.1
    done = invoked("audit", "a.conll", "--out", "s.csv")
    assert f"a.conll:{line}" in done.output
    assert f"[{rows[30][0][0]}]" in done.output
    assert Path("s.csv").read_text().startswith("file,line,word,label,suggested,probability")


def test_tune_names_a_command_that_trains() -> None:
    """What is best on held-out sentences is printed as a command, whose options are known."""
    Path("t.conll").write_text(noisy(60))
    done = invoked("tune", "t.conll", "--json", "-o", "t.model")
    found = json.loads(done.stdout)
    errors = [trial["error"] for trial in found["trials"]]
    assert errors == sorted(errors)
    words = found["command"].split()[1:]
    assert invoked(*words, "-o", "u.model").exit_code == 0
    told = [invoked("predict", m, "-", given="the cat\n").output for m in ("t.model", "u.model")]
    assert told[0] == told[1]
    fixed = json.loads(invoked("tune", "t.conll", "--json", "--rule", "arow").output)
    assert {trial["options"]["rule"] for trial in fixed["trials"]} == {"arow"}


def test_a_pruned_model_answers_and_learns(model: str) -> None:
    """The file is as small as is asked for; what cannot be is refused with the least size."""
    before = Path(model).stat().st_size
    wanted = before // 2
    done = invoked("prune", model, "--max-size", str(wanted), "-o", "s.model", "--json")
    found = json.loads(done.output)
    assert Path("s.model").stat().st_size == found["bytes"] <= wanted
    assert invoked("predict", "s.model", "-", given="the dog\n").output == "the/DET dog/NOUN\n"
    assert invoked("train", "--from", "s.model", "words.txt", "-o", "n.model").exit_code == 0
    done = invoked("prune", model, "--max-size", "100", "-o", "t.model")
    assert "A file of 100 B is too small" in done.output


def test_json_has_what_decides(model: str) -> None:
    """The score of the best path is the sum of weights of an export."""
    invoked("export", model, "-o", "m.json")
    found = json.loads(Path("m.json").read_text())
    row = json.loads(invoked("predict", model, "-", "--nbest", "1", given="cat\n").output)
    tag, features = row["best"][0]["tags"][0], found["features"]
    own = {"word=cat", "lower=cat", "shape=xxx", "bias=1", "capital=none"}
    own |= {f"suffix{n}={'cat'[-n:]}" for n in (1, 2, 3)}
    own |= {f"prefix{n}={'cat'[:n]}" for n in (1, 2, 3)}
    names = own | {name for name in features if "<" in name and "cat" in name}
    names |= {"suffix4=cat", "suffix5=cat", "prefix4=cat"}
    edges = ((-1, "start"), (-2, "start"), (1, "end"), (2, "end"))
    around = [f"[{o:+d}]=<{e}{o:+d}>" for o, e in edges]
    names |= {f"{function}{edge}" for function in ("lower", "shape") for edge in around}
    total = math.fsum(features.get(name, {}).get(tag, 0.0) for name in names)
    total += found["start"].get(tag, 0.0) + found["end"].get(tag, 0.0)
    assert math.isclose(total, row["best"][0]["score"], rel_tol=1e-9)
    done = invoked("export", model, "-o", "m.onnx")
    assert "the best path of tags has no form in ONNX" in done.output


def test_answers_are_promised_by_sentences_apart() -> None:
    """Tags that cannot be promised are "?"; where none can, the exit code is 1."""
    Path("a.conll").write_text(conll(sentences(60)))
    Path("b.conll").write_text(conll(sentences(300, 7)))
    done = invoked("train", "a.conll", "--calibrate", "--guarantee", "b.conll", "-o", "g.model")
    assert done.exit_code == 0, done.output
    done = invoked("predict", "g.model", "a.conll", "--error-at-most", "5%")
    assert done.exit_code == 0
    assert "Of new sentences like these at most 5% of the answers" in done.output
    done = invoked("predict", "g.model", "-", "--error-at-most", "0.1%", given="the dog\n")
    assert done.exit_code == 1
    assert "?/" not in done.output
    assert "the/? dog/?" in done.output
    done = invoked("predict", "g.model", "-", "--confidence", given="the\ndog\n")
    assert all(0.0 < float(line.split("\t")[2]) <= 1.0 for line in done.output.splitlines())


def test_phrases_are_promised_each() -> None:
    """Of phrases the unsure ones alone are left out; what is outside of them stays."""
    text = "He\tO\nsaw\tO\nNew\tB-LOC\nYork\tI-LOC\n\nAnn\tB-PER\nsaw\tO\nRome\tB-LOC\n\n"
    Path("names.conll").write_text(text * 60)
    invoked("train", "names.conll", "--calibrate", "-o", "p.model")
    given = ("predict", "p.model", "-", "--guarantee", "names.conll", "--error-at-most")
    done = invoked(*given, "10%", given="He\nsaw\nRome\n")
    assert "Rome\tB-LOC" in done.output
    done = invoked(*given, "0.01%", given="He\nsaw\nRome\n")
    assert "saw\tO\nRome\t?" in done.output


def test_a_report_shows_the_hardest_sentences(model: str) -> None:
    """A page and a card have the test, the weights, and wrong words with both tags, escaped."""
    Path("test.conll").write_text("the\tDET\n<dog>\tVERB\n\nthe\tDET\ndog\tNOUN\n\n")
    for name, wrong in (("r.html", "&lt;dog&gt;/VERB→"), ("r.md", "dog>/VERB→")):
        done = invoked("report", model, "--test", "test.conll", "-o", name)
        assert "Test error 25.00%" in done.output
        text = Path(name).read_text()
        assert wrong in text
        assert "test.conll:1" in text
        assert "after DET" in text
