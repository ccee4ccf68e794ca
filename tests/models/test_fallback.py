"""Which failures make the next model of the list answer, and which model is asked first after that."""

import pytest

from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Setback, TextDelta
from sestet.models.fallback import FallbackModel
from tests.models.test_retry import Attempts

REQUEST = ModelRequest("operator", "", (UserMessage("hello"),), ())
ANSWER = [TextDelta("Hello"), ModelReply("Hello")]


def model(name: str, *attempts: list[ModelItem | ModelError]) -> Attempts:
    made = Attempts(*attempts)
    made.name = name
    return made


def failing(kind: FailureKind, retry_after: float | None = None) -> list[ModelItem | ModelError]:
    return [ModelError("No.", kind, retry_after)]


async def items_of(fallback: FallbackModel) -> list[ModelItem]:
    return [item async for item in fallback.stream(REQUEST)]


async def test_the_first_model_answers_and_signs_with_nothing() -> None:
    second = model("b/2")
    fallback = FallbackModel([model("a/1", [*ANSWER]), second])
    assert fallback.name == "a/1"
    assert await items_of(fallback) == ANSWER
    assert second.closed == 0


@pytest.mark.parametrize("kind", ["rate_limit", "transient", "timeout", "auth", "quota", "unknown_model"])
async def test_a_failure_of_one_model_is_cured_by_the_next_which_signs_its_reply(kind: FailureKind) -> None:
    fallback = FallbackModel([model("a/1", failing(kind)), model("b/2", [*ANSWER])])
    assert await items_of(fallback) == [
        Setback("a/1", kind, "No.", 0.0, "b/2"),
        TextDelta("Hello"),
        ModelReply("Hello", model="b/2"),
    ]


@pytest.mark.parametrize("kind", ["bad_request", "content_filter", "context_too_long", "other"])
async def test_a_failure_of_the_request_is_not_carried_to_the_next(kind: FailureKind) -> None:
    fallback = FallbackModel([model("a/1", failing(kind)), model("b/2", [*ANSWER])])
    with pytest.raises(ModelError) as caught:
        await items_of(fallback)
    assert caught.value.kind == kind


async def test_the_last_one_s_failure_is_everybodys() -> None:
    fallback = FallbackModel([model("a/1", failing("auth")), model("b/2", failing("quota"))])
    with pytest.raises(ModelError) as caught:
        await items_of(fallback)
    assert caught.value.kind == "quota"


async def test_nobody_goes_on_with_what_another_has_begun_to_say() -> None:
    first = model("a/1", [TextDelta("Hel"), ModelError("Lost.", "transient")])
    with pytest.raises(ModelError, match="Lost"):
        await items_of(FallbackModel([first, model("b/2", [*ANSWER])]))


async def test_a_model_that_failed_is_asked_last_until_it_has_rested() -> None:
    now = [100.0]
    first = model("a/1", failing("rate_limit", 90.0), [*ANSWER])
    second = model("b/2", [*ANSWER], [*ANSWER], failing("transient"))
    fallback = FallbackModel([first, second], lambda: now[0])
    await items_of(fallback)
    now[0] += 89
    assert (await items_of(fallback))[-1] == ModelReply("Hello", model="b/2")
    assert len(first.left) == 1
    now[0] += 1
    assert (await items_of(fallback))[-1] == ModelReply("Hello")


async def test_a_model_that_rests_is_still_better_than_none() -> None:
    first = model("a/1", failing("transient"), [*ANSWER])
    second = model("b/2", [*ANSWER], failing("transient"))
    fallback = FallbackModel([first, second])
    await items_of(fallback)
    assert (await items_of(fallback))[-1] == ModelReply("Hello")
