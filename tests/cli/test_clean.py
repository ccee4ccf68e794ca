"""The terminal obeys nothing in the text of a model, a tool or a file."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sestet.cli.show.answer import print_answer
from sestet.core.clean import clean, escape_json, one_line
from tests.cli.program import Home

ATTACKS = {
    "colour": ("a\x1b[31mb", "ab"),
    "cursor and erase": ("a\x1b[2J\x1b[1;1Hb", "ab"),
    "private mode": ("a\x1b[?1049hb", "ab"),
    "title, ended by bell": ("a\x1b]0;owned\x07b", "ab"),
    "title, ended by ST": ("a\x1b]0;owned\x1b\\b", "ab"),
    "hidden link": ("\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\", "here"),
    "clipboard": ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
    "device control": ("a\x1bPq#0;2\x1b\\b", "ab"),
    "C1 CSI": ("a\x9b31mb", "ab"),
    "C1 OSC": ("a\x9d0;owned\x9cb", "ab"),
    "reset": ("a\x1bcb", "ab"),
    "character set": ("a\x1b(0b", "ab"),
    "a title without an end shows itself": ("a\x1b]0;owned", "a0;owned"),
    "a sequence put together by removing another": ("a\x1b\x1b[0m[31mb", "a[31mb"),
    "backspace": ("ok\b\bno", "okno"),
    "bell": ("a\ab", "ab"),
    "overwriting a line": ("rm -rf /\rls", "rm -rf /\nls"),
    "Windows line ends": ("a\r\nb", "a\nb"),
    "right-to-left override": ("a\u202egpj.exe", "agpj.exe"),
    "isolates and marks": ("a\u2066b\u2069c\u200ed\u061ce", "abcde"),
    "tag characters": ("a\U000e0041\U000e0042b", "ab"),
    "half a character": ("a\ud800b", "a\ufffdb"),
}


@pytest.mark.parametrize(("text", "harmless"), ATTACKS.values(), ids=ATTACKS)
def test_what_a_terminal_would_obey_is_removed(text: str, harmless: str) -> None:
    # In ASCII, so that a failure is not obeyed by the terminal that shows it.
    assert ascii(clean(text)) == ascii(harmless)


def test_ordinary_text_in_any_script_stays_as_it_is() -> None:
    text = "tabs\tand\nlines, naïve café, 日本語, עברית, 👩\u200d🚀, [bold]no markup[/bold]"
    assert clean(text) == text


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\x9d[]0;m\\\x07\r\u202e")))
def test_cleaned_text_is_clean_whatever_it_was(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert {c for c in cleaned if unicodedata.category(c) in ("Cc", "Cs")} <= {"\n", "\t"}
    assert not {
        c
        for c in cleaned
        if unicodedata.bidirectional(c) in ("LRO", "RLO", "LRE", "RLE", "PDF", "LRI", "RLI")
    }


@given(st.text(), st.integers(1, 20))
def test_one_line_is_one_line_and_not_too_long(text: str, width: int) -> None:
    line = one_line(text, width)
    assert len(line) <= width
    assert "\n" not in line


@given(
    st.dictionaries(
        st.text(), st.text(st.characters(codec=None) | st.sampled_from("\x9b\u202e\x7f\U000e0041"))
    )
)
def test_escaped_json_loses_nothing_and_holds_nothing_dangerous(value: dict[str, str]) -> None:
    text = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert clean(text) == text


def test_markdown_cannot_bring_back_what_was_removed() -> None:
    console = Console(width=60, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        print_answer(console, "a &#8238; b &#x9b;31m c &#27;[31m", markdown=True)
    assert not set(capture.get()) & {"\u202e", "\x9b", "\x1b"}


def test_a_link_in_markdown_shows_where_it_leads() -> None:
    console = Console(width=60, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        print_answer(console, "[your bank](http://evil.example)", markdown=True)
    assert capture.get().strip() == "your bank (http://evil.example)"


def test_markup_in_an_answer_is_text() -> None:
    console = Console(width=60, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        print_answer(console, "[red]not red[/red] [link=http://evil]x[/link] :smile:", markdown=False)
    assert capture.get().strip() == "[red]not red[/red] [link=http://evil]x[/link] :smile:"


def test_the_log_can_be_read_on_a_terminal_too(home: Home) -> None:
    script = (
        "import atexit, logging\n"
        "from sestet.cli import main\n"
        "said = 'the server said \\x1b]0;owned\\x07\\x1b[31mred\\u202e'\n"
        "atexit.register(lambda: logging.getLogger('sestet').warning(said))\n"
        "main()\n"
    )
    home.with_program("-c", script).run("memory", "list")

    (line,) = (home.data / "sestet.log").read_text(encoding="utf-8").splitlines()
    assert line.endswith("WARNING sestet the server said red")
