"""The model that answers by a file of rules, in real turns."""

from pathlib import Path

import pytest

import sestet
from sestet.core.errors import ConfigError
from sestet.core.event import TextStreamed
from sestet.detached.turns import detached_turns

RULES = """
# Comments and empty lines are left out.
{"id": "kit-*", "say": "By its id."}
{"agent": "orchestrator", "when": "time*", "delegate": "operator", "reply": true}
{"agent": "operator", "call": "exec_noon", "arguments": {}}
{"agent": "operator", "after": "exec_noon", "say": "It is noon."}
{"when": "break*", "fail": "the script wants it"}
{"when": "hello", "say": "You said {text}", "piece": 4}
"""


@sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
async def exec_noon() -> str:
    """Say the time."""
    return "noon"


def settings(file: Path) -> dict[str, object]:
    return {"agent": {"provider": "scripted", "model": str(file)}}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rules.jsonl"
    file.write_text(RULES)
    return file


async def test_the_first_rule_that_fits_makes_the_reply(tmp_path: Path, rules: Path) -> None:
    async with sestet.open(settings(rules), home=tmp_path, tools=[exec_noon]) as app:
        noon = await app.ask("Time, please", "s1")
        hello = [event async for event in app.run_turn("s1", "hello")]
        broken = await app.ask("break it", "s1")
        other = await app.ask("something else", "s1")

    assert (str(noon), noon.agent) == ("It is noon.", "operator")
    pieces = [event.text for event in hello if isinstance(event, TextStreamed)]
    assert "".join(pieces) == "You said hello"
    assert len(pieces) == 4
    assert (broken.outcome, other.outcome) == ("failed", "failed")
    assert "no rule in" in str(other)


async def test_a_rule_can_name_the_id_of_a_message(tmp_path: Path, rules: Path) -> None:
    async with sestet.open(settings(rules), home=tmp_path) as app, detached_turns(app) as turns:
        accepted = turns.accept("s1", "anything", "kit-7")
        with turns.feeds.reading("s1") as feed:
            async for batch in feed.follow(turns.feeds.last("s1")._replace(turn=0, seq=0)):
                if any(each.event.kind == "turn_finished" for each in batch):
                    break
        (end,) = [e for e in app.journal.events_of(accepted.turn_id) if e.kind == "turn_finished"]

    assert end.text == "By its id."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"say": "a"}\n\n{"says": "b"}', "line 3: Object contains unknown field `says`"),
        ('{"say": "a", "call": "b"}', "line 1: a rule has exactly one of"),
        ("{", "line 1: Input data was truncated"),
        ('{"say": "a", "seconds": 1e9}', "line 1: 'seconds' is from 0 to 600"),
        ("# nothing\n", "has no rule"),
        (None, "cannot be read: No such file"),
    ],
    ids=["field", "two", "json", "seconds", "empty", "missing"],
)
async def test_a_file_that_cannot_be_used_is_named_with_the_line(
    tmp_path: Path, content: str | None, told: str
) -> None:
    file = tmp_path / "rules.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError) as refused:
        async with sestet.open(settings(file), home=tmp_path):
            pass

    assert told in str(refused.value)
    assert str(refused.value).startswith("agent.model: ")
