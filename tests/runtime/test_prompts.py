"""The runtime's texts: one for the model, and one for the person where the model is told what to do."""

import re
from pathlib import Path

import pytest

import sestet
from sestet import ModelReply, ScriptedModel, ToolCall
from sestet.core.agent import TRANSFER
from sestet.core.event import DelegationFinished
from sestet.runtime import prompts
from sestet.runtime.prompts import say, tell, without_instructions

FILES = sorted(Path(prompts.__file__).parent.glob("*.md"))
SLOT = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_text_for_the_person_fills_no_other_slots_than_that_for_the_model(file: Path) -> None:
    to_model, *to_person = file.read_text(encoding="utf-8").strip().split("\n\n")
    assert len(to_person) <= 1
    assert {slot for text in to_person for slot in SLOT.findall(text)} <= set(SLOT.findall(to_model))


def test_only_the_model_is_told_what_to_do() -> None:
    assert say("denied", tool="fs_write") == (
        "'fs_write' was not run: the person said no. "
        "Do not try it again in another way; say so in your answer."
    )
    assert tell("denied", tool="fs_write") == "not done: you said no"
    assert tell("silence") == ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_call_that_was_not_made_is_told_to_the_person_in_a_clause(file: Path) -> None:
    to_model, _, to_person = file.read_text(encoding="utf-8").strip().partition("\n\n")
    if to_model.startswith(("'{tool}' was not run", "The call of '{tool}'", "'{tool}' is not one of")):
        assert to_person.startswith("not done: ")
        assert not to_person.endswith(".")


@pytest.mark.parametrize("opening", ["", "[REJECT] "])
async def test_an_instruction_that_a_model_repeats_is_not_shown_to_the_person(
    opening: str, tmp_path: Path
) -> None:
    @sestet.tool(risk="guarded", effect="local", reads=(), recovery="unsafe", targets=("what",))
    async def exec_thing(what: str) -> str:
        """Do it."""
        return what

    copied = "The person said no. Do not try it again in another way; Say so in your answer."
    script = [
        ModelReply(calls=(ToolCall(TRANSFER, {"agent_name": "operator", "request": "do", "reply": True}),)),
        ModelReply(calls=(ToolCall("exec_thing", {"what": "it"}),)),
        opening + copied,
        *(["Nothing was done."] if opening else []),
    ]
    async with sestet.open({}, model=ScriptedModel(script), home=tmp_path, tools=[exec_thing]) as app:
        events = [event async for event in app.run_turn("s1", "do it", can_ask=False)]

    (finished,) = (event for event in events if isinstance(event, DelegationFinished))
    assert (finished.cause if opening else finished.text) == "The person said no."


def test_an_answer_that_repeats_no_instruction_stays_as_it_is() -> None:
    assert without_instructions("  Say so.\n\nIn your answer ") == "  Say so.\n\nIn your answer "
