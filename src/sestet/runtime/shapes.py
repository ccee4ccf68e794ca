"""What a word is by its shape: an e-mail address, a URL, a host, a path, an amount; each in one spelling."""

import re
import unicodedata
from decimal import Decimal

ACCOUNT = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}|0x[0-9a-fA-F]{40}")
PHONE = re.compile(r"(?<![^\s(])\+?\(?\d[\d ()/.-]{5,24}\d(?![\w/@-])")
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/?#\s]+)(?P<rest>\S*)", re.IGNORECASE)
_NOT_IN_EMAIL = frozenset(' @<>()[],;:"/\\')
#: Quotation marks of all kinds, as the two straight ones.
_STRAIGHT = str.maketrans(
    {
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{DOUBLE LOW-9 QUOTATION MARK}": '"',
        "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": '"',
        "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": '"',
    }
)
#: Top-level domains that no file name ends in.
_TOP_LEVEL = frozenset(
    """
    ai app at au be biz br ca ch cn co com de dev dk edu es eu example fi fr gov ie info int io it jp kr mil
    mx net nl no nz org pt ru se tv uk us
    """.split()  # noqa: SIM905 - one text is easier to read and to keep
)
#: Those of them that file names end in, or words before a full stop without a blank: "thanks.it was".
_DOUBTFUL = frozenset(("ai", "app", "at", "be", "br", "co", "dev", "es", "info", "it", "no", "pt", "us"))
#: Letters that are drawn as nothing, beside the control and format characters.
_BLANK_LETTERS = "\u034f\u115f\u1160\u3164"


def normalised(text: str) -> str:
    """Compatible characters as one (NFKC), straight quotation marks, and nothing invisible."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    return "".join(char for char in text if char < "\x7f" or not _is_invisible(char))


def _is_invisible(char: str) -> bool:
    return (
        unicodedata.category(char) in ("Cf", "Cc") or "\ufe00" <= char <= "\ufe0f" or char in _BLANK_LETTERS
    )


def is_plain(value: str) -> bool:
    """Whether a value has no hidden and no look-alike characters: then it is what the person could type."""
    composed = unicodedata.normalize("NFC", value)
    # Asked first: a few characters stand for many others.
    if not value.isprintable() or not unicodedata.is_normalized("NFKC", composed):
        return False
    return normalised(composed) == composed.translate(_STRAIGHT)


def is_email(text: str) -> bool:
    local, _, host = text.partition("@")
    return bool(local) and not _NOT_IN_EMAIL.intersection(local) and "." in host and is_host(host)


def is_host(text: str) -> bool:
    """A name with dots, such as ``forum.example``, or an IPv4 address; a port may follow."""
    host, _, port = text.partition(":")
    labels = host.split(".")
    if (port and not port.isdigit()) or not all(label.replace("-", "").isalnum() for label in labels):
        return False
    if len(labels) == 4 and all(label.isdigit() for label in labels):
        return True
    return host.lower() == "localhost" or (len(labels) > 1 and not labels[-1].isdigit())


def is_well_known_host(text: str) -> bool:
    """Whether a word can only be a host: ``README.md`` and ``main.py`` are files, and could be hosts."""
    labels = text.partition(":")[0].lower().split(".")
    is_clear = labels[0] in ("www", "localhost") or labels[-1] in _TOP_LEVEL or labels[-1].isdigit()
    is_doubtful = len(labels) == 2 and labels[-1] in _DOUBTFUL
    return is_clear and not is_doubtful and is_host(text)


def url_form(text: str) -> str:
    """A URL with its scheme and host in lower case; empty if the text is no URL, or hides its host."""
    match = _URL.fullmatch(text)
    if match is None or "@" in match["host"]:
        return ""
    return f"{match['scheme'].lower()}://{match['host'].lower()}{match['rest'] or '/'}"


def site_form(host: str) -> str:
    """A host as people name the site: without "www.", and without a path that is empty."""
    return host.lower().removesuffix("/").rstrip(".").removeprefix("www.")


def is_path(word: str) -> bool:
    """``notes.txt``, ``a/b``, ``~/x``, ``.profile``; not a number such as ``3.5``."""
    if any(char in word for char in "/\\") or word.startswith("~"):
        return True
    _, dot, suffix = word.rpartition(".")
    return bool(dot) and suffix.isalnum() and not word.replace(".", "").isdigit()


def path_form(word: str) -> str:
    return word.removeprefix("./")


def is_distinct(word: str) -> bool:
    """Whether only one thing can have this name: letters with digits, or a long number."""
    digits = sum(char.isdigit() for char in word)
    is_word = len(word) >= 6 and word.replace("-", "").replace("_", "").isalnum()
    return is_word and (digits >= 6 or 2 <= digits < len(word))


def phone_form(text: str) -> str:
    return ("+" if text.lstrip(" (").startswith("+") else "") + "".join(filter(str.isdigit, text))


def amount_form(text: str) -> str:
    """A number in one spelling; empty where a separator could mean thousands or a fraction."""
    text = text.strip(".,$€£¥ ")
    last = max(text.rfind("."), text.rfind(","))
    whole, fraction = (text[:last], text[last + 1 :]) if last >= 0 else (text, "0")
    if last >= 0 and text[last] in whole:
        # The same mark twice separates thousands.
        whole, fraction = text, "0"
    is_unclear = len(fraction) == 3 and not any(mark in whole for mark in ".,")
    whole = whole.replace(",", "").replace(".", "")
    if is_unclear or not (whole + fraction).isascii() or not whole.isdigit() or not fraction.isdigit():
        return ""
    return str(Decimal(f"{whole}.{fraction}").normalize())


def bare(text: str) -> str:
    """A text without the quotation marks and the punctuation around it."""
    return " ".join(text.split()).strip("\"'`.,;:!? ")
