"""The page for people: what it is made of, and what a person does there in Chromium."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.models.train import model_from_files
from rosenblatt.service.history import file_of
from rosenblatt.service.limits import RequestError
from rosenblatt.service.operations import LAB_PARTS, PAGE, page_file
from rosenblatt.service.server import ModelServer
from tests.lab.browser import Visit, chromium, new_context, visit

from .client import Client
from .running import serving

TOKEN = "a-token-that-nobody-else-knows"  # noqa: S105
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"  # as somebody who comes back
HOSTILE = "<img src=x onerror=alert(1)>"
OWN = "http://127.0.0.1:"  # address of the service


def text_of(name: str) -> str:
    """Return a file of the page as it is served."""
    return str(page_file(name).body, "utf-8")


def scripts() -> list[str]:
    """Return the names of the page's own modules."""
    return sorted(file.name for file in PAGE.glob("*.js"))


def test_parts() -> None:
    """All that the page and its modules name is served, and nothing else is."""
    named = re.findall(r'(?:src|href)="page/([\w.]+)"', text_of("index.html"))
    for name in (*scripts(), *LAB_PARTS):
        named += re.findall(r'from "\./([\w.]+)"', text_of(name))
    assert set(named) >= {*scripts(), "service.css", *LAB_PARTS}
    for name in named:
        assert page_file(name).status_code == HTTPStatus.OK
    for name in ("lab.js", "../client.py", "..", "", "nothing.js"):
        with pytest.raises(RequestError):
            page_file(name)


def test_no_markup_from_text_and_no_storage() -> None:
    """No text becomes markup or code, no style is inline, and nothing is stored."""
    for name in scripts():
        assert not re.findall(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|cssText"
            r"|style:|localStorage|sessionStorage|indexedDB|cookie|https?:",
            text_of(name),
        )
    assert not re.findall(r"style=|<style|<script>|\bon\w+=", text_of("index.html"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Run one browser for this file; it ends with it, as its event loop would hinder others."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """Run a service with a model of words, one of numbers and one of columns."""
    del browser  # where there is none, nothing is run
    folder = tmp_path_factory.mktemp("page")
    (folder / "mail.csv").write_text(
        "text,size,label\n" + "buy cheap pills now,1,spam\nsee you at lunch,2,ham\n"
        "cheap money now,3,spam\nmeeting at noon,1,ham\n" * 3
    )
    model_from_files(str(folder / "mail.csv"), text="text", label="label").save(
        folder / "mail.model"
    )
    with serving(folder / "service") as running, Client(running.url) as client:
        client.create("mail", file=(folder / "mail.model").read_bytes())
        client.create("numbers", rule="arow", features={"kind": "array"})
        client.learn_many("numbers", [([1.0, 0.0], 1), ([0.0, 1.0], 2), ([1.0, 1.0], 3)] * 9)
        client.create("words", classes=["ham", "spam"])
        words: list[tuple[Any, str]] = [
            ({"cheap": 1, "from": "home"}, "spam"),
            ({"lunch": 1, HOSTILE: 2}, "ham"),
        ]
        client.learn_many("words", [(x, y, f"w{i}") for i, (x, y) in enumerate(words * 20)])
        yield running


@pytest.fixture
def page(browser: Any, server: ModelServer) -> Iterator[Visit]:
    """Open a page of one's own, which may neither err nor ask elsewhere."""
    with visit(new_context(browser), OWN) as found:
        found.page.goto(f"{server.url}#words")
        found.page.wait_for_selector(".model")
        yield found


def says(visited: Visit, selector: str, words: str) -> None:
    """Wait until an element says something."""
    visited.until(
        "document.querySelector(value[0])?.textContent.includes(value[1])", [selector, words]
    )


def test_a_model_from_first_to_last_by_keyboard(page: Visit) -> None:
    """By keyboard alone: create a model, teach it, predict, see why, forget."""
    keys = page.page.keyboard

    def press(selector: str, key: str = "Enter") -> None:
        page.page.focus(selector)
        keys.press(key)

    press(".new-model summary")
    page.page.wait_for_selector("[name=eta0]")
    page.page.focus(".new-model [name=name]")
    keys.type("fruit")
    page.page.select_option("[name=rule]", "pa1")
    page.page.focus(".new-model [name=C]")
    keys.type("0.5")
    keys.press("Enter")
    says(page, ".model-head", "fruitaveraged passive-aggressive learner (PA-I), C 0.5")
    assert page.page.evaluate("location.hash") == "#fruit"

    def example(name: str, label: str) -> None:
        page.page.focus(".pair input")
        keys.press("Control+A")
        keys.type(name)
        if not page.page.is_visible("[name=label]"):
            press(f"[data-label='{label}']")
            return
        page.page.fill("[name=label]", label)
        press("[name=label]")

    press("[name=predict]")
    says(page, ".result", "knows no class yet")
    example("round", HOSTILE)
    says(page, ".lesson", "Learned as number 1.")
    example("long", "pear")
    says(page, ".lesson", f"Learned as number 2. The model had said {HOSTILE}")
    page.page.wait_for_selector("[data-label=pear]")  # both classes are buttons now
    example("long", "pear")
    says(page, ".lesson", "Learned as number 3. The model was right")
    says(page, ".result", "pear with score")
    says(page, ".latest", f"said {HOSTILE}, is pear")
    says(page, ".figures", "Examples3")
    press(".trial button:has-text('Why?')")
    says(page, ".reasons", "long")
    says(page, ".reasons .examples", "number 2")
    assert page.page.locator(".chart.error path.all").count() == 1
    says(page, ".chart-place .note", "Line: of all 3 examples so far 66.7 % were predicted wrong")
    press(".reasons .examples button:has-text('Forget')")
    page.page.wait_for_selector("dialog[open]")
    keys.press("Escape")
    page.page.wait_for_selector("dialog", state="hidden")
    press(".lesson button:has-text('Forget')")
    press("dialog [value=forget]")
    says(page, ".lesson", "Forgotten: 1 example.")
    assert page.page.inner_text(".result") == ""  # that was of the model before
    says(page, ".figures", "Examples2")
    assert page.page.locator("img").count() == 0


def test_words_of_mistakes(page: Visit, server: ModelServer) -> None:
    """The latest mistakes are listed with their words, go into the form, and can be forgotten."""
    with Client(server.url) as client:
        client.learn("words", {"cheap": 1, "from": "home"}, "ham", id="odd")
        page.page.evaluate(LOOK)
        says(page, ".latest li .words", "cheapfrom home")
        says(page, ".latest li", "said spam, is ham")
        page.page.click(".latest li >> nth=0 >> text=Try")
        assert page.page.text_content(".labels .primary") == "ham"
        page.page.check(".features [type=checkbox]")
        assert '"from": "home"' in page.page.input_value(".features textarea")
        page.page.fill(".features textarea", '{"cheap": ')
        page.page.click("[name=predict]")
        says(page, ".result", "This is not JSON")
        page.page.fill(".features textarea", '{"cheap": 1}')
        page.page.click("[name=predict]")
        says(page, ".result", "spam with score")
        page.page.click(".latest li >> nth=0 >> text=Forget")
        page.page.click("dialog [value=forget]")
        says(page, ".lesson", "Forgotten: 1 example.")
        assert not any(line.id == "odd" and line.features for line in client.journal("words"))


def test_numbers_and_columns(page: Visit) -> None:
    """Models of arrays and of columns have forms of their own; a refusal is the service's."""
    page.page.click(".models >> text=numbers")
    page.page.wait_for_selector(".trial label:has-text('2 numbers')")
    page.page.fill(".features input[type=text]", "1 0")
    page.page.click("text=Why?")
    says(page, ".result", "1 by scores 1 ")
    says(page, ".reasons", "are not the sum of its examples")  # of the rule AROW
    page.page.click("[data-label='1']")
    says(page, ".lesson", "Learned as number 28. The model was right")
    page.page.click(".models >> text=mail")
    page.page.fill(".features textarea >> nth=0", "cheap pills")
    page.page.click("[name=predict]")
    says(page, ".result", "spam with score")
    says(page, ".gaps", "Empty fields count as missing (1 of 2).")
    page.page.fill(".features input >> nth=0", "1,5")
    page.page.click("[name=predict]")
    says(page, ".result", "size must be a number, like 3.5; “1,5” is not. Write 1.5.")
    refused = [line for line in page.troubles if "422" in line]  # Chromium's note of why
    assert page.troubles == refused
    page.troubles.clear()


def test_a_typo_makes_no_class(page: Visit, server: ModelServer) -> None:
    """A class that the model does not know is taught only after a question."""
    page.page.fill(".pair input", "cheap")
    assert not page.page.is_visible("[name=label]")
    page.page.click("[name=new-class]")
    page.page.fill("[name=label]", "sapm")
    page.page.keyboard.press("Enter")
    says(page, ".question", "“sapm” is a new class. The model knows ham, spam. Add it?")
    page.page.click(".question .primary")
    with Client(server.url) as client:
        assert client.describe("words").classes == ["ham", "spam"]
        client.create("pair", classes=["ham", "spam"])
        page.page.evaluate(LOOK)
        page.page.click(".models >> text=pair")
        page.page.wait_for_selector(".model-head :text('pair')")
        assert not page.page.is_visible(".curves")
        page.page.fill(".pair input", "cheap")
        page.page.click("[name=new-class]")
        page.page.fill("[name=label]", "news")
        page.page.keyboard.press("Enter")
        page.page.click("[name=add-class]")
        says(page, ".lesson", "Learned as number 1.")
        assert client.describe("pair").classes == ["ham", "news", "spam"]
        page.page.wait_for_selector("[data-label=news]")


def test_what_is_promised(page: Visit, server: ModelServer, tmp_path: Path) -> None:
    """The error at most stands with each answer of a model with a guarantee, or each label."""
    rows = ["game,chess", "perl,perl", "game;perl,chess perl", ",mail"]
    for name, lines, how in (("topics", rows[:2], {}), ("tags", rows, {"label_separator": ";"})):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["tags,text", *lines * 100, ""]))
        given: Any = how | {"guarantee": str(path), "text": "text", "label": "tags"}
        with Client(server.url) as client:
            client.create(f"sure-{name}", file=file_of(model_from_files(str(path), **given)))
            answer = client.predict(f"sure-{name}", {"text": "chess"})
        page.page.evaluate(LOOK)
        page.page.click(f".models >> text=sure-{name}")
        page.page.wait_for_selector(f".model-head :text('sure-{name}')")
        page.page.fill(".features textarea >> nth=0", "chess")
        page.page.click("[name=predict]")
        bounds: Any = answer.error_at_most if how else [answer.error_at_most]
        share = f"{100 * bounds[0]:.3g} %"
        told = f"; error at most: game {share}" if how else f"at most {share} are"
        says(page, ".result .promise", told)


def test_several_labels(page: Visit, server: ModelServer) -> None:
    """Labels of a row are typed with semicolons between, listed, explained and taught."""
    page.page.click(".new-model summary")
    page.page.wait_for_selector("[name=eta0]")
    page.page.fill(".new-model [name=name]", "tags")
    page.page.select_option("[name=goal]", "each")
    page.page.click(".new-model .primary")
    page.page.wait_for_selector(".model-head :text('tags')")
    page.page.fill(".pair input", "chess")
    page.page.click("[name=predict]")
    says(page, ".result", "no label: it knows none so far")
    page.page.fill("[name=label]", f"perl; {HOSTILE}")
    page.page.click("[name=teach]")
    says(page, ".lesson", "Learned as number 1. The model had said no label")
    says(page, ".result", f"{HOSTILE}, perl by scores")
    page.page.click("[name=teach]")
    says(page, ".lesson", "Learned as number 2. The model was right")
    page.page.fill("[name=label]", "perl; perk")
    page.page.click("[name=teach]")
    says(page, ".question", "“perk” is a new label. Did you mean “perl”? Add it?")
    page.page.click(".question .primary")
    page.page.fill("[name=label]", "perl; ")
    offered = "[...document.querySelectorAll('#classes option')].map((one) => one.value)"
    assert page.page.evaluate(offered) == [f"perl; {HOSTILE}"]
    page.page.fill("[name=label]", "game")
    page.page.click("[name=teach]")
    says(page, ".question", "“game” is a new label. The model knows")
    page.page.click(".question .primary")
    page.page.fill("[name=label]", "")
    page.page.click("[name=teach]")
    says(page, ".lesson", f"Learned as number 3. The model had said {HOSTILE}, perl")
    says(page, ".latest li", f"said {HOSTILE}, perl, is no label")
    says(page, ".figures", "Labels2")
    page.page.click("text=Why?")
    says(page, ".reasons", "below against it")
    says(page, ".reasons .examples", "no label, number 3")
    assert page.page.locator("img").count() == 0
    with Client(server.url) as client:
        assert [line.label for line in client.journal("tags")] == [(HOSTILE, "perl")] * 2 + [()]


def test_sentences(page: Visit, server: ModelServer) -> None:
    """Words and tags are typed with blanks between, and each word says why it has its tag."""
    page.page.click(".new-model summary")
    page.page.wait_for_selector("[name=eta0]")
    page.page.fill(".new-model [name=name]", "tagger")
    page.page.select_option("[name=goal]", "sequences")
    assert not page.page.is_visible(".new-model [name=kind]")
    page.page.click(".new-model .primary")
    page.page.wait_for_selector(".model-head :text('tagger')")
    page.page.fill(".features input[type=text]", f"I book {HOSTILE.split(maxsplit=1)[0]}")
    page.page.click("[name=predict]")
    says(page, ".result", "knows no tag yet")
    page.page.fill("[name=label]", "P V N")
    page.page.click("[name=teach]")
    says(page, ".lesson", "Learned as number 1. The model had said ?, ?, ?")
    says(page, ".result", "I/P")
    page.page.fill("[name=label]", "P ? K")
    page.page.click("[name=teach]")
    says(page, ".question", "“K” is a new tag.")
    page.page.click(".question .primary")
    page.page.click(".result button:has-text('book/V')")
    says(page, ".reasons", "Word 2, book.")
    says(page, ".reasons .examples", "P, V, N, number 1")
    assert page.page.locator("img").count() == 0
    with Client(server.url) as client:
        assert [line.label for line in client.journal("tagger")] == [("P", "V", "N")]


def test_probability_and_known_values(browser: Any, tmp_path: Path) -> None:
    """A calibrated file shows its probability until it learns; categories list their values."""
    rows = "".join(f"{i % 7},{'red' if i % 2 else 'blue'},{'ab'[i % 2]}\n" for i in range(400))
    (tmp_path / "t.csv").write_text(f"size,colour,label\n{rows}")
    model = model_from_files(str(tmp_path / "t.csv"), label="label", calibrate=True)
    model.save(tmp_path / "t.model")
    with serving(tmp_path / "service") as server, visit(new_context(browser), OWN) as page:
        with Client(server.url) as client:
            client.create("t", file=(tmp_path / "t.model").read_bytes())
            answer = client.predict("t", {"colour": "red", "size": 1})
            assert answer.label == "b"
            assert isinstance(answer.probability, float)
            assert 0.5 < answer.probability <= 1.0
        page.page.goto(server.url)
        page.page.wait_for_selector("datalist option[value=red]", state="attached")
        page.page.click("[name=means]")
        assert page.page.input_value("label:has-text('size (0 to 6)') input") == "2.993"
        page.page.fill("label:has-text('colour') input", "red")
        page.page.click("[name=predict]")
        says(page, ".result", "b with a probability of")
        page.page.click("[data-label=b]")
        says(page, ".result", "b with score")


def test_a_token_is_asked_for_and_kept_nowhere(browser: Any, tmp_path: Path) -> None:
    """With tokens the page asks for one, says when it is wrong, and stores and shows it nowhere."""
    with serving(tmp_path, token=TOKEN) as server, visit(new_context(browser), OWN) as page:
        with Client(server.url, token=TOKEN) as client:
            client.create("secret")
        page.page.goto(server.url)
        page.page.wait_for_selector(".token:not([hidden])")
        assert page.page.evaluate("document.activeElement.name") == "token"
        page.page.keyboard.type("wrong-token")
        page.page.keyboard.press("Enter")
        says(page, ".failure", "Unknown token.")
        page.page.fill("[name=token]", TOKEN)
        page.page.keyboard.press("Enter")
        says(page, ".model-head", "secret")
        page.page.wait_for_selector("[name=token]", state="hidden")
        kept = page.page.evaluate(
            "[document.documentElement.outerHTML, location.href, document.cookie,"
            " JSON.stringify({...localStorage, ...sessionStorage}),"
            " document.querySelector('[name=token]').value].join()"
        )
        assert TOKEN not in kept
        assert not any(TOKEN in url for url in page.requests)
        with Client(server.url, token=TOKEN) as client:
            teacher = client.make_token("teacher", ["predict", "teach"], models=["secret"])
        page.page.click("header button:has-text('Token')")
        page.page.fill("[name=token]", str(teacher.token))
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector(".new-model", state="hidden")
        says(page, ".models", "secret")
        says(page, ".model-head", "secretThis token may not look at its examples.")
        page.page.fill(".pair input", "round")
        page.page.fill("[name=label]", "apple")
        page.page.click("[name=teach]")
        says(page, ".lesson", "Learned as number 1.")
        says(page, ".result", "apple is the only class")
        assert all("401" in line or "403" in line for line in page.troubles)
        page.troubles.clear()


def test_a_service_that_cannot_learn_or_has_stopped(browser: Any, tmp_path: Path) -> None:
    """The page says when the service is read-only, and when it does not answer."""
    with visit(new_context(browser), OWN) as page:
        with serving(tmp_path) as server:
            page.page.goto(server.url)
            says(page, ".state", "learning")
            assert page.page.is_visible(".new-model [name=name]")  # the first thing to do
            server.writer.failure = "the disk is full"
            page.page.evaluate(LOOK)
            says(page, ".state", "read-only: the disk is full")
            server.writer.failure = None
        page.page.evaluate(LOOK)
        says(page, ".failure", "The service does not answer.")
        assert all("503" in line or "ERR_" in line for line in page.troubles)
        page.troubles.clear()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_accessible(browser: Any, server: ModelServer, scheme: str, width: int) -> None:
    """Nothing that axe knows is wrong, light or dark, wide or narrow, and nothing sticks out."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with visit(new_context(browser, color_scheme=scheme), OWN) as page:
        page.page.set_viewport_size({"width": width, "height": 844})
        page.page.goto(f"{server.url}#words")
        page.page.wait_for_selector(".latest li")
        page.page.click(".new-model summary")
        page.page.wait_for_selector("[name=eta0]")
        page.page.click(".latest li >> nth=0 >> text=Try")
        page.page.click("text=Why?")
        page.page.wait_for_selector(".reasons .examples li")
        for where in ("page", "dialog"):
            found = axe.Axe().run(page.page).response["violations"]
            assert [(where, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
            assert page.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            if where == "page":
                page.page.click(".latest li >> nth=0 >> text=Forget")
                page.page.wait_for_selector("dialog[open]")
