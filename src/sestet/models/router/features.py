"""What the words of a request say: words, neighbours, parts of words, and patterns such as paths and amounts."""

import re
from collections.abc import Iterator

# Of a long text the beginning says who is meant.
_MOST_CHARACTERS = 1_000
_MOST_TOKENS = 120

_EXTENSIONS = (
    "txt|md|rst|pdf|docx?|xlsx?|pptx?|odt|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|log|py|js|ts|tsx|jsx|css"
    "|html?|xml|svg|png|jpe?g|gif|webp|mp[34]|wav|mov|zip|tar|gz|tgz|7z|sh|bash|zsh|sql|db|sqlite3?|rs|go|c|h|cpp"
    "|hpp|java|kt|rb|php|lua|tex|bib|bak|tmp|lock|pem|key|crt|ipynb|parquet"
)
_DOMAINS = "com|org|net|io|dev|de|at|ch|uk|fr|eu|gov|edu|info|co|app|ai|news|me|tv|us|it|es|nl|jp|ca|au"

#: What stands out of a text by its form, strongest first: where two overlap, the earlier one counts.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("url", r"\b(?:https?|ftp)://\S+|\bwww\.\S+"),
    ("e-mail", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
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
    ("sum", r"\b\d+(?:[.,]\d+)?\s?[-+*/x×÷^%]\s?(?:of\s)?\d+"),
    ("number", r"\b\d[\d.,]*\b"),
)
_FORM = re.compile(
    "|".join(f"(?P<p{index}>{pattern})" for index, (_, pattern) in enumerate(_PATTERNS)), re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|`[^`]+`|(?<!\w)'[^']+'(?!\w)")
_TOKEN = re.compile(r"<[a-z-]+>|[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
_QUESTION = frozenset(
    "what what's whats who who's which when where where's why how is are was were do does did can could".split()  # noqa: SIM905 - words
)


def features(text: str) -> dict[str, None]:
    """Every feature once, in the order in which they were found."""
    text = text[:_MOST_CHARACTERS].replace("’", "'").replace("‘", "'")
    names = [_PATTERNS[int((found.lastgroup or "p0")[1:])][0] for found in _FORM.finditer(text)]
    masked = _FORM.sub(_mask, text).lower()
    tokens = _TOKEN.findall(masked)[:_MOST_TOKENS]
    return dict.fromkeys((*_words(tokens), *_patterns(text, tokens, names), *_letters(tokens)))


def _mask(found: re.Match[str]) -> str:
    return f" <{_PATTERNS[int((found.lastgroup or 'p0')[1:])][0]}> "


def _words(tokens: list[str]) -> Iterator[str]:
    yield from tokens
    edged = ["^", *tokens, "$"]
    for first, second in zip(edged, edged[1:], strict=False):
        yield f"{first} {second}"


def _patterns(text: str, tokens: list[str], names: list[str]) -> Iterator[str]:
    yield from (f"<{name}>" for name in names)
    if _QUOTED.search(text):
        yield "<quoted>"
    if tokens and (tokens[0] in _QUESTION or tokens[-1] == "?"):
        yield "<question>"


def _letters(tokens: list[str]) -> Iterator[str]:
    """Parts of words, so that a word with a typo or another ending is still known."""
    for token in tokens:
        if token[0].isalpha() and len(token) > 3:
            word = f"_{token}_"
            for size in (4, 5):
                for start in range(len(word) - size + 1):
                    yield "~" + word[start : start + size]
