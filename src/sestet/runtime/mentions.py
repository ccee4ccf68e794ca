"""The receivers, places and things that a person names in a message, each whole and with its kind."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.words import COMMON_WORDS
from sestet.runtime.clauses import Clause, positive_clauses, says_no, whole_sentences
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
    site_form,
    url_form,
)
from sestet.runtime.targets import LONGEST_VALUE, Kind

#: A message longer than this is read at its two ends only.
_MOST_READ = 10_000
_LONGEST_CONFIRMATION = 60
#: A call with more texts is not compared with the message.
_MOST_TEXTS = 64

_SPACED_ACCOUNT = re.compile(r"(?<!\S)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![\w-])")
_CURRENCY = r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf|jpy|usdc|dollars?|euros?|pounds?|francs?|cents?)\b)"
_AMOUNT = re.compile(
    rf"{_CURRENCY}\s?(?P<after>\d[\d.,]*)(?![\w-])|(?<![\w.,-])(?P<before>\d[\d.,]*)\s?{_CURRENCY}",
    re.IGNORECASE,
)
_ID = re.compile(r"\bid\s?[:=#]?\s?[\"'`]?(?P<id>[\w-]++)(?![./@:,+]\w)", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)(?:\"([^\"\n]{1,500})\"|'([^'\n]{1,500})'|`([^`\n]{1,500})`)(?!\w)")
#: The rest of a sentence that says what to run or to search for; not "in the long run", not "I run …".
_RUN = re.compile(
    r"(?<!\bi )(?<!we )(?<!they )(?<!who )(?<!the )(?<!a )(?<!long )(?<!short )"
    r"\b(?:run|execute)(?: the command)?[: ]+(?P<rest>[^\s\"'`].*)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_SENTENCE_MARK = re.compile(r"(?<=\w)[.,;:!?]$")
_SEARCH = re.compile(
    r"\b(?:(?:search|look on) (?:the web|the internet|online)(?: for)?|google|web search for|web say about)"
    r"[: ]+(.+)",
    re.IGNORECASE,
)
_FIND = re.compile(r"\b(?:find|look up|look|search for) ", re.IGNORECASE)
_ON_THE_WEB = (" on the web", " on the internet", " online")
#: A message that points back at the one before it.
_BACK = re.compile(
    r"\b(?:(?:to|for|with|at|cc|tell|mail|email|message|send|ask|invite|give|show|pay|write|call)"
    r" (?:him|her|them|there|both)|the same (?:address|person|people|channel|file|folder|place|receiver)"
    r"|that (?:address|person|channel|file|folder))\b"
)
#: A message that only confirms.
_CONFIRMED = re.compile(
    r"(?!\W*(?:(?:please|thanks)\W*)+$)"
    r"\W*(?:(?:yes|yep|yeah|ok|okay|sure|correct|right|go ahead|do (?:it|that|so)|send it|please|thanks)\W*)+"
)

_OPENING, _CLOSING = "\"'`<([{", "\"'`>)]}.,;:!?。、"
#: The next sentence, where the blank after a full stop is missing: "www.forum.example.They say".
_GLUED = re.compile(r"(?<=[a-z0-9])\.(?P<next>[A-Z][a-z]{2,})$")
_PREFIXES = ("mailto:", "to:", "cc:", "bcc:")
_BRACKETS = ("()", "[]", "{}")
_PATH_STARTS = ("/", "~", "./", "../", "\\")
#: Something comes from the person after these words, or is said of them: they are no receiver.
_SOURCES = frozenset(("from", "by", "of", "about", "regarding", "concerning", "unlike"))
_LINKS = frozenset(("and", "or", "the", "my", "&"))
#: What is said of the person before these words.
_SAYS = frozenset(
    """
    is was has wrote writes says said sent sends claims claimed told tells asked asks wants wanted
    """.split()  # noqa: SIM905 - one text is easier to read and to keep
)
_REPLIES = re.compile(r"\b(?:reply|respond|answer|write back)\b", re.IGNORECASE)
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
        if not value or len(value) > LONGEST_VALUE or not is_plain(value):
            return False
        value = normalised(unicodedata.normalize("NFC", value))
        if kind != "query" and value in self.quoted:
            return True
        return any(form in self.by_kind.get(kind, ()) for kind, form in _forms(value, kind))


class _Word(NamedTuple):
    """One word of the message without its surrounding punctuation."""

    text: str
    begins_sentence: bool
    #: Whether punctuation or the end of a line stands between this word and the next.
    ends_phrase: bool
    #: Whether something comes from this person, or is said of them.
    spoken_of: bool = False


def words_that_count(message: str, previous: str, added: Sequence[str] = ()) -> str:
    """The person's words of this turn; the message before counts too if this one points back at it.

    ``added``: what the person added while the turn ran. Once they say no to something, the words before that
    name nothing any more.
    """
    for text in added:
        message, previous = ("", "") if says_no(text) else (message, previous)
        message = f"{message}\n\n{text}".strip()
    if not previous:
        return message
    text = normalised(message[:_MOST_READ])[:_MOST_READ].lower()
    confirms = len(text) <= _LONGEST_CONFIRMATION and _CONFIRMED.fullmatch(text)
    points_back = any(_BACK.search(clause.text) for clause in positive_clauses(text) if not clause.asks)
    return f"{previous}\n\n{message}" if confirms or points_back else message


@lru_cache(maxsize=64)
def mentions_in(message: str) -> Mentions:
    """Read a message once. A word is never taken apart: a part of something longer is not named."""
    found: dict[Kind, set[str]] = {}
    quoted: set[str] = set()
    for clause in positive_clauses(_readable(message)):
        quotes = {
            group.strip() for match in _QUOTED.finditer(clause.text) for group in match.groups() if group
        }
        for query in _queries(clause.text, quotes):
            found.setdefault("query", set()).add(query)
        quoted |= set() if clause.asks else quotes
        for kind, form in _read(clause):
            # To read a page is a request to its server, so a question names the page.
            if not clause.asks or kind in ("url", "host"):
                found.setdefault(kind, set()).add(form)
    return Mentions(frozenset(quoted), {kind: frozenset(forms) for kind, forms in found.items()})


def _readable(message: str) -> str:
    """The message in one spelling; of a long one, the whole sentences at its two ends."""
    if len(message) <= _MOST_READ and len(text := normalised(message)) <= _MOST_READ:
        return text
    half = _MOST_READ // 2
    head, tail = normalised(message[:half])[:half], normalised(message[-half:])[-half:]
    return f"{whole_sentences(head, from_start=True)}\n\n{whole_sentences(tail, from_start=False)}"


def _read(part: Clause) -> Iterator[tuple[Kind, str]]:
    # The words of a quoted path with blanks are parts of it.
    clause = _QUOTED.sub(lambda match: " " if _is_spaced_path(match[0][1:-1]) else match[0], part.text)
    words = _with_roles(list(_words(clause, part.begins_sentence)), bool(_REPLIES.search(clause)))
    for word in words:
        for kind, form in _forms_of_word(word.text):
            if not (word.spoken_of and kind in ("email", "name")):
                yield kind, form
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
        command = match["rest"].strip()
        yield "command", command
        yield "command", _SENTENCE_MARK.sub("", command)


def _queries(clause: str, quotes: set[str]) -> Iterator[str]:
    """What to search the web for."""
    found = match[1] if (match := _SEARCH.search(clause)) is not None else ""
    text = clause.rstrip(_CLOSING + " \n")
    place = next((place for place in _ON_THE_WEB if text.lower().endswith(place)), "")
    if not found and place and (match := _FIND.search(text)) is not None:
        found = text[match.end() : -len(place)].removesuffix(" up")
    if found:
        yield from (bare(query).lower() for query in (found, *quotes))


def _is_spaced_path(text: str) -> bool:
    return " " in text and text.startswith(_PATH_STARTS)


def _words(clause: str, begins_sentence: bool) -> Iterator[_Word]:
    for line in clause.splitlines():
        raws = line.split()
        for place, raw in enumerate(raws, 1):
            # A mark such as "-" begins a line of a list.
            if any(map(str.isalnum, text := _trimmed(raw))):
                yield _Word(text, begins_sentence, raw[-1] in ",;:.!?)" or place == len(raws))
                begins_sentence = raw[-1] in ".!?:"
        begins_sentence = True


def _with_roles(words: Sequence[_Word], is_reply: bool) -> list[_Word]:
    """The words, with the persons marked that something comes from, or that something is said of."""
    marked: list[_Word] = []
    is_source = False
    for place, word in enumerate(words):
        text = word.text.lower()
        is_person = "@" in text or word.text[:1].isupper()
        is_source = text in _SOURCES or (is_source and (is_person or text in _LINKS))
        following = words[place + 1].text.lower() if place + 1 < len(words) and not word.ends_phrase else ""
        spoken_of = is_person and ((is_source and not is_reply) or following in _SAYS)
        marked.append(word._replace(spoken_of=spoken_of))
    return marked


def _trimmed(raw: str) -> str:
    """A word without the punctuation around it. A word that ends in dots was cut short: it names nothing."""
    if raw.endswith("...") or len(raw) > LONGEST_VALUE:
        return ""
    text = raw.strip("*") if raw.startswith("**") else raw
    head = text.lstrip(_OPENING)
    text = head.rstrip(_CLOSING)
    # What is left of "a/.." and of "x_(y)" is something else.
    if ".." in head[len(text) :] or any(text.count(pair[0]) > text.count(pair[1]) for pair in _BRACKETS):
        return ""
    if (glued := _GLUED.search(text)) is not None and glued["next"].lower() in _BEGINNINGS:
        text = text[: glued.start()]
    if "/" not in text:
        text = text.removesuffix("'s")
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
        yield "site", _site_of(url)
        return
    if is_well_known_host(word):
        yield "host", word.lower()
        yield "site", _site_of(word)
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
            is_known = len(run) > 1 or (run and not run[0].begins_sentence)
            if is_known and not any(each.spoken_of for each in run):
                yield " ".join(each.text for each in run).lower()
            run = []


def _forms(value: str, kind: Kind) -> Iterator[tuple[Kind, str]]:
    """What must be among the mentions for a target of this kind to count as named."""
    if kind == "query":
        yield kind, bare(value).lower()
    elif kind == "site":
        # A person who names a page of a site, names the site; and a call may name it by one of its pages.
        yield kind, _site_of(value)
    elif kind == "command":
        # Whole: in backquotes, it would be another command.
        yield kind, value
    elif is_email(value):
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
    elif kind == "host" or (kind == "url" and is_host(value)):
        yield "host", value.lower()
    elif PHONE.fullmatch(value):
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


def _site_of(text: str) -> str:
    """The site of an address or of a host."""
    address = url_form(text).partition("://")[2] or text
    return site_form(re.split("[/?#]", address)[0])


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
            if len(text) > LONGEST_VALUE:
                return False
            if not _DATE.fullmatch(text) and f" {_plain_words(text)} " not in said:
                return False
    return True


def _plain_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", normalised(text).lower()))
