"""The front-matter reader agrees with YAML, or refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sestet.core.front_matter import FrontMatterError, split

DOCUMENT = """---
name: vault
always_include: false
cannot:
  - open pages
  - "pay: without asking"
capabilities:
  crypto_: cryptography
---

# Body
"""


def test_a_document_is_split_into_values_and_body() -> None:
    values, body = split(DOCUMENT)

    assert values == {
        "name": "vault",
        "always_include": False,
        "cannot": ["open pages", "pay: without asking"],
        "capabilities": {"crypto_": "cryptography"},
    }
    assert body == "# Body\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no colon here", "line 2: expected 'key: value'"),
        ("key: 'single'", "put the text"),
        ("key: [a, b]", "put the text"),
        ("key: a # comment", "put the text"),
        ("key: 12", "would not be text"),
        ("key: no", "would not be text"),
        ("key:", "has no value"),
        ("key:\n  - a\n  b: c", "line 4: expected a list item"),
        ("key: a\nkey: b", "line 3: the key 'key' stands twice"),
    ],
)
def test_what_is_outside_the_subset_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(FrontMatterError, match=message):
        split(f"---\n{line}\n---\n")


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x1b", "\0"])
def test_a_character_that_only_some_programs_read_as_a_line_end_is_refused(mark: str) -> None:
    with pytest.raises(FrontMatterError, match=f"line 2: has the control character U\\+{ord(mark):04X}"):
        split(f"---\nname: a{mark}name2: b\n---\n")


def test_line_ends_of_windows_and_a_byte_order_mark_are_read() -> None:
    assert split("\ufeff---\r\nname: a\r\n--- \r\nbody\r\n") == ({"name": "a"}, "body\n")


def test_what_the_subset_refuses_goes_to_the_given_parser_with_its_line_numbers() -> None:
    seen: list[str] = []

    def parse(front: str) -> dict[str, object]:
        seen.append(front)
        return {"name": "parsed"}

    assert split("---\nname: plain\n---\n", parse).values == {"name": "plain"}
    assert split("---\nname: >\n  folded\n---\nbody\n", parse) == ({"name": "parsed"}, "body\n")
    assert seen == ["\nname: >\n  folded\n"]


def test_a_document_without_front_matter_is_refused() -> None:
    with pytest.raises(FrontMatterError, match="between two '---' lines"):
        split("# Just a heading\n")


LINES = st.text(
    alphabet="ab:- \"'#{}[]|>&*!%@`,?~.\\0123456789eENOnoxX_=<\t\r\x85\u2028\u200b\ufeff", max_size=12
)


@given(st.lists(LINES, min_size=1, max_size=4), st.booleans())
def test_whatever_is_accepted_is_what_yaml_reads(lines: list[str], as_list: bool) -> None:
    text = "key:\n" + "\n".join(f"  - {line}" for line in lines) if as_list else f"key: {lines[0]}"
    try:
        values, _ = split(f"---\n{text}\n---\n")
    except FrontMatterError:
        return

    try:
        expected = YAML(typ="safe", pure=True).load(text)  # pyright: ignore[reportUnknownMemberType] - ruamel is untyped
    except YAMLError as error:
        raise AssertionError(f"accepted what is not YAML: {text!r}") from error
    assert values == expected
