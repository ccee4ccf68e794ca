"""The features of a request: words, neighbours, parts of words, patterns such as paths and amounts."""

import re
from collections.abc import Iterator
from itertools import pairwise

# The beginning of a long text tells the owner.
_MOST_CHARACTERS = 1_000
_MOST_TOKENS = 120

_EXTENSIONS = (
    "txt|md|rst|pdf|docx?|xlsx?|pptx?|odt|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|log|py|js|ts|tsx|jsx|css"
    "|html?|xml|svg|png|jpe?g|gif|webp|mp[34]|wav|mov|zip|tar|gz|tgz|7z|sh|bash|zsh|sql|db|sqlite3?|rs|go|c|h|cpp"
    "|hpp|java|kt|rb|php|lua|tex|bib|bak|tmp|lock|pem|key|crt|ipynb|parquet"
)
_DOMAINS = "com|org|net|io|dev|de|at|ch|uk|fr|eu|gov|edu|info|co|app|ai|news|me|tv|us|it|es|nl|jp|ca|au"

#: Patterns such as paths and amounts, strongest first: where two overlap, the earlier one counts.
_FORMS: tuple[tuple[str, str], ...] = (
    ("url", r"\b(?:https?|ftp)://\S+|\bwww\.\S+"),
    ("email", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("address", r"\b0x[0-9a-fA-F]{3,}(?:…|\.\.\.)?\w*|\b[a-z0-9-]+\.eth\b"),
    ("path", r"(?<![\w/])(?:~|\.{1,2})?/[\w.@~+-]*[\w/.@~+-]*|\b[\w.-]+/(?:[\w.@+-]+/?)*"),
    (
        "file",
        rf"(?<![\w/])[\w-]*(?:\.[\w-]+)*\.(?:{_EXTENSIONS})\b|\*\.\w+|\bREADME\b|\b[Mm]akefile\b|\bDockerfile\b",
    ),
    ("domain", rf"\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_DOMAINS})\b"),
    (
        "amount",
        r"[$€£]\s?\d[\d.,]*\w?|\b\d[\d.,]*\s?(?:usdc?|usdt|eth|btc|dai|sol|matic|euros?|eur|dollars?|bucks|quid"
        r"|pounds?|cents?|chf|francs?|gbp)\b",
    ),
    ("option", r"(?<!\S)--?[a-zA-Z][\w-]*"),
    ("time", r"\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?(?:am|pm)\b"),
    ("sum", r"\b\d+(?:[.,]\d+)?\s?[-+*/x\u00d7\u00f7^%]\s?(?:of\s)?\d+"),
    ("number", r"\b\d[\d.,]*\b"),
)
_FORM = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _FORMS), re.IGNORECASE)
# Curly apostrophes become straight ones.
_APOSTROPHES = {0x2018: "'", 0x2019: "'"}
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|`[^`]+`|(?<!\w)'[^']+'(?!\w)")
_TOKEN = re.compile(r"<[a-z]+>|[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
_QUESTION = re.compile(
    r"(?:what|who|which|when|where|why|how|is|are|was|were|do|does|did|can|could)\b", re.IGNORECASE
)
# "Can you" stays: it often asks what the assistant is able to do.
_GREETING = re.compile(
    r"\s*(?:(?:hey|hi|hello|ok|okay|sestet|please|pls|plz|kindly|i (?:want|need) you to"
    r"|i(?:'d| would) like you to|would you mind)\b[\s,:!]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"(?:[\s,.!?]+(?:please|pls|plz|for me|thanks|thank you|thx|cheers))+[\s.!?]*$", re.IGNORECASE
)


def strip_courtesy(text: str) -> str:
    """The beginning of a text without greetings and thanks, unless the text has nothing else."""
    text = text[:_MOST_CHARACTERS].translate(_APOSTROPHES).strip()
    greeting = _GREETING.match(text)
    stripped = _THANKS.sub("", text[greeting.end() :] if greeting else text).strip()
    return stripped if " " in stripped else text


def features(text: str) -> dict[str, None]:
    """Every feature once, in the order of the text."""
    text = strip_courtesy(text)
    masked = _FORM.sub(lambda found: f" <{found.lastgroup}> ", text).lower()
    tokens = _TOKEN.findall(masked)[:_MOST_TOKENS]
    return dict.fromkeys((*_words(tokens), *_manner(text), *_letters(tokens)))


def _words(tokens: list[str]) -> Iterator[str]:
    yield from tokens
    for first, second in pairwise(("^", *tokens, "$")):
        yield f"{first} {second}"


def _manner(text: str) -> Iterator[str]:
    if _QUOTED.search(text):
        yield "<quoted>"
    if _QUESTION.match(text) or text.endswith("?"):
        yield "<question>"


def _letters(tokens: list[str]) -> Iterator[str]:
    """Parts of words, so that the models still recognise a word with a typo or another ending."""
    for token in tokens:
        if token[0].isalpha() and len(token) > 3:
            word = f"_{token}_"
            for size in (4, 5):
                for start in range(len(word) - size + 1):
                    yield "~" + word[start : start + size]
