"""The receivers, places and things that a person names in a message, each whole and with its kind."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.words import COMMON_WORDS
from sestet.runtime.clauses import positive_clauses
from sestet.runtime.shapes import (
    ACCOUNT,
    PHONE,
    amount_form,
    bare,
    is_distinct,
    is_email,
    is_host,
    is_path,
    is_plain,
    is_well_known_host,
    normalised,
    path_form,
    phone_form,
    url_form,
)
from sestet.runtime.targets import Kind

#: A message longer than this is read at its two ends only.
_MOST_READ = 40_000
#: Longer values are never looked for.
_LONGEST_VALUE = 2_000
_LONGEST_CONFIRMATION = 60
#: A call with more texts is not compared with the message.
_MOST_TEXTS = 64

_SPACED_ACCOUNT = re.compile(r"(?<!\S)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![\w-])")
_CURRENCY = r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf|jpy|usdc|dollars?|euros?|pounds?|francs?|cents?)\b)"
_AMOUNT = re.compile(
    rf"{_CURRENCY}\s?(?P<after>\d[\d.,]*)(?![\w-])|(?<![\w.,-])(?P<before>\d[\d.,]*)\s?{_CURRENCY}",
    re.IGNORECASE,
)
_ID = re.compile(r"\bid\s?[:=#]?\s?[\"'`]?(?P<id>[\w-]+)", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)(?:\"([^\"\n]{1,500})\"|'([^'\n]{1,500})'|`([^`\n]{1,500})`)(?!\w)")
#: The rest of a sentence that says what to run or to search for.
_RUN = re.compile(r"\b(?:run|execute)(?: the command)?[: ]+(?P<rest>.+)", re.IGNORECASE)
_SEARCH = re.compile(
    r"\b(?:(?:search|look on) (?:the web|the internet|online)(?: for)?|google|web search for|web say about)"
    r"[: ]+(.+)"
    r"|\b(?:find|look up|look|search for) (.+?)(?: up)? (?:on the (?:web|internet)|online)\W*$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
#: A message that points back at the one before it.
_BACK = re.compile(
    r"\b(?:(?:to|for|with|at|cc|tell|mail|email|message|send|ask|invite|give|show|pay|write|call)"
    r" (?:him|her|them|there|both)|the same (?:address|person|people|channel|file|folder|place|receiver)"
    r"|that (?:address|person|channel|file|folder))\b"
)
#: A message that only confirms.
_CONFIRMED = re.compile(
    r"\W*(?:(?:yes|yep|yeah|ok|okay|sure|correct|right|go ahead|do (?:it|that|so)|send it|please|thanks)\W*)+"
)

_OPENING, _CLOSING = "\"'`<([{*_", "\"'`>)]}*_.,;:!?。、"
#: The next sentence, where the blank after a full stop is missing: "www.forum.example.They say".
_GLUED = re.compile(r"([a-z0-9])\.[A-Z][a-z]*$")
_PREFIXES = ("mailto:", "to:", "cc:", "bcc:")
#: Words that begin a sentence with a capital letter and are not part of a name.
_BEGINNINGS = COMMON_WORDS | frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    add after also answer are ask before book call can cc copy could create delete did e-mail email find for
    forward from get give hello hey hi if invite is let mail make message move now pay ping please post read
    remind reply reserve schedule send set share show summarise summarize tell text then to transfer update
    when will with would write
    """.split()  # noqa: SIM905
)


class Mentions(Record):
    """What a person's words name, by kind. Everything under a negation is left out."""

    quoted: frozenset[str]
    by_kind: Mapping[Kind, frozenset[str]]

    def name(self, value: str, kind: Kind) -> bool:
        """Whether the words name this value: whole, and as the kind of thing that it is."""
        value = value.strip()
        if not value or len(value) > _LONGEST_VALUE or not is_plain(value):
            return False
        value = normalised(unicodedata.normalize("NFC", value))
        if kind != "query" and value in self.quoted:
            return True
        return any(form in self.by_kind.get(kind, ()) for kind, form in _forms(value, kind))


class _Word(NamedTuple):
    """One word of the message without its surrounding punctuation."""

    text: str
    begins_sentence: bool
    #: Whether punctuation stands between this word and the next.
    ends_phrase: bool


def words_that_count(message: str, previous: str) -> str:
    """The person's words of this turn; the message before counts too if this one points back at it."""
    if not previous:
        return message
    text = normalised(message[:_MOST_READ]).lower()
    confirms = len(text) <= _LONGEST_CONFIRMATION and _CONFIRMED.fullmatch(text)
    points_back = any(_BACK.search(clause) for clause, _ in positive_clauses(text))
    return f"{previous}\n\n{message}" if confirms or points_back else message


@lru_cache(maxsize=64)
def mentions_in(message: str) -> Mentions:
    """Read a message once. A word is never taken apart: a part of something longer is not named."""
    if len(message) > _MOST_READ:
        half = _MOST_READ // 2
        message = f"{message[:half]}\n\n{message[-half:]}"
    found: dict[Kind, set[str]] = {}
    quoted: set[str] = set()
    for clause, begins_sentence in positive_clauses(normalised(message)):
        quotes = {group.strip() for match in _QUOTED.finditer(clause) for group in match.groups() if group}
        quoted |= quotes
        for kind, form in _read(clause, quotes, begins_sentence):
            found.setdefault(kind, set()).add(form)
    return Mentions(frozenset(quoted), {kind: frozenset(forms) for kind, forms in found.items()})


def _read(clause: str, quotes: set[str], begins_sentence: bool) -> Iterator[tuple[Kind, str]]:
    words = list(_words(clause, begins_sentence))
    for word in words:
        yield from _forms_of_word(word.text)
    for name in _names(words):
        yield "name", name
    for match in PHONE.finditer(clause):
        yield "phone", phone_form(match[0])
    for match in _SPACED_ACCOUNT.finditer(clause):
        yield "account", match[0].replace(" ", "")
    for match in _AMOUNT.finditer(clause):
        if amount := amount_form(match["after"] or match["before"]):
            yield "amount", amount
    for match in _ID.finditer(clause):
        if any(char.isdigit() for char in match["id"]):
            yield "id", match["id"].lower()
    if (match := _RUN.search(clause)) is not None:
        yield "command", bare(match["rest"])
    if (match := _SEARCH.search(clause)) is not None:
        for query in (*match.groups(), *quotes):
            yield "query", bare(query or "").lower()


def _words(clause: str, begins_sentence: bool) -> Iterator[_Word]:
    for raw in clause.split():
        if text := _trimmed(raw):
            yield _Word(text, begins_sentence, raw[-1] in ",;:.!?)")
            begins_sentence = raw[-1] in ".!?:"


def _trimmed(raw: str) -> str:
    """A word without the punctuation around it. A word that ends in dots was cut short: it names nothing."""
    if raw.endswith("...") or len(raw) > _LONGEST_VALUE:
        return ""
    text = _GLUED.sub(r"\1", raw.lstrip(_OPENING)).rstrip(_CLOSING).removesuffix("'s")
    for prefix in _PREFIXES:
        text = text[len(prefix) :] if text.lower().startswith(prefix) else text
    return text.lstrip(_OPENING)


def _forms_of_word(word: str) -> Iterator[tuple[Kind, str]]:
    """The kinds of thing that one whole word can be."""
    addresses = re.split("[,;]", word)
    if all(map(is_email, addresses)):
        for address in addresses:
            yield "email", address.lower()
        return
    if url := url_form(word):
        yield "url", url
        return
    if is_well_known_host(word):
        yield "host", word.lower()
    if is_path(word):
        yield "path", path_form(word)
    if ACCOUNT.fullmatch(word):
        yield "account", word
    if word.startswith("#") and not word[1:].isdigit():
        yield "channel", word[1:].lower()
    if word.startswith("@"):
        yield "name", word[1:].lower()
    if is_distinct(word):
        yield "id", word.lower()


def _names(words: Sequence[_Word]) -> Iterator[str]:
    """Runs of capitalised words: "Anna Lena" is one name, and neither half of it is."""
    run: list[_Word] = []
    for word in (*words, _Word("", False, True)):
        begins_only = word.begins_sentence and word.text.lower() in _BEGINNINGS
        is_name = word.text[:1].isupper() and word.text != "I" and not begins_only
        if is_name:
            run.append(word)
        if not is_name or word.ends_phrase:
            if len(run) > 1 or (run and not run[0].begins_sentence):
                yield " ".join(each.text for each in run).lower()
            run = []


def _forms(value: str, kind: Kind) -> Iterator[tuple[Kind, str]]:
    """What must be among the mentions for a target of this kind to count as named."""
    if is_email(value):
        yield "email", value.lower()
    elif url := url_form(value):
        yield "url", url
        # A person who names a host means its first page.
        scheme, _, host = url.removesuffix("/").partition("://")
        if scheme in ("http", "https"):
            yield "host", host
    elif ACCOUNT.fullmatch(value.replace(" ", "")):
        yield "account", value.replace(" ", "")
    elif kind == "amount":
        if amount := amount_form(value):
            yield "amount", amount
    elif kind in ("command", "query"):
        yield kind, bare(value) if kind == "command" else bare(value).lower()
    elif kind == "host" or (kind == "url" and is_host(value)):
        yield "host", value.lower()
    elif kind == "phone" or PHONE.fullmatch(value):
        yield "phone", phone_form(value)
    elif value.startswith("#"):
        yield "channel", value[1:].lower()
    elif value.startswith("@"):
        yield "name", value[1:].lower()
    elif is_path(value):
        yield "path", path_form(value)
    elif kind in ("name", "channel", "id"):
        yield kind, value.lower()
    elif is_distinct(value):
        yield "id", value.lower()


def says_all(message: str, arguments: JsonObject) -> bool:
    """Whether every text of a call is a run of whole words in the message; dates and flags carry nothing."""
    said = f" {_plain_words(message[:_MOST_READ])} "
    waiting: list[JsonValue] = list(arguments.values())
    looked_at = 0
    while waiting:
        value, looked_at = waiting.pop(), looked_at + 1
        if looked_at > _MOST_TEXTS or isinstance(value, Mapping):
            return False
        if isinstance(value, Sequence) and not isinstance(value, str):
            waiting += value[: _MOST_TEXTS + 1]
        elif value is not None and not isinstance(value, bool):
            text = str(value)
            if len(text) > _LONGEST_VALUE:
                return False
            if not _DATE.fullmatch(text) and f" {_plain_words(text)} " not in said:
                return False
    return True


def _plain_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", normalised(text).lower()))
