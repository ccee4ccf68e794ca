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


def test_a_document_without_front_matter_is_refused() -> None:
    with pytest.raises(FrontMatterError, match="between two '---' lines"):
        split("# Just a heading\n")


LINES = st.text(alphabet="ab:- \"'#{}[]|>&*!%@`,?~.\\0123456789eENOnoxX_=<\t", max_size=12)


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
