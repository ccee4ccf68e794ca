"""Which failures are retried, how long it waits, and what the person sees meanwhile."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import ToolCall, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Setback, TextDelta
from sestet.models.retry import Pacing, RetryingModel

REQUEST = ModelRequest("operator", "", (UserMessage("hello"),), ())
LOST = ModelError("The connection broke off.", "transient")
HELLO = [TextDelta("Hel"), TextDelta("lo"), ModelReply("Hello")]


class Attempts:
    """A model that plays one prepared attempt for each call."""

    name = "home/tiny"

    def __init__(self, *attempts: Sequence[ModelItem | ModelError]) -> None:
        self.left = list(attempts)
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        try:
            for item in self.left.pop(0):
                if isinstance(item, ModelError):
                    raise item
                yield item
        finally:
            self.closed += 1

    async def close(self) -> None: ...


class Patient:
    """Another model behind retries that wait on no clock."""

    def __init__(self, *attempts: Sequence[ModelItem | ModelError], retries: int = 3, chance: float = 1.0):
        self.model = Attempts(*attempts)
        self.waits: list[float] = []
        self.retrying = RetryingModel(self.model, Pacing(retries, self._sleep, lambda: chance))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def items(self) -> list[ModelItem]:
        return [item async for item in self.retrying.stream(REQUEST)]

    async def shown(self) -> list[str]:
        return [item.text for item in await self.items() if isinstance(item, TextDelta)]


async def test_a_reply_that_comes_at_once_is_passed_on_as_it_is() -> None:
    patient = Patient(HELLO)
    assert await patient.items() == HELLO
    assert patient.waits == []


async def test_a_failure_for_the_moment_is_told_and_asked_again_after_longer_and_longer_waits() -> None:
    patient = Patient([LOST], [LOST], [LOST], HELLO)
    told = [Setback("home/tiny", "transient", str(LOST), wait, "home/tiny") for wait in (0.5, 1.0, 2.0)]
    assert await patient.items() == [*told, *HELLO]
    assert patient.waits == [0.5, 1.0, 2.0]


async def test_after_the_last_retry_the_failure_is_the_last_one() -> None:
    patient = Patient([LOST], [ModelError("Down.", "transient")], retries=1)
    with pytest.raises(ModelError, match="Down"):
        await patient.items()


async def test_the_wait_is_a_matter_of_chance_between_half_and_whole() -> None:
    patient = Patient([LOST], [LOST], HELLO, chance=0.0)
    await patient.items()
    assert patient.waits == [0.25, 0.5]


async def test_waits_do_not_grow_for_ever() -> None:
    patient = Patient(*[[LOST]] * 10, HELLO, retries=50)
    await patient.items()
    assert max(patient.waits) == patient.waits[-1] == 20.0


async def test_a_vendor_that_says_when_to_come_back_is_not_asked_sooner() -> None:
    patient = Patient([ModelError("Slow down.", "rate_limit", 7.0)], HELLO, chance=0.0)
    await patient.items()
    assert patient.waits == [7.25]


async def test_a_vendor_that_wants_to_be_left_alone_for_long_is_not_waited_for() -> None:
    patient = Patient([ModelError("Slow down.", "rate_limit", 61.0)], HELLO)
    with pytest.raises(ModelError) as caught:
        await patient.items()
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 61.0)
    assert patient.waits == []


async def test_a_wait_that_is_no_number_is_not_waited_for() -> None:
    patient = Patient([ModelError("busy", "rate_limit", float("nan"))])
    with pytest.raises(ModelError, match="busy"):
        await patient.items()
    assert patient.waits == []


async def test_a_time_limit_is_tried_once_more_and_not_again() -> None:
    late = ModelError("Late.", "timeout")
    patient = Patient([late], [late], HELLO)
    with pytest.raises(ModelError, match="Late"):
        await patient.items()
    assert len(patient.waits) == 1


@pytest.mark.parametrize(
    "kind",
    ["bad_request", "auth", "quota", "unknown_model", "content_filter", "context_too_long", "other"],
)
async def test_what_would_fail_again_is_not_asked_again(kind: FailureKind) -> None:
    patient = Patient([ModelError("No.", kind)], HELLO)
    with pytest.raises(ModelError, match="No"):
        await patient.items()
    assert patient.waits == []


async def test_without_retries_every_failure_is_final() -> None:
    with pytest.raises(ModelError):
        await Patient([LOST], HELLO, retries=0).items()


# After text was shown


@pytest.mark.parametrize(
    "pieces", [["Hello ", "you"], ["H", "e", "l", "lo you"], ["Hello you"], ["Hel", "lo you"]]
)
async def test_a_reply_that_begins_as_before_goes_on_where_it_broke_off(pieces: list[str]) -> None:
    again = [*map(TextDelta, pieces), ModelReply("Hello you")]
    patient = Patient([TextDelta("Hel"), LOST], again)
    items = await patient.items()
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == "Hello you"
    assert items[-1] == ModelReply("Hello you")


async def test_it_may_break_off_several_times_even_before_it_has_caught_up() -> None:
    attempts = (
        [TextDelta("Hello"), LOST],
        [TextDelta("He"), LOST],
        [TextDelta("Hello you"), ModelReply("Hello you")],
    )
    assert await Patient(*attempts).shown() == ["Hello", " you"]


async def test_calls_that_follow_the_shown_text_arrive() -> None:
    reply = ModelReply("One moment.", (ToolCall("fs_list"),))
    patient = Patient([TextDelta("One"), LOST], [TextDelta("One moment."), reply])
    assert (await patient.items())[-1] == reply


@pytest.mark.parametrize(
    "again",
    [
        [TextDelta("Hi there"), ModelReply("Hi there")],
        [TextDelta("He"), TextDelta("y"), ModelReply("Hey")],
        [TextDelta("He"), ModelReply("He")],
        [ModelReply(calls=(ToolCall("fs_list"),))],
    ],
)
async def test_a_reply_that_begins_differently_is_not_shown_beside_the_first(again: list[ModelItem]) -> None:
    patient = Patient([TextDelta("Hel"), LOST], again)
    stream = patient.retrying.stream(REQUEST)
    assert await anext(stream) == TextDelta("Hel")
    assert isinstance(await anext(stream), Setback)
    with pytest.raises(ModelError, match="'home/tiny' broke off in the middle of this answer"):
        await anext(stream)
    assert patient.model.closed == 2


async def test_closing_the_stream_closes_the_one_behind_it() -> None:
    patient = Patient(HELLO)
    async with aclosing(patient.retrying.stream(REQUEST)) as stream:
        await anext(stream)
    assert patient.model.closed == 1
