"""A rejection is recognised however it is written, and nothing of it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.event import DelegationFinished
from sestet.core.message import ToolCall
from sestet.core.model import ModelReply
from sestet.models.scripted import ScriptedModel
from sestet.runtime.reply_text import RejectFilter, rejection
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import streamed, transcript, transfer

REJECTIONS = {
    "plain": "[REJECT] not mine",
    "markup": "  **[reject]** not mine",
    "zero width": "\u200b[REJECT] not mine",
    "zero width inside": "[RE\u200bJE\u2060CT\u200d] not mine",
    "byte order mark": "\ufeff[REJECT] not mine",
    "soft hyphen": "\u00ad[RE\u00adJECT] not mine",
    "full width": "\uff3b\uff32\uff25\uff2a\uff25\uff23\uff34\uff3d not mine",
    "full-width brackets": "\uff3bREJECT\uff3d not mine",
    "lenticular brackets": "\u3010REJECT\u3011 not mine",
    "blanks inside": "[ REJECT ] not mine",
    "markup inside": "[**REJECT**] not mine",
    "escaped": "\\[REJECT\\] not mine",
    "bullet": "- [REJECT] not mine",
    "round bullet": "\u2022 [REJECT] not mine",
    "number": "1. [REJECT] not mine",
    "number with a bracket": "1) [REJECT] not mine",
    "heading": "## [REJECT] not mine",
    "quote": "> [REJECT] not mine",
    "quotes": "\u201c[REJECT]\u201d not mine",
    "code": "`[REJECT]` not mine",
    "fence": "```text\n[REJECT] not mine\n```",
    "emoji": "\N{CROSS MARK} [REJECT] not mine",
    "brackets twice": "[[REJECT]] not mine",
    "polite sentence": "I am sorry. [REJECT] not mine",
    "polite clause": "I'm sorry, [REJECT] not mine",
    "polite and quoted": "I am sorry! `[REJECT]` not mine",
    "polite in Japanese": "\u3059\u307f\u307e\u305b\u3093\u3002[REJECT] not mine",
    "polite line": "I am sorry\n[REJECT] not mine",
    "polite paragraph": "I am sorry\n\n  * [REJECT] not mine",
    "carriage return": "I am sorry\r[REJECT] not mine",
    "line separator": "I am sorry\u2028[REJECT] not mine",
}
ANSWERS = {
    "mention": "A specialist writes [REJECT] when a request is not its own.",
    "code in a sentence": "Write `[REJECT]` at the head of the text.",
    "quoted after a colon": "It writes one of these: `[REJECT]` or nothing.",
    "cell of a table": "| reply | meaning |\n| `[REJECT]` | declined |",
    "another word": "[REJECTED] is not the marker.",
    "a check box": "- [ ] buy milk\n- [x] reject it",
    "an unfinished marker": "The text ends with [REJ",
    "a link": "See [Reject letters](https://example.org).",
}


@pytest.mark.parametrize("text", REJECTIONS.values(), ids=REJECTIONS.keys())
@pytest.mark.parametrize("chunk", [0, 1, 4])
async def test_a_rejection_in_disguise_is_typed_and_nothing_of_it_is_shown(
    talk: Conversation, text: str, chunk: int
) -> None:
    script = {"orchestrator": [transfer("operator", reply=True), "Nobody can."], "operator": [text]}

    events = await talk(ScriptedModel(script, chunk=chunk)).say("go")

    (finished,) = (event for event in events if isinstance(event, DelegationFinished))
    assert (finished.outcome, finished.cause) == ("rejected", "not mine")
    assert streamed(events).strip() == "Nobody can."
    assert transcript(events)[-1] == ("orchestrator", "answers Nobody can.")


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS.keys())
@pytest.mark.parametrize("chunk", [0, 1, 4])
async def test_an_answer_that_mentions_the_marker_is_shown_whole(
    talk: Conversation, text: str, chunk: int
) -> None:
    script = {"orchestrator": [transfer("operator", reply=True)], "operator": [text]}

    events = await talk(ScriptedModel(script, chunk=chunk)).say("go")

    assert streamed(events) == text
    assert transcript(events)[-1] == ("operator", f"answers {text}")


async def test_a_reply_that_rejects_and_calls_at_once_is_a_rejection(talk: Conversation) -> None:
    torn = ModelReply("[REJECT] not mine", (ToolCall("fs_list"),))
    script = {"orchestrator": [transfer("operator"), "Nobody can."], "operator": [torn]}

    events = await talk(ScriptedModel(script)).say("go")

    assert ("operator", "returns rejected: not mine") in transcript(events)
    assert ("operator", "calls fs_list") not in transcript(events)


_PARTS = st.sampled_from(
    [*"[]reject*`.,:|\n x", "REJECT", "[REJECT]", "\u200b", "\uff3b", "sorry", "  ", "- ", "\ud800"]
)


@given(st.lists(_PARTS, max_size=30), st.booleans())
def test_the_pieces_shown_are_the_text_up_to_a_rejection(pieces: list[str], hold_opening: bool) -> None:
    text = "".join(pieces)
    visible = RejectFilter(hold_opening=hold_opening)

    shown = "".join([*map(visible.feed, pieces), visible.rest()])

    assert text.startswith(shown)
    assert (shown == text) is (rejection(text) is None) or not text


@pytest.mark.parametrize(
    "text", [" " * 200_000, "[" * 200_000, "[" + " " * 200_000, "a" + "\n*" * 100_000, "[rej" * 50_000]
)
@pytest.mark.parametrize("hold_opening", [True, False])
def test_what_a_filter_compares_does_not_grow_with_the_text(text: str, hold_opening: bool) -> None:
    visible = RejectFilter(hold_opening=hold_opening)
    shown: list[str] = []

    for piece in text:
        shown.append(visible.feed(piece))
        # Text that is held back is a list of pieces, which are joined once and never read again.
        assert not any(isinstance(kept, str) and len(kept) > 100 for kept in vars(visible).values())

    assert "".join([*shown, visible.rest()]) == text
