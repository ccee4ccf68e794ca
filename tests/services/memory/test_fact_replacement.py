"""Which facts a new fact replaces, and which it does not."""

import pytest

from sestet.core.label import CLEAN, Label
from sestet.services.memory.fact_replacement import find_replaced

STRANGE = Label(untrusted=True)


def replaces(new: str, old: str) -> bool:
    return find_replaced(new, CLEAN, [(1, old, CLEAN)]) == [1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("my wifi code is 1234", "My wifi code is 5678."),
        ("The gate code is 11", "the gate code is now 22"),
        ("my sister's phone number is 1", "My sister\N{RIGHT SINGLE QUOTATION MARK}s phone number is 2"),
        ("my favourite colour is red", "my favorite colour is blue"),
        ("my favourite tea is Assam", "my favourite tea is Darjeeling"),
        ("my boss is Ann", "my new boss is Bob"),
        ("I live in Oslo", "I moved to Bergen"),
        ("I work at Acme", "I now work at Globex"),
        ("I am 40", "I'm 41 years old"),
        ("I like tea", "I do not like tea"),
        ("I like tea", "I don't like tea anymore"),
        ("I no longer eat meat", "I eat meat"),
    ],
)
def test_another_value_of_the_same_thing_replaces_the_older(old: str, new: str) -> None:
    assert replaces(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("my sister is Ada", "my sister is tall"),
        ("I like tea", "I like coffee"),
        ("I like tea", "my sister does not like tea"),
        ("my wifi code is 1234", "my gate code is 5678"),
        ("my sister's phone number is 1", "my brother's phone number is 2"),
        ("my wifi code is 1234", "my wifi code is 1234."),
        ("I have a cat", "I have a dog"),
        ("the meeting is fun", "the meeting is long"),
        ("I work at Acme", "I live in Oslo"),
    ],
)
def test_what_can_both_be_true_is_left_alone(old: str, new: str) -> None:
    assert not replaces(new, old)


def test_a_strangers_words_never_replace_the_persons() -> None:
    known = [(1, "my iban is DE1", CLEAN), (2, "my iban is EVIL", STRANGE)]

    assert find_replaced("my iban is FR9", STRANGE, known) == [2]
    assert find_replaced("my iban is FR9", CLEAN, known) == [1, 2]
