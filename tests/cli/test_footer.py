"""The last line of a turn: what was changed, sent and paid, whatever the answer says."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

import sestet
from sestet import ScriptedModel, ToolCall
from sestet.cli.show.answer import print_end
from sestet.cli.show.history import print_turns
from sestet.cli.show.turn_view import TurnView
from sestet.cli.talk.turns import answer_plainly, follow_turn
from sestet.core.event import Claim, Effects, Event, Stamp, TurnCancelled, TurnFinished, TurnPaused
from sestet.core.label import CLEAN
from sestet.core.model import Usage
from sestet.core.record import replace
from sestet.models.scripted import ScriptItem
from sestet.services.sessions import read_turns
from sestet.services.turn_summary import describe_turn
from sestet.services.turn_text import claim_warning, effects_text
from tests.cli.conftest import Call
from tests.cli.screen import read_screen

STAMP = Stamp("s1", "t1", 1, "operator", "", 0.0)


@sestet.tool(risk="safe", effect="local", reads=(), recovery="keyed", targets=("path",))
async def fs_drop(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"


def finished(effects: Effects | None, text: str = "x") -> TurnFinished:
    return TurnFinished(STAMP, text, Usage(), 1.0, CLEAN, effects=effects)


@pytest.mark.parametrize(
    ("effects", "line"),
    [
        (Effects(), "changed: nothing"),
        (Effects(changed=("notes.txt",)), "changed: notes.txt"),
        (
            Effects(changed=("notes.txt",), sent=("bob@example.org", "ann@example.org"), paid=("shop",)),
            "changed: notes.txt · sent: bob@example.org, ann@example.org · paid: shop",
        ),
        (Effects(failed=("a.txt",), in_doubt=("bob",)), "tried, failed: a.txt · in doubt: bob"),
        (Effects(changed=tuple("abcdef")), "changed: a, b, c, d and 2 more"),
        (Effects(sent=("x" * 70,)), f"sent: {'x' * 59}…"),
        (Effects(changed=("a\x1b[31m\u202eb",)), "changed: a<U+001B>[31m<U+202E>b"),
        (None, ""),
    ],
)
def test_the_line_names_only_what_happened(effects: Effects | None, line: str) -> None:
    assert effects_text(finished(effects)) == line
    assert effects_text(TurnCancelled(STAMP, effects)) == line
    assert effects_text(TurnPaused(STAMP, ("q",), effects)) == (line and f"so far {line}")


@pytest.mark.parametrize(
    ("kinds", "line"),
    [
        ((), ""),
        (("sent",), "⚠ The answer says that something was sent. In this turn nothing was."),
        (
            ("changed", "paid"),
            "⚠ The answer says that something was changed and paid. In this turn nothing was.",
        ),
    ],
)
def test_a_claim_is_told_in_plain_words(kinds: tuple[Claim, ...], line: str) -> None:
    assert claim_warning(replace(finished(Effects()), unsupported=kinds)) == line


async def seen_at_terminal(script: Sequence[ScriptItem], asked: str, home: Path) -> list[str]:
    console = Console(file=io.StringIO(), force_terminal=True, width=90, height=20, color_system=None)
    model = ScriptedModel(script)
    settings = {"agent": {"multiAgent": False}}
    async with sestet.open(settings, model=model, home=home, tools=[fs_drop]) as app:
        with TurnView(console, app.root.name, markdown=False) as view:
            await follow_turn(app, "s1", asked, view.show)
    assert isinstance(console.file, io.StringIO)
    return read_screen(console.file.getvalue())


async def test_the_terminal_ends_a_turn_with_its_effects(tmp_path: Path) -> None:
    script = [ToolCall("fs_drop", {"path": "notes.txt"}), "notes.txt was deleted."]
    *_, last = await seen_at_terminal(script, "delete notes.txt", tmp_path)
    assert last.endswith(" · changed: notes.txt")


async def test_the_terminal_marks_a_claim_that_the_journal_does_not_have(tmp_path: Path) -> None:
    *_, facts, warning = await seen_at_terminal(
        ["The file notes.txt was deleted."], "delete notes.txt", tmp_path
    )
    assert facts.endswith(" · changed: nothing")
    assert warning == "⚠ The answer says that something was changed. In this turn nothing was."


def test_a_long_last_line_stays_indented_on_a_narrow_terminal() -> None:
    console = Console(file=io.StringIO(), width=40)
    effects = Effects(changed=("a long name of a file.txt", "another long name.txt"))
    print_end(console, finished(effects), markdown=False)
    assert isinstance(console.file, io.StringIO)
    *_, first, second = (line.rstrip() for line in console.file.getvalue().splitlines())
    assert first.startswith("  operator")
    assert second == "  of a file.txt, another long name.txt"


async def test_a_turn_that_failed_tells_its_effects_too(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=90)
    settings = {"agent": {"multiAgent": False}, "limits": {"modelCalls": 1}}
    model = ScriptedModel([ToolCall("fs_drop", {"path": "notes.txt"})])
    async with sestet.open(settings, model=model, home=tmp_path, tools=[fs_drop]) as app:
        async for _ in app.run_turn("s1", "delete notes.txt"):
            pass
        print_turns(console, read_turns(app.journal, "s1"), markdown=False)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines()[-1].endswith(" · changed: notes.txt")


async def test_a_pipe_gets_the_answer_on_stdout_and_the_effects_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel(["Done: the file is gone."])
    async with sestet.open({}, model=model, home=tmp_path) as app:
        await answer_plainly(app, "s1", "delete notes.txt")
    said = capsys.readouterr()
    assert said.out == "Done: the file is gone.\n"
    assert said.err.splitlines() == [
        "changed: nothing",
        "⚠ The answer says that something was changed. In this turn nothing was.",
    ]


async def test_json_has_the_effects_as_data(tmp_path: Path) -> None:
    script = [ToolCall("fs_drop", {"path": "notes.txt"}), "I deleted it and mailed it to Bob."]
    settings = {"agent": {"multiAgent": False}}
    events: list[Event] = []
    async with sestet.open(settings, model=ScriptedModel(script), home=tmp_path, tools=[fs_drop]) as app:
        await follow_turn(app, "s1", "delete notes.txt", events.append)
    turn = describe_turn(events)
    nothing: dict[str, list[str]] = {"sent": [], "paid": [], "failed": [], "in_doubt": []}
    assert turn["effects"] == {"changed": ["notes.txt"], **nothing}
    assert turn["unsupported"] == ["sent"]


def test_one_question_prints_the_line_and_the_json(call: Call) -> None:
    assert call("ask", "hello").err == "changed: nothing\n"
    turn = json.loads(call("ask", "--json", "remember that I like tea").out)
    assert turn["effects"]["changed"] == ["memory_remember I like tea"]
    assert turn["events"][-1]["effects"] == turn["effects"]
