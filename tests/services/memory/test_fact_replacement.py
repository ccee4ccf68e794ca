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
        ("I live in Oslo", "I've just moved to Bergen"),
        ("I live in Oslo", "Actually, I live in Bergen now."),
        ("I moved to Bergen", "we moved from Bergen to Tromsø"),
        ("I'm living in Oslo", "I live in Bergen"),
        ("I work at Acme", "I now work at Globex"),
        ("I work for Acme", "I joined Globex"),
        ("I work at Acme", "I changed jobs, I now work for Globex"),
        ("I work at Acme", "I got a new job at Globex"),
        ("my phone number is 555 1234", "I have a new phone number: 555 9876"),
        ("my phone number is 555 1234", "my new phone number is 555 9876"),
        ("my phone number is 555 1234", "I changed my phone number to 555 9876"),
        ("my number is 555 1234", "my phone number has changed, it is 555 9876"),
        ("my dog is called Rex", "actually, my dog is called Max, not Rex"),
        ("my dog is called Rex", "my dog's name is Max"),
        ("my dog is Rex", "my dog is Max, not Rex"),
        ("the meeting is on Monday", "no, the meeting is on Tuesday, not on Monday"),
        ("I like coffee", "I like tea, not coffee"),
        ("the key is under the mat", "the key is under the pot instead of the mat"),
        ("my name is Anna", "call me Ann"),
        ("I am 40", "I'm 41 years old"),
        ("I like tea", "I do not like tea"),
        ("I like tea", "I don't like tea anymore"),
        ("I no longer eat meat", "I eat meat"),
        ("my coach is Benoit", "my coach is now Ilka"),
        ("I prefer window seats", "actually I prefer aisle seats"),
        ("Dad takes his tablets at 8 am and 6 pm", "Dad takes his tablets at 9 am and 6 pm"),
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
        ("I work as a nurse", "I work at Acme"),
        ("my cat is called Tom", "my dog is called Max, not Rex"),
        ("my brother likes coffee", "I like tea, not coffee"),
        ("I like coffee", "I do not like tea"),
        ("I have a cat", "I have a new dog, Max"),
        ("I have a new bike", "I have a new car"),
        ("I live in Oslo", "I live in Oslo now"),
        ("I am 40", "I am tired"),
        ("my sister is Ada", "my sister is now in Rome"),
        ("I like coffee", "actually I like tea"),
        ("I have 3 dogs", "I have 2 cats"),
        ("the meeting with Ann is at 9", "the meeting with Bob is at 9"),
    ],
)
def test_what_can_both_be_true_is_left_alone(old: str, new: str) -> None:
    assert not replaces(new, old)


def test_a_strangers_words_never_replace_the_persons() -> None:
    known = [(1, "my iban is DE1", CLEAN), (2, "my iban is EVIL", STRANGE)]

    assert find_replaced("my iban is FR9", STRANGE, known) == [2]
    assert find_replaced("my iban is FR9", CLEAN, known) == [1, 2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My daughter Lena is allergic to nuts and lives in Graz", "Lena moved to Linz"),
        ("my brother Tom lives in Ulm", "Tom moved to Bern last week"),
        ("Nora works at Acme and has two sons", "Nora now works at Globex"),
    ],
)
def test_a_fact_that_says_more_than_its_value_stays(old: str, new: str) -> None:
    assert not replaces(new, old)
