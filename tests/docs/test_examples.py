"""The examples of the documentation work as they stand."""

import re
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import sestet
from scripts.injection_picture import PICTURE, draw, record, tidy
from sestet.cli.show.progress import progress_line
from sestet.config import Settings, load_settings
from sestet.core.event import Event, TurnFinished
from sestet.services.turn_text import effects_text
from tests.docs.markdown import Block, read_blocks

ROOT = Path(__file__).parents[2]
ASKED = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Example(NamedTuple):
    """A block of Python, and what it prints if the page says so."""

    code: str
    prints: str | None
    runs: bool
    where: str


def find_examples() -> list[Example]:
    found: list[Example] = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        blocks = read_blocks(page.read_text(encoding="utf-8"))
        for block, following in pairwise([*blocks, None]):
            if block is not None and block.info.split(" ")[0] == "python":
                prints, runs = output_after(block, following), block.info == "python run"
                found.append(Example(block.code, prints, runs, f"{page.name}:{block.line}"))
    return found


def output_after(block: Block, following: Block | None) -> str | None:
    """The block after an example is its output if it stands right below it."""
    last_line = block.line + block.code.count("\n") + 1
    near = following is not None and following.info == "text" and following.line - last_line <= 2
    return following.code if near and following is not None else None


EXAMPLES = find_examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.where for example in EXAMPLES])
def test_every_example_compiles(example: Example) -> None:
    compile(example.code, example.where, "exec")


RUNNABLE = [example for example in EXAMPLES if example.runs]


@pytest.mark.parametrize("example", RUNNABLE, ids=[example.where for example in RUNNABLE])
def test_every_runnable_example_prints_what_the_page_says(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    exec(compile(example.code, example.where, "exec"), {"__name__": "__main__"})  # noqa: S102 - our own examples
    printed = capsys.readouterr().out
    assert example.prints is None or printed == example.prints


def test_the_readme_has_an_example_that_runs() -> None:
    assert any(example.runs and example.where.startswith("README.md:") for example in EXAMPLES)


SETTINGS = [
    (f"{page.name}:{block.line}", block.code)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for block in read_blocks(page.read_text(encoding="utf-8"))
    if block.info == "yaml"
]


@pytest.mark.parametrize("text", [text for _, text in SETTINGS], ids=[where for where, _ in SETTINGS])
def test_every_example_of_settings_is_a_valid_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "sestet.yaml"
    file.write_text(text, encoding="utf-8")
    variables = dict.fromkeys(re.findall(r"\$\{(\w+)", text), "value")
    assert load_settings(file, environ=variables).settings != Settings()


async def test_the_conversation_in_the_readme_is_what_the_terminal_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kitchen = tmp_path / "kitchen"
    (kitchen / "recipes").mkdir(parents=True)
    (kitchen / "tea.md").write_text("Boil water. Wait four minutes. Enjoy.\n", encoding="utf-8")
    monkeypatch.chdir(kitchen)
    (conversation,) = (block.code for block in read_blocks(README) if f"\n{ASKED}" in block.code)
    shown: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        for asked in re.findall(f"^{ASKED}(.+)$", conversation, flags=re.MULTILINE):
            shown.append(ASKED + asked)
            shown += [line async for line in lines_of(app.run_turn("s", asked), asked)]
    assert without_times("\n".join(shown)) == without_times(conversation.partition("\n\n")[2])


async def lines_of(turn: AsyncGenerator[Event], asked: str) -> AsyncGenerator[str]:
    async for event in turn:
        if line := progress_line(event, asked):
            yield f"  {line.text}"
        if isinstance(event, TurnFinished):
            facts = f"{event.author} · {round(event.milliseconds)} ms · {effects_text(event)}"
            yield f"\n{event.text}\n\n  {facts}\n"


def without_times(text: str) -> str:
    return re.sub(r"\b\d+ ms\b|\b\d{4}-\d\d-\d\d\b", "…", text).strip()


async def test_the_picture_shows_the_events_of_a_real_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    events: list[Event] = []
    async with sestet.open({}, home=tmp_path) as app:
        async for event in app.run_turn("s", "list the files here"):
            events.append(event)
    picture = (ROOT / "docs" / "turn.svg").read_text(encoding="utf-8")
    assert re.findall(r'class="kind"[^>]*>(\w+)<', picture) == [event.kind for event in events]


@pytest.mark.slow
def test_the_picture_of_an_injection_shows_what_the_terminal_shows() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(tidy(record()))
