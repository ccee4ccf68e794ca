"""What a person sees of a turn at a terminal, as the screen stands when it has ended."""

import io
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from threading import Event as Signal
from threading import current_thread, main_thread
from typing import Any

import pytest
from rich.console import Console
from rich.control import Control
from rich.padding import Padding

import sestet
from sestet import ModelReply, ScriptedModel, ToolCall
from sestet.cli.show.history import print_turns
from sestet.cli.show.progress import progress_line
from sestet.cli.show.turn_view import FRAMES, TurnView
from sestet.cli.talk.turns import follow_turn
from sestet.core.agent import TRANSFER
from sestet.core.errors import ModelError
from sestet.core.event import (
    ApprovalDecided,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    ModelRetried,
    Stamp,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
)
from sestet.core.label import CLEAN
from sestet.core.model import Usage
from sestet.models.scripted import ScriptItem
from sestet.services.sessions import read_turns
from tests.cli.hanging import BEGINNING, HangingModel
from tests.cli.screen import read_screen

LONG_ANSWER = "\n".join(f"line {number}" for number in range(1, 41))


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("buy tea\n", encoding="utf-8")
    return Console(
        file=io.StringIO(), force_terminal=True, width=70, height=12, color_system=None, legacy_windows=False
    )


async def show_turn(
    console: Console, script: Sequence[ScriptItem], asked: str, *, markdown: bool = False
) -> list[str]:
    """The screen after one turn of this script, without the times and the number of tokens."""
    model = ScriptedModel(script, chunk=7)
    async with sestet.open({}, model=model, home=Path.cwd() / "data") as app:
        with TurnView(console, app.root.name, markdown=markdown) as view:
            await follow_turn(app, "s1", asked, view.show)
    assert isinstance(console.file, io.StringIO)
    lines = read_screen(console.file.getvalue())
    return [line.partition(" ms · ")[0].rstrip("0123456789 ") if " ms · " in line else line for line in lines]


def transfer(agent: str, request: str, *, reply: bool = False) -> ToolCall:
    return ToolCall(TRANSFER, {"agent_name": agent, "request": request, "reply": reply})


async def test_an_answer_is_on_the_screen_once_although_it_was_streamed(console: Console) -> None:
    screen = await show_turn(console, ["Good morning to you."], "good morning")
    assert screen == ["", "Good morning to you.", "", "  orchestrator ·"]


async def test_a_model_that_is_asked_again_or_replaced_is_told_with_the_reason(console: Console) -> None:
    stamp = Stamp("s1", "t1", 1, "orchestrator", "", 0.0)
    for wait, following in ((7.4, "a/1"), (0.3, "a/1"), (0.0, "b/2")):
        line = progress_line(ModelRetried(stamp, "a/1", "rate_limit", "Slow down.", wait, following))
        assert line is not None
        console.print(line.text)
    assert isinstance(console.file, io.StringIO)
    assert read_screen(console.file.getvalue()) == [
        "orchestrator asks a/1 again in 7 seconds: Slow down.",
        "orchestrator asks a/1 again: Slow down.",
        "orchestrator asks b/2 instead of a/1: Slow down.",
    ]


async def test_a_delegation_shows_who_works_and_what_is_called(console: Console) -> None:
    script = [
        transfer("operator", "what is in notes.txt?", reply=True),
        ToolCall("fs_read", {"path": "notes.txt"}),
        "The notes say: **buy tea**.",
    ]
    screen = await show_turn(console, script, "what is in notes.txt?", markdown=True)
    assert screen == [
        "  → operator",
        "  operator · fs_read path=notes.txt",
        "",
        "The notes say: buy tea.",
        "",
        "  operator ·",
    ]


async def test_the_words_of_a_specialist_that_does_not_reply_stay_above_the_answer(
    console: Console,
) -> None:
    script = [
        ModelReply("I will look.", (transfer("operator", "read the notes"),)),
        "They say tea.",
        "You wanted tea.",
    ]
    screen = await show_turn(console, script, "what did I want?")
    assert screen == [
        "  orchestrator: I will look.",
        "  → operator: read the notes",
        "  ← operator answered:",
        "    They say tea.",
        "",
        "You wanted tea.",
        "",
        "  orchestrator ·",
    ]


async def test_answers_that_are_joined_are_on_the_screen_once(console: Console) -> None:
    parts = (transfer("operator", "read the notes", reply=True), transfer("planner", "plan it", reply=True))
    screen = await show_turn(console, [parts, "They say tea.", "First the tea."], "read the notes, plan it")
    assert screen == [
        "  → operator: read the notes",
        "  → planner: plan it",
        "",
        "They say tea.",
        "",
        "First the tea.",
        "",
        "  orchestrator ·",
    ]


async def test_each_of_several_specialists_is_shown_when_it_has_answered(console: Console) -> None:
    script: list[ScriptItem] = [
        [transfer("operator", "read"), transfer("planner", "plan")],
        "Tea is written.",
        "First boil water.",
        "Boil water for tea.",
    ]
    screen = await show_turn(console, script, "tea?")
    assert screen == [
        "  → operator: read",
        "  → planner: plan",
        "  ← operator answered:",
        "    Tea is written.",
        "  ← planner answered:",
        "    First boil water.",
        "",
        "Boil water for tea.",
        "",
        "  orchestrator ·",
    ]


async def test_a_long_finding_is_cut_while_the_turn_runs_and_whole_in_the_history(console: Console) -> None:
    script = [transfer("operator", "count"), LONG_ANSWER, "Forty."]
    screen = await show_turn(console, script, "how many?")
    assert "    line 12" in screen
    assert "    line 13" not in screen
    assert "    … 28 more lines: /history shows them" in screen

    async with sestet.open({}, model=ScriptedModel([]), home=Path.cwd() / "data") as app:
        print_turns(console, read_turns(app.journal, "s1"), markdown=False)
    assert isinstance(console.file, io.StringIO)
    assert "    line 40" in read_screen(console.file.getvalue())


async def test_what_specialists_found_before_a_failure_stays_on_the_screen(console: Console) -> None:
    used = Usage(1_000, 20, nano_dollars=4_200_000)
    script: list[ScriptItem] = [
        ModelReply(calls=(transfer("operator", "read"),), usage=used),
        "They say tea.",
        ModelError("the wire broke"),
    ]
    screen = await show_turn(console, script, "what did I want?")
    assert screen == [
        "  → operator: read",
        "  ← operator answered:",
        "    They say tea.",
        "",
        "I could not answer: the model failed: the wire broke.",
        "",
        "  orchestrator ·",
    ]
    assert isinstance(console.file, io.StringIO)
    assert "tokens · $0.0042 · changed: nothing" in console.file.getvalue()


async def test_what_fails_is_said_where_it_fails(console: Console) -> None:
    script = [
        transfer("operator", "read it"),
        ToolCall("fs_read", {"path": "gone file.txt"}),
        ToolCall("fs_write", {}),
        "[REJECT] this is no file",
        "Nobody could do it.",
    ]
    screen = await show_turn(console, script, "read it")
    assert screen[:3] == [
        "  → operator",
        '  operator · fs_read path="gone file.txt"',
        "  operator · fs_read failed: 'gone file.txt' does not exist",
    ]
    assert screen[3].startswith("  operator · fs_write · not done: ")
    assert "  ← operator declined: this is no file" in screen
    assert screen[-3:] == ["Nobody could do it.", "", "  orchestrator ·"]


def test_a_failed_call_is_told_in_the_words_for_the_person() -> None:
    call = ToolCall("browser_navigate", {"url": "example.com"}, "1")
    stamp = Stamp("s1", "t1", 1, "navigator", "d1", 0.0)
    failed = ToolFinished(
        stamp, call, "error", "use browser_visit(…)", 1.0, CLEAN, "not opened: it is private"
    )

    line = progress_line(failed)

    assert line is not None
    assert line.text == "navigator · browser_navigate failed: not opened: it is private"


async def test_a_turn_that_failed_says_what_it_used(console: Console) -> None:
    used = Usage(1_200, 34)
    script = [ModelReply(calls=(transfer(name, "go"),), usage=used) for name in ("nobody", "nowhere")]

    screen = await show_turn(console, script, "go")

    assert screen[-3:] == ["exist: 'nowhere'.", "", "  orchestrator ·"]
    assert isinstance(console.file, io.StringIO)
    assert "2,468 tokens" in console.file.getvalue()


class Piece(str):
    """A piece of text that cannot be added to a growing text, which would be copied each time."""

    __slots__ = ()

    def __radd__(self, text: str) -> str:
        raise AssertionError(f"copied {len(text)} characters for one more piece")


def test_a_call_that_the_person_approved_is_shown_as_work_of_its_agent(console: Console) -> None:
    stamp, call = Stamp("s1", "t1", 1, "user", "d1", 0.0), ToolCall("exec_run", {"command": "make"})
    with TurnView(console, "orchestrator", markdown=False) as view:
        view.show(ApprovalDecided(stamp, "q1", "approve", "once"))
        view.show(ToolCalled(Stamp("s1", "t1", 2, "operator", "d1", 0.0), call))
        console.print(view._region)  # pyright: ignore[reportPrivateUsage] - what is drawn ten times a second
    assert isinstance(console.file, io.StringIO)
    assert "operator · exec_run" in console.file.getvalue()
    assert "user ·" not in console.file.getvalue()


def test_a_streamed_text_is_not_copied_with_each_piece(console: Console) -> None:
    stamp = Stamp("s1", "t1", 1, "orchestrator", "", 0.0)

    with TurnView(console, "orchestrator", markdown=False) as view:
        for _ in range(1_000):
            view.show(TextStreamed(stamp, Piece("so ")))
        view.show(TurnCancelled(stamp))

    assert isinstance(console.file, io.StringIO)
    assert "so so so" in "".join(read_screen(console.file.getvalue()))


def test_calls_that_were_left_out_are_told() -> None:
    stamp = Stamp("s1", "t1", 1, "operator", "d1", 0.0)
    reply = ModelCalled(stamp, "m", "", (ToolCall("fs_list"),), Usage(), 1.0, 19_999)

    line = progress_line(reply)

    assert line is not None
    assert line.text == "operator asked for 20,000 calls in one reply; 19,999 of them were left out"


def test_a_rejection_beside_calls_is_not_shown() -> None:
    stamp = Stamp("s1", "t1", 1, "operator", "d1", 0.0)
    reply = ModelCalled(stamp, "m", "\u200b[REJECT] not mine", (ToolCall("fs_list"),), Usage(), 1.0)

    assert progress_line(reply) is None


def test_the_reason_of_a_denied_call_is_written_for_the_person() -> None:
    stamp = Stamp("s1", "t1", 1, "operator", "d1", 0.0)
    texts = ("It was not run. Say so in your answer.", 0.0, CLEAN, "not done: you said no")

    line = progress_line(ToolFinished(stamp, ToolCall("fs_write"), "denied", *texts))

    assert line is not None
    assert line.text == "operator · fs_write · not done: you said no"


async def test_an_answer_longer_than_the_screen_is_printed_whole(console: Console) -> None:
    screen = await show_turn(console, [LONG_ANSWER], "count")
    assert screen == ["", *LONG_ANSWER.split("\n"), "", "  orchestrator ·"]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (140, 45), (30, 6)])
def test_no_spinner_is_left_on_the_screen(width: int, height: int) -> None:
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=width,
        height=height,
        color_system=None,
        legacy_windows=False,
    )
    stamp, operator = (
        Stamp("s1", "t1", 1, "orchestrator", "", 0.0),
        Stamp("s1", "t1", 2, "operator", "d1", 0.0),
    )
    with TurnView(console, "orchestrator", markdown=False) as view:
        for event in (
            DelegationStarted(operator, "operator", "count", False, 1),
            *(TextStreamed(operator, f"line {number} {'x' * number}\n") for number in range(60)),
            ToolCalled(operator, ToolCall("fs_read", {"path": "deep/" * 40})),
            ToolFinished(operator, ToolCall("fs_read"), "error", "it is gone " * 30, 1.0, CLEAN),
            *(TextStreamed(operator, f"line {number}\n") for number in range(60)),
            DelegationFinished(operator, "operator", "ok", LONG_ANSWER, "", Usage(), 1.0, CLEAN),
            *(TextStreamed(stamp, f"line {number}\n") for number in range(60)),
            TurnCancelled(stamp),
        ):
            view.show(event)
            # As at each tick: the region is drawn again.
            console.print(Control())
    assert isinstance(console.file, io.StringIO)
    screen = read_screen(console.file.getvalue(), height)
    assert not [line for line in screen if set(line) & set(FRAMES)]


async def test_a_failure_is_the_last_word(console: Console) -> None:
    screen = await show_turn(console, [RuntimeError("the\x1b[2J wire broke")], "hello")
    assert screen[0] == ""
    assert screen[1].startswith("I could not answer: ")
    assert "the wire broke" in " ".join(screen)


@pytest.mark.parametrize(
    "script",
    [
        ["a\x1b[5mb\u202ec"],
        [transfer("operator", "x\x1b]0;owned\x07y", reply=True), "a\x1b[5mb\u202ec"],
    ],
    ids=["answered by the orchestrator", "delegated"],
)
async def test_control_sequences_of_a_model_never_reach_the_screen(
    console: Console, script: list[ScriptItem]
) -> None:
    await show_turn(console, script, "go")
    assert isinstance(console.file, io.StringIO)
    written = console.file.getvalue()
    assert "owned" not in written
    assert "\x1b[5m" not in written
    assert "\u202e" not in written
    assert "abc" in written


async def test_ctrl_c_stops_the_turn_and_keeps_what_had_been_said(console: Console) -> None:
    async with sestet.open({}, model=HangingModel(), home=Path.cwd() / "data") as app:
        with TurnView(console, app.root.name, markdown=False) as view:

            def show(event: Event) -> None:
                view.show(event)
                if isinstance(event, TextStreamed):
                    signal.raise_signal(signal.SIGINT)

            end = await follow_turn(app, "s1", "wait", show)
        assert isinstance(end, TurnCancelled)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert isinstance(console.file, io.StringIO)
    *screen, foot = read_screen(console.file.getvalue())
    assert screen == ["", BEGINNING, "", "Stopped.", ""]
    assert re.fullmatch(r"  \d+ ms · changed: nothing", foot)


class _WatchedOutput(io.StringIO):
    """Tells when another thread than the main one has written."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = Signal()

    def write(self, text: str, /) -> int:
        length = super().write(text)
        if current_thread() is not main_thread():
            self.drawn.set()
        return length


class _InterruptedConsole(Console):
    """Between the two halves of a print, another thread gets the time to draw the region."""

    # Any: the types of rich's own method.
    def render(self, renderable: Any, options: Any = None) -> Any:
        if isinstance(renderable, Padding):
            assert isinstance(self.file, _WatchedOutput)
            self.file.drawn.wait(1)
        return super().render(renderable, options)


def test_no_spinner_is_left_before_a_line_that_is_printed_while_it_is_drawn() -> None:
    output = _WatchedOutput()
    console = _InterruptedConsole(
        file=output, force_terminal=True, width=80, height=24, color_system=None, legacy_windows=False
    )
    stamp = Stamp("s1", "t1", 1, "orchestrator", "", 0.0)
    with TurnView(console, "orchestrator", markdown=False) as view:
        view.show(DelegationStarted(stamp, "operator", "list the files", reply=False, round=1))
    assert read_screen(output.getvalue()) == ["  → operator: list the files"]
