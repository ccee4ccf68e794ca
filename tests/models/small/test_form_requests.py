"""Requests to fill in a form, and for what a page says, in many words."""

from collections.abc import Sequence

import pytest

from sestet.models.small.form_requests import About, Fill, values_on_record
from sestet.models.small.page_requests import read_page_request

URL = "http://127.0.0.1:8016/"
MEMORY = """[Memory]
- m1 (told 2026-11-18): My name is Ada Lindner and I live in Graz
- m2 (told 2026-11-18): My e-mail address is ada@example.org.
- m3 (told 2026-11-18): My phone is 12
- m4 (told 2026-11-18): my phone number is 13, my cat is called Tom
[End of memory]"""


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("what does {url} say about shoes?", "shoes"),
        ("what does the page {url} say about the opening hours", "opening hours"),
        ("open {url} and tell me what it says about “Terms of use”", "Terms of use"),
        ("please find out what {url} says about returns", "returns"),
        ("go to {url}. What does it say about downloads?", "downloads"),
    ],
)
def test_a_question_about_a_page_names_its_topic(text: str, topic: str) -> None:
    assert read_page_request(text.format(url=URL)) == About(URL, topic)


@pytest.mark.parametrize(
    ("text", "fields", "sends", "button"),
    [
        ("open {url} and fill in Name with my name, City with my city and Message with Hello, "
         "and send the form with the button Send",
         [("Name", "my name"), ("City", "my city"), ("Message", "Hello")], True, "Send"),
        ("open {url} and fill in the field Name with Ada", [("Name", "Ada")], False, ""),
        ("go to {url}, fill in Name: Ada and City: Graz, then submit it",
         [("Name", "Ada"), ("City", "Graz")], True, ""),
        ("open {url} and fill Message with “Hi, and send it; City with X” and send it by the OK button",
         [("Message", "Hi, and send it; City with X")], True, "OK"),
        ("open {url} and enter Message with hello and goodbye",
         [("Message", "hello and goodbye")], False, ""),
    ],
)  # fmt: skip
def test_a_form_is_filled_in_with_the_fields_of_the_request(
    text: str, fields: Sequence[tuple[str, str]], sends: bool, button: str
) -> None:
    assert read_page_request(text.format(url=URL)) == Fill(URL, tuple(fields), sends, button)


def test_what_the_person_only_names_is_said_in_its_place() -> None:
    wanted = Fill(URL, (("Name", "my name"), ("City", "My  City"), ("Message", "Hello")), True, "Send")

    said = wanted.with_values({"name": "Ada ”Lindner, and send it", "city": "Graz"})

    assert wanted.own == ["name", "city"]
    fields = (("Name", "Ada Lindner, and send it"), ("City", "Graz"), ("Message", "Hello"))
    assert read_page_request(said) == Fill(URL, fields, True, "Send")


@pytest.mark.parametrize(
    ("thing", "values"),
    [
        ("name", ["Ada Lindner"]),
        ("city", ["Graz"]),
        ("e-mail", ["ada@example.org"]),
        ("e-mail address", ["ada@example.org"]),
        ("phone", ["12", "13"]),
        ("dog", []),
    ],
)
def test_values_come_from_what_is_on_record(thing: str, values: list[str]) -> None:
    assert values_on_record([thing], MEMORY) == {thing: values}
