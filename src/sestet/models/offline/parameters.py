"""The arguments of a tool, as its schema describes them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.words import stems_of

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        """one two three four five six seven eight nine ten eleven twelve""".split(),  # noqa: SIM905
        1,
    )
}
#: A number with or without a fraction: 2.5, -3, .75, "two", "half".
FRACTION_WORDS = {"half": 0.5, "a half": 0.5, "one half": 0.5, "a quarter": 0.25, "a third": 1 / 3}
DECIMAL = (
    r"(?:-?\d{1,9}(?:[.,]\d{1,9})?|-?[.,]\d{1,9}"
    rf"|{'|'.join(sorted((*FRACTION_WORDS, *NUMBER_WORDS), key=len, reverse=True))})"
)
NUMBER = rf"(?:\d{{1,9}}|{'|'.join(NUMBER_WORDS)})"
#: The types of numbers in a schema.
NUMERIC = ("integer", "number")
QUOTED = r"(?:\"[^\"]+\"|“[^”]+”|`[^`]+`|(?<!\w)'[^']+'(?!\w))"
#: How quotes begin and end.
_QUOTES = (('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"))
#: A quoted name with a slash or a file ending; it may have spaces.
QUOTED_FILE = r"(?:[\"'`“][^\"'`“”]*(?:\.[a-zA-Z][a-zA-Z0-9]{0,4}|/[^\"'`“”]*)[\"'`”])"
#: A name with a file ending; and a name with a slash or a file ending.
FILE = r"(?:[\w./~-]*\w\.[a-zA-Z][a-zA-Z0-9]{0,4}\b)"
PATH = r"(?:(?!\d+/\d+(?![\w./-]))~?[\w.*-]*/[\w./*-]*|[\w.-]*\w\.[a-zA-Z][a-zA-Z0-9]{0,4}\b)"
GLOB = r"(?:[\w./-]*\*[\w./*-]*)"
_ONE_WORD = rf"(?:{QUOTED}|\S+)"
_SAMPLE = re.compile(r"such as '?([a-z])\d+(,)?")
_FIRST_PERSON = re.compile(r"such as '(i|my|we)\b", re.IGNORECASE)
#: A description that lists names: the values that the argument may have.
_LISTED = re.compile(r": ((?:[a-z_]+, ){3,}[a-z_]+)")
_AUXILIARY = r"(?:(?:is|are|was|were|has|have|been|got|gets)\s+)*"
#: A web address, or a host that can be nothing else.
_HOST = r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|example)(?::\d+)?"
ADDRESS = rf"(?:https?://\S+[\w/]|(?:{_HOST}|localhost(?::\d+)?)(?:/\S*)?(?![\w.]))"
#: The forms of arguments with these names. A web address is no path.
_FORMS = {"path": rf"(?:{QUOTED}|(?!https?://|{_HOST}(?![\w.]))\S+)", "url": ADDRESS, "glob": GLOB}
#: The place of an argument in an example.
SLOT = re.compile(r"\{(\w+)\}")


#: A text in quotes, and before it what kind of text it is.
_CALLED = re.compile(
    rf"(?:an?|the|this|another|one more)(?: new)? (?:row|line|entry|item|text|words?|sentence|note|task)s?"
    rf"(?: saying| that says| with| reading| called)?:? (?P<text>{QUOTED})",
    re.IGNORECASE,
)


class Parameter(NamedTuple):
    """One argument. ``form`` is a pattern of its values; empty: any text."""

    name: str
    type: str
    required: bool
    form: str = ""
    choices: tuple[str, ...] = ()
    #: Values that a sentence may hold in spoken form: "was caused by" is ``caused_by``.
    listed: tuple[str, ...] = ()
    #: Words for the argument: its name, and a noun of its description ("Its title").
    called: tuple[str, ...] = ()
    #: Whether it takes a statement of the person about themselves, or a whole question.
    first_person: bool = False
    question: bool = False
    #: The kind of a path: ``file`` or ``directory``; empty: either.
    leads_to: str = ""

    def value(self, text: str) -> JsonValue:
        """The words of the request as a value of the right type."""
        # 'add a row "books,40" to a.csv' adds what stands in quotes.
        given = _CALLED.fullmatch(text.strip())
        text = unquoted(given["text"] if given else text)
        if self.type == "number":
            words = {**NUMBER_WORDS, **FRACTION_WORDS}
            number = str(words.get(text.casefold(), text)).replace(",", ".")
            return float(number) if re.fullmatch(r"-?\d*\.?\d+", number) else text
        if self.type == "integer":
            return NUMBER_WORDS.get(text.casefold()) or (int(text) if text.isdecimal() else text)
        if self.type == "array":
            return [text]
        if self.type == "object":
            parts = (part.partition(":") for part in re.split(r",\s*|\s+and\s+", text))
            return {name.strip(): value.strip() for name, _, value in parts}
        for name in self.listed:
            if re.fullmatch(spoken(name), text, re.IGNORECASE):
                return name
        return text


def unquoted(text: str) -> str:
    """A text without the quotes around all of it; those of a part of it stay, as in ``python3 -c "1"``."""
    text = text.strip()
    for opening, closing in _QUOTES:
        if len(text) > 1 and text[0] == opening and text[-1] == closing and closing not in text[1:-1]:
            return text[1:-1].strip()
        is_half = (
            text.count(opening) == 1 if opening == closing else text.count(opening) != text.count(closing)
        )
        if is_half:
            # Half of a pair: the words around the value took the rest of it.
            text = text.strip(f"{opening}{closing}").strip()
    return text


def spoken(name: str) -> str:
    """A pattern for the spoken form of a name such as ``caused_by``."""
    return _AUXILIARY + r"[\s_]".join(map(re.escape, name.split("_")))


@lru_cache(maxsize=512)
def parameters_of(tool: Tool) -> dict[str, Parameter]:
    properties = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    required = cast("Sequence[str]", tool.parameters.get("required", ()))
    found = {name: _parameter(name, schema, name in required) for name, schema in properties.items()}
    # A slot that is no argument is allowed here; the call is refused later.
    unknown = {slot for example in tool.examples for slot in SLOT.findall(example)} - found.keys()
    return {**found, **{name: Parameter(name, "string", False) for name in unknown}}


def _parameter(name: str, schema: JsonObject, required: bool) -> Parameter:
    description = str(schema.get("description", ""))
    options = cast("Sequence[JsonObject]", schema.get("anyOf", ()))
    kind = str(schema.get("type") or next((option.get("type") for option in options), "string"))
    choices = schema.get("enum") or next((option.get("enum") for option in options), None) or ()
    listed = _LISTED.search(description)
    label = re.match(r"(?:Its|The) (\w+)(?=[;,.]|$)", description)
    return Parameter(
        name,
        kind,
        required,
        _form(name, kind, description),
        tuple(map(str, cast("Sequence[str]", choices))),
        tuple(listed[1].split(", ")) if listed else (),
        (name.removesuffix("s"), *((label[1],) if label else ())),
        _FIRST_PERSON.search(description) is not None,
        description.startswith("The question"),
        place[1] if (place := re.match(r"The (file|directory)\b", description)) else "",
    )


def _form(name: str, kind: str, description: str) -> str:
    if kind in NUMERIC:
        return NUMBER if kind == "integer" else DECIMAL
    if sample := _SAMPLE.search(description):
        one = rf"(?:\b{sample[1]}?\d+\b)"
        return rf"{one}(?:(?:,?\s+and\s+|,\s*|\s+){one})*" if sample[2] else one
    return _FORMS.get(name, "")


@lru_cache(maxsize=512)
def cues_of(tool: Tool) -> frozenset[str]:
    """The word stems that hint at this tool."""
    said = " ".join(SLOT.sub(" ", example) for example in tool.examples)
    return stems_of(said) | stems_of(tool.name.replace("_", " "))
