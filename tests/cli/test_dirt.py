"""Dirty files as a new user hands them over: what the commands understand, and what they say."""

import json
from pathlib import Path

from rosenblatt.models.model import Model
from tests.cli.running import invoked


def shop(row: str, header: str = "", n_rows: int = 60, name: str = "t.csv") -> None:
    """Write rows of a format with i, x = i % 5, k = 7i % 13, and the label."""
    lines = [
        row.format(i=i, x=i % 5, k=i * 7 % 13, label=("no", "yes")[i % 2]) for i in range(n_rows)
    ]
    Path(name).write_text("\n".join([header, *lines] if header else lines) + "\n")


def test_a_first_column_of_numbers_is_not_guessed() -> None:
    """Rooms are no labels, and of a first column 0/1 and a last one of words neither is taken."""
    lines = [f"{i % 6},{i / 7},{i * 17}" for i in range(60)]
    Path("rooms.csv").write_text("\n".join(["rooms,area,price", *lines]))
    result = invoked("train", "rooms.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: rooms.csv: which column holds the labels? These could:\n"
        "  'rooms' (0, 1, 2, 3, … 6 values)\n"
        "Name it, for example: rosenblatt train rooms.csv --label rooms\n"
    )
    lines = [f"{i % 2},{i % 50},{'ab'[i % 3 == 0]}" for i in range(60)]
    Path("deck.csv").write_text("\n".join(["saved,age,deck", *lines]))
    result = invoked("train", "deck.csv", "--json")
    assert result.exit_code == 2
    assert "  'deck' (a, b)\n  'saved' (0, 1)\nName it, for example: " in result.stderr
    assert json.loads(result.stdout)["error"].endswith("deck.csv --json --label deck")
    assert invoked("train", "deck.csv", "--label", "1").exit_code == 0


def test_a_column_that_is_not_there() -> None:
    """The nearest name is told, or how many columns there are."""
    shop("{x},{k},{label}", "x,k,Attrition")
    said = invoked("train", "t.csv", "--label", "attrition").stderr
    assert "t.csv has no column 'attrition', named by --label. Did you mean 'Attrition'?" in said
    said = invoked("train", "t.csv", "--label", "99").stderr
    assert "no column '99', named by --label. The file has 3 columns: 'x', 'k'" in said


def test_rows_without_a_label_are_left_out() -> None:
    """They are counted, and are no bad rows; where no row has a label, that is said."""
    shop("{x},{k},{label}", "x,k,label")
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace(",8,no", ",8,").replace(",1,yes", ",1,NA"))
    n_left = 60 - text.count(",8,no") - text.count(",1,yes")
    result = invoked("train", "t.csv")
    assert result.exit_code == 0, result.output
    assert f"Warning: {60 - n_left} rows without a label skipped." in result.stderr
    assert f"t.csv: {n_left} rows" in result.stdout
    assert "could not be read" not in result.stderr
    Path("t.csv").write_text("x,k,label\n" + "1,2,\n" * 30)
    result = invoked("train", "t.csv", "--label", "label")
    assert result.exit_code == 2
    assert "No row has a label; name another column with --label." in result.stderr


def test_notes_on_the_file_are_printed_by_train() -> None:
    """Comments and titles that were skipped, renamed columns and labels in two cases are said."""
    for header, said in (
        ("# exported today\nx,k,label", "t.csv begins with 1 line of comment, which was skipped."),
        ("Sales 2024,,\n,,\nx,k,label", "t.csv begins with text that is not a row of the table"),
        ("x,x,label", "t.csv has more than one column 'x'; the second is called 'x_2'."),
    ):
        shop("{x},{k},{label}", header)
        result = invoked("train", "t.csv")
        assert result.exit_code == 0, result.output
        assert said in result.stderr
        assert "60 rows, 2 features" in result.stdout
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace(",2,no", ",2,No"))
    said = invoked("train", "t.csv").stderr
    assert "The labels 'No' and 'no' in column 'label' differ only in case; they are two" in said


def test_signs_for_missing_numbers() -> None:
    """A dash among numbers is a gap, whatever share of the rows has it; signs alone are words."""
    lines = [f"{i if i % 3 else '-'},{'+-'[i % 2]},{('no', 'yes')[i % 2]}" for i in range(60)]
    Path("t.csv").write_text("\n".join(["x,sign,label", *lines]))
    report = json.loads(invoked("train", "t.csv", "--json").stdout)
    assert report["decisions"]["columns"] == {"numeric": ["x"], "category": ["sign"]}
    assert report["n_features"] == 4  # x, that it is missing, and two signs


def test_columns_without_a_value_are_left_out() -> None:
    """A comma at the end of each line makes an empty column, which is left out and said to be."""
    shop("{x},{label},", "x,label,")
    output = invoked("train", "t.csv").stdout
    assert "60 rows, 1 feature" in output
    assert "left out: 'column_3': it has no value in the first 60 rows" in output


def test_files_with_next_to_nothing() -> None:
    """A header without rows, one row, and one class are each said to be that."""
    for text, said in (
        ("a,b,label\n", "t.csv has only one line: there is nothing to learn from."),
        ("a,b,label\n1,2,x\n", "There is only one row: there is nothing to tell apart."),
        ("a,label\n1,x\n2,x\n", "All 2 rows have the label 'x': there is nothing to tell apart."),
        ("", "There are no rows to learn from: the input is empty."),
    ):
        Path("t.csv").write_text(text)
        result = invoked("train", "t.csv")
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_wider_file_without_a_header_is_not_read_by_the_wrong_columns() -> None:
    """Rows with an identifier in front do not fit a model of unnamed columns; that is said."""
    shop("{x},{k},{label}")
    assert invoked("train", "t.csv", "-o", "m").exit_code == 0
    shop("{i},{x},{k},{label}", name="new.csv")
    for command in ("predict", "evaluate"):
        result = invoked(command, "m", "new.csv")
        assert result.exit_code == 2
        assert "new.csv has no header and 4 columns; expected " in result.stderr
    shop("{x},{k}", name="new.csv")
    assert invoked("predict", "m", "new.csv").exit_code == 0


def test_a_pipe_goes_on_after_bad_lines() -> None:
    """Each bad line has an empty answer and a warning, in the words of the command line."""
    shop("{x},{i},{label}", "x,size,label")
    assert invoked("train", "t.csv", "--no-early-stopping", "-o", "m").exit_code == 0
    result = invoked("predict", "m", "-", given="x,size\n1,3\n1,2,3,4\nmany,2\n2,4\n")
    assert result.exit_code == 0
    assert [bool(line) for line in result.stdout.split("\n")] == [True, False, False, True, False]
    assert "standard input, line 3: 4 fields where 2 were expected" in result.stderr
    assert "standard input, line 4: 'many' in column 'x' is not a finite number" in result.stderr
    assert "category=" not in result.stderr


def test_answers_stand_beside_their_rows() -> None:
    """With --bad-rows skip each row of a file has its line: an empty one where it is bad."""
    shop("{x},{k},{label}", "x,size,label")
    assert invoked("train", "t.csv", "--no-early-stopping", "-o", "m").exit_code == 0
    text = "id,x,size,note\n1,many,2,\n2,1,3,a\n3,1,2,3,4,5\n4,2,4,b\n5,?,\n"
    Path("new.csv").write_text(text)
    result = invoked("predict", "m", "new.csv")
    assert result.exit_code == 2
    assert "--bad-rows skip" in result.stderr
    skipping = ("--bad-rows", "skip", "--max-bad-share", "1")
    result = invoked("predict", "m", "new.csv", *skipping, "--keep", "id,note")
    assert result.exit_code == 0
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert lines[0] == ["id", "note", "label"]
    assert [line[0] for line in lines[1:]] == ["", "2", "", "4", ""]
    assert [bool(line[2]) for line in lines[1:]] == [False, True, False, True, False]
    assert "Skipped 3 bad rows. The first: new.csv, line 2" in result.stderr


def test_features_that_count_from_0_for_a_model_that_counts_from_1() -> None:
    """The sentence names the option that mends it."""
    Path("one.svm").write_text("a 1:1 2:1\nb 2:1 4:2\n" * 20)
    Path("zero.svm").write_text("a 0:1 1:1\nb 1:1 3:2\n" * 20)
    assert invoked("train", "one.svm", "-o", "m").exit_code == 0
    result = invoked("evaluate", "m", "zero.svm")
    assert result.exit_code == 2
    assert "zero.svm, line 1, column 3: feature 0, where features count from 1" in result.stderr
    assert "use --zero-based" in result.stderr
    assert invoked("evaluate", "m", "zero.svm", "--zero-based", "--max-error", "0").exit_code == 0


def test_a_pipe_trains_what_the_file_trains() -> None:
    """Texts on standard input get the rule of texts, and the weights of the same rows in a file."""
    texts = ("free prize call now", "see you at lunch")
    lines = [f"{('spam', 'ham')[i % 2]},{texts[i % 2]} for word{i}" for i in range(60)]
    text = "\n".join(["label,body", *lines])
    Path("mail.csv").write_text(text)
    assert invoked("train", "mail.csv", "-o", "file.model").exit_code == 0
    assert invoked("train", "-", "-o", "pipe.model", given=text).exit_code == 0
    file, pipe = Model.load("file.model"), Model.load("pipe.model")
    assert pipe.learner == file.learner == "ConfidenceWeightedClassifier"
    assert pipe.weights.tobytes() == file.weights.tobytes()


def test_one_huge_feature_number_is_refused() -> None:
    """A slip in one line does not take gigabytes: line and number are named, and the option."""
    rows = [f"{'ab'[i % 2]} 1:{i % 2} {2147483647 if i == 7 else 3}:1" for i in range(40)]
    Path("t.svm").write_text("\n".join(rows))
    result = invoked("train", "t.svm")
    assert result.exit_code == 2
    assert "t.svm, line 8, column 7: feature 2147483647 is beyond 16,777,216" in result.stderr
    assert "if it is right, raise --max-index" in result.stderr
    report = json.loads(invoked("train", "t.svm", "--bad-rows", "skip", "--json").stdout)
    assert (report["n_rows"], report["n_features"]) == (39, 3)
    assert report["bad_rows"]["count"] == 1


def test_codes_keys_and_numbers_as_people_write_them() -> None:
    """Codes are categories, long keys are left out, (1,234.5) is negative; units are remarked."""
    codes, labels = ("01234", "90210", "10001"), ("no", "yes")
    rows = [
        f'{codes[i % 3]},{10**17 + i * 10**12},"({i},000.5)",{150 + i % 50} cm,{labels[i % 2]}'
        for i in range(1, 101)
    ]
    Path("t.csv").write_text("\n".join(["zip,account,balance,height,label", *rows]))
    result = invoked("train", "t.csv", "--json")
    found = json.loads(result.stdout)["decisions"]
    assert found["columns"] == {"category": ["zip", "height"], "numeric": ["balance"]}
    assert found["left_out"] == {
        "account": "its numbers have more than 15 digits and are different, as keys are"
    }
    assert "Column 'balance' has numbers such as '(1,000.5)', read as -1000.5." in result.stderr
    assert (
        "Column 'height' is taken for a category: its 50 values such as '151 cm'" in result.stderr
    )
    assert "--numeric height" in result.stderr


def test_the_encoding_of_windows_is_offered() -> None:
    """Bytes that Latin-1 has no letters for are those of Windows."""
    text = "label,body\n" + "a,it’s good\nb,nothing\n" * 10
    Path("t.csv").write_bytes(text.encode("cp1252"))
    result = invoked("train", "t.csv")
    assert result.exit_code == 2
    assert "name the encoding of the file: --encoding cp1252 reads 'it’s'" in result.stderr
    assert invoked("train", "t.csv", "--encoding", "cp1252").exit_code == 0


def test_the_same_warning_is_printed_once() -> None:
    """Rows with the same fault share a line, columns with the same oddity a sentence."""
    lines = ["a,b,c,d,label"]
    for k in range(300):
        more = ",9" if k in (50, 60, 70) else ""
        fields = [str(k), str(k * 7 % 11), str(k * 3 % 17), str(k % 5)]
        if k == 5:
            fields[1:] = ["old", "new", "odd"]
        lines.append(",".join([*fields, "no" if k % 2 else "yes"]) + more)
    Path("t.csv").write_text("\n".join(lines))
    said = invoked("train", "t.csv", "--bad-rows", "skip", "--max-bad-share", "0.5").stderr
    assert "Skipped 4 rows that could not be read, first:" in said
    assert "  t.csv, lines 52, 62 and 72: 6 fields where 5 were expected (separated by ','" in said
    Path("t.csv").write_text("\n".join(line for line in lines if line.count(",") == 4))
    said = invoked("train", "t.csv", "--force").stderr
    assert (
        "Column 'b' is taken for a category, since 'old' in it is not a number; if it should be"
        " one, use --numeric b. The same holds for 'c' and 'd'.\n"
    ) in said
    assert said.count("taken for a category") == 1


def test_texts_without_blanks_are_read_by_characters() -> None:
    """Chinese, and words that are too long for words, where nothing is tried or said."""
    words = {"good": ["很好", "非常满意", "推荐购买"], "bad": ["很差", "非常失望", "不推荐"]}
    lines = [
        f"{label},{words[label][k % 3]}这本书{k}{words[label][k // 3 % 3]}"
        for k in range(60)
        for label in words
    ]
    Path("t.csv").write_text("\n".join(["label,text", *lines]), "utf-8")
    result = invoked("train", "t.csv", "--recipe", "plain")
    assert (
        "Column 'text' has no blanks between its words: runs of 1 to 3 characters are features of"
        " texts, too. Choose their lengths, or 0 for none, with --char-ngrams."
    ) in result.stderr
    assert "texts: 1: 'text'" in result.stdout
    assert "characters '" in invoked("weights", "t.model", "--all", "--json").stdout
    result = invoked("train", "t.csv")
    assert "--char-ngrams" not in result.stderr
    assert "  texts: 2 to 5 characters" in result.stdout
    result = invoked("train", "t.csv", "--char-ngrams", "0")
    assert "--char-ngrams" not in result.stderr
    assert "characters '" not in invoked("weights", "t.model", "--all", "--json").stdout
    lines = [f"{label},{'ACGTTGCA'[k % 5 :] * 4}" for k in range(60) for label in "ab"]
    Path("t.csv").write_text("\n".join(["label,sequence", *lines]))
    said = invoked("train", "t.csv", "--text", "sequence", "--recipe", "plain").stderr
    assert "Column 'sequence' has words of 24 letters on average: runs of 1 to 3" in said


def test_thousands_without_decimals() -> None:
    """The column is named and asked about, or read by the decimal commas of another."""
    amounts = [f"{7 + i}.{100 + i}" if i % 3 else str(900 - i) for i in range(60)]
    lines = [
        f"{amount};{'AB'[i % 2]};{'no' if i % 3 else 'yes'}" for i, amount in enumerate(amounts)
    ]
    Path("t.csv").write_text("\n".join(["amount;group;label", *lines]) + "\n")
    result = invoked("train", "t.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: t.csv: is '8.101' in column 'amount', beside '900', the number 8101 or one with"
        " decimals? For 8101 use --decimal comma, for decimals --decimal point.\n"
    )
    said = "Warning: Column 'amount' has numbers such as '8.101', read as 8101."
    assert said in invoked("train", "t.csv", "--decimal", "comma").stderr
    result = invoked("train", "t.csv", "--decimal", "point")
    assert (result.exit_code, "read as 8101" in result.stderr) == (0, False)
    lines = [f"0,{10 + i};{line}" for i, line in enumerate(lines)]
    Path("t.csv").write_text("\n".join(["share;amount;group;label", *lines]) + "\n")
    assert said in invoked("train", "t.csv").stderr
    Path("t.csv").write_text("a;b;label\n" + "1.234,56 €;A;yes\n2.345,67 €;B;no\n" * 20)
    result = invoked("train", "t.csv")
    assert "read as: csv, separator ';', with a header" in result.stdout
    assert "numbers such as '1.234,56 €', read as 1234.56." in result.stderr


def test_labels_are_printed_as_they_are_written() -> None:
    """3.1 and 3.10 are two classes; where 1, 1.0 and +1 are one, that is said."""
    lines = [f"{'abcd'[i % 4]},{['3.1', '3.10', '3.2', 'linux'][i % 4]}" for i in range(80)]
    Path("t.csv").write_text("\n".join(["kind,label", *lines]) + "\n")
    result = invoked("train", "t.csv")
    assert "4 classes (3.1: 20, 3.10: 20, 3.2: 20, linux: 20)" in result.stdout
    predicted = invoked("predict", "t.model", "t.csv").stdout.splitlines()
    assert [line for line in predicted if line != "label"] == [line.split(",")[1] for line in lines]
    lines = [f"{'abcd'[i % 4]},{['1', '1.0', '+1', '0'][i % 4]}" for i in range(80)]
    Path("t.csv").write_text("\n".join(["kind,label", *lines]) + "\n")
    result = invoked("train", "t.csv", "--force")
    said = "Warning: The labels '1' and '1.0' and '+1' are one number, and one class: 1."
    assert said in result.stderr
    assert "2 classes (0: 20, 1: 60)" in result.stdout
