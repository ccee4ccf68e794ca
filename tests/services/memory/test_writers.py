"""The writers of observations: rules that copy sentences, and a model with lenient parsing."""

import pytest

from sestet.core.errors import ModelError
from sestet.core.label import CLEAN
from sestet.models.scripted import ScriptedModel
from sestet.services.memory.writers import Draft, ModelWriter, RuleWriter, read_observations
from sestet.storage.observation_progress import EndedTurn


def turn(number: int, words: str, reply: str = "Noted.") -> EndedTurn:
    return EndedTurn(f"t{number}", number, words, reply, CLEAN)


async def test_rules_take_what_the_person_states_and_no_question() -> None:
    turns = [
        turn(1, "Hello!"),
        turn(2, "I prefer green tea. What is the weather? My sister lives in Oslo."),
        turn(3, "which files are here?"),
        turn(4, "I prefer green tea."),
    ]

    written = await RuleWriter().observe(turns)

    assert written.drafts == [
        Draft("The person said: I prefer green tea.", (2,)),
        Draft("The person said: My sister lives in Oslo.", (2,)),
    ]


@pytest.mark.parametrize(
    "request_text",
    [
        "list the files here",
        "list my files",
        "what's the weather?",
        "what\N{RIGHT SINGLE QUOTATION MARK}s in my notes",
        "please summarise our meeting notes",
        "find my invoice, I need it today",
        "Hey, could you read my mail",
        "I want you to open my calendar",
        "I'd like to see my photos",
        "remind me to call my mother",
        "translate my letter into French",
        "Hello!",
        "thank you",
        "15% of 80",
    ],
)
async def test_a_plain_request_is_no_observation(request_text: str) -> None:
    assert (await RuleWriter().observe([turn(1, request_text)])).drafts == []


@pytest.mark.parametrize(
    "statement",
    [
        "I prefer green tea",
        "remember that my sister lives in Oslo",
        "We decided to use PostgreSQL",
        "Let's go with the second offer",
        "The meeting with my boss went well.",
        "I want to rent a boat in Lisbon",
        "From now on answer in German",
        "Never use emojis",
        "call me Tom",
        "So, I have sent the invoice",
    ],
)
async def test_a_statement_about_the_person_is_an_observation(statement: str) -> None:
    (draft,) = (await RuleWriter().observe([turn(1, statement)])).drafts

    assert draft.text == f"The person said: {statement}"


async def test_piped_text_is_not_said_by_the_person() -> None:
    piped = turn(1, "I like tea")._replace(mine=False)
    model = ScriptedModel(["NONE"])

    (draft,) = (await RuleWriter().observe([piped])).drafts
    await ModelWriter(model).observe([piped])

    assert draft.text == "A text that was piped in said: I like tea"
    assert "[1] Piped text: I like tea" in model.requests[0].messages[0].text


async def test_rules_note_a_long_message_shortened() -> None:
    (draft,) = (await RuleWriter().observe([turn(1, "I " + "really " * 500 + "like tea")])).drafts

    assert len(draft.text) < 300
    assert draft.text.endswith("…")


async def test_rules_sum_up_with_the_sentences_themselves() -> None:
    texts = [f"The person said: tea number {n} is good" for n in range(100)] + ["The person said: x"]

    (draft,) = (await RuleWriter().reflect(texts)).drafts

    assert 0 < len(draft.text) <= 1_300
    assert "tea" in draft.text


@pytest.mark.parametrize("texts", [["x" * 5_000], ["", "a"], ["The person said: no"]])
async def test_rules_always_have_something_to_say(texts: list[str]) -> None:
    (draft,) = (await RuleWriter().reflect(texts)).drafts
    assert draft.text


def test_a_models_lines_are_read_whatever_it_decorates_them_with() -> None:
    text = """Here are the observations:
# Notes
- [2] The person likes tea.
* [turn 3]: The person lives in Oslo.
1. [2] **The person has a cat.**
The person is 40.
[99] The person is from a turn that is not here.
[2]
NONE
none."""

    assert read_observations(text, {2, 3}) == [
        Draft("The person likes tea.", (2,)),
        Draft("The person lives in Oslo.", (3,)),
        Draft("The person has a cat.", (2,)),
        Draft("The person is 40."),
        Draft("The person is from a turn that is not here."),
    ]
    assert read_observations("NONE", {1}) == []
    assert len(read_observations("[1] x\n" * 1_000, {1})) <= 20


async def test_a_model_is_shown_the_turns_with_their_numbers_and_no_tools() -> None:
    model = ScriptedModel({"observe": ["[2] The person likes tea."]})

    written = await ModelWriter(model).observe([turn(2, "I like tea", "x" * 50_000)])

    assert written.drafts == [Draft("The person likes tea.", (2,))]
    assert written.usage.input_tokens > 0
    (request,) = model.requests
    assert request.tools == ()
    assert request.messages[0].text.startswith("[2] Person: I like tea\n[2] Assistant: xxx")
    assert len(request.messages[0].text) < 5_000


@pytest.mark.parametrize("failure", ["", "  \n", RuntimeError("oops"), ModelError("down")])
async def test_whatever_goes_wrong_with_a_model_is_a_model_error(failure: str | Exception) -> None:
    with pytest.raises(ModelError):
        await ModelWriter(ScriptedModel([failure])).reflect(["a note"])


async def test_half_a_character_of_a_model_can_be_stored() -> None:
    written = await ModelWriter(ScriptedModel(["[1] They like \ud83d tea."])).observe([turn(1, "I like tea")])

    assert written.drafts == [Draft("They like ? tea.", (1,))]
