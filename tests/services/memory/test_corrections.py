"""A correction counts as the person's words only if their message names the new words and the wrong ones."""

import pytest

from sestet.services.memory.corrections import holds, states_correction, wrong_value


@pytest.mark.parametrize(
    ("message", "fact", "old"),
    [
        ("actually, my cat is called Kim, not Tom", "my cat is called Kim", "My cat is called Tom."),
        ("I live in Bergen, not in Oslo", "I live in Bergen", "I live in Oslo"),
        ("my exam is on Friday rather than Monday.", "my exam is on Friday", "my exam is on Monday at 9"),
    ],
)
def test_a_whole_statement_with_the_wrong_words_behind_it_corrects(message: str, fact: str, old: str) -> None:
    assert states_correction(fact, old, message)


@pytest.mark.parametrize(
    ("message", "fact", "old"),
    [
        ("my cat is called Kim, not Tom", "my cat is called Eve", "my cat is called Tom"),
        ("my cat is called Kim, not Tom", "my cat is called Kim", "my cat is called Max"),
        ("my cat is called Kim, not Tom", "my dog is called Kim", "my dog is called Tom"),
        ("Bob wrote: my cat is called Kim, not Tom", "my cat is called Kim", "my cat is called Tom"),
        ("is it true that my cat is called Kim, not Tom?", "my cat is called Kim", "my cat is called Tom"),
        ("it is false that my cat is called Kim, not Tom", "my cat is called Kim", "my cat is called Tom"),
        ("I will come, not tomorrow", "I will come", "I will come tomorrow"),
        ("I eat meat, not really", "I eat meat", "I eat fish"),
        ("", "my cat is called Kim", "my cat is called Tom"),
        (f"{'x' * 400}. my cat is called Kim, not Tom", "my cat is called Kim", "my cat is called Tom"),
    ],
)
def test_other_words_correct_nothing(message: str, fact: str, old: str) -> None:
    assert not states_correction(fact, old, message)


@pytest.mark.parametrize(
    ("message", "fact", "wrong"),
    [
        ("it's at 4pm, not 3pm", "my meeting is at 4pm", "3pm"),
        ("no, 4pm, not 3pm", "my meeting is at 4pm", "3pm"),
        ("I meant 4pm, not 3pm!", "my meeting is at 4pm", "3pm"),
        ("it's at 4pm, not 3pm", "my meeting is at 5pm", ""),
        ("it's at 4pm if I come, not 3pm", "my meeting is at 4pm", ""),
        ("he said 4pm, not 3pm", "my meeting is at 4pm", ""),
        ("it's at 4pm", "my meeting is at 4pm", ""),
    ],
)
def test_a_value_in_the_place_of_the_wrong_one_is_found(message: str, fact: str, wrong: str) -> None:
    assert wrong_value(fact, "my meeting is at 3pm", message) == wrong


def test_a_fact_holds_whole_words_only() -> None:
    assert holds("My meeting is at 3pm.", "3pm")
    assert not holds("My meeting is at 13pm", "3pm")
