"""Recognises secrets in a text that a person writes: passwords, PINs, keys, card numbers, recovery phrases.

It is meant to refuse few ordinary sentences: "my password manager is KeePass" holds no secret. So it misses
secrets that no word and no form betrays, and codes of doors and gates, which people want remembered.
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

Secret: TypeAlias = Literal[
    "a password",
    "a PIN",
    "a card's check number",
    "a key",
    "a private key",
    "a recovery phrase",
    "a card number",
]

_CALLED = (
    r"(?:pass ?word|pass ?phrase|pass ?code|passwd|pwd|passwort|kennwort|mot de passe|contrase(?:ñ|n)a"
    r"|\u5bc6\u7801|\u5bc6\u78bc)"
)
_IS = (
    r"(?:\s*(?:[:=\uff1a\u662f]|->|→)\s*"
    r"|(?:,? (?:it|which|that|this))?\s+(?:is|was|are|will be|changed to|now is|is now|ist|lautet|est|es)\s+)"
)
#: "password for the router": what the secret belongs to.
_OF = r"(?:\s+(?:for|of|to|on|at|in|für|de|del|pour)\s+[^.:=\n]{1,60}?)?"
_QUOTE = r"[\"'`“”\u2018\u2019„«»]?"
#: Words that follow "the password is" in an ordinary sentence.
_ORDINARY = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a about again already also always an annoying any as at bad because being better case changed
    compromised correct different easy empty encrypted enough expired fine forgotten gone good hard hashed
    he hidden how i if important in incorrect invalid is it kept known leaked like long lost mandatory
    missing my needed never new no not now of off ok okay old on optional our out outdated private
    protected public required reset safe same saved secret secure sent set she short shown so still stored
    strange strong that the there they this to too unclear unknown up used valid very was we weak well
    what when where which who with written wrong you yours
    """.split()  # noqa: SIM905
)
#: The forms of keys that vendors give out.
_KEY = (
    r"\b(?:sk|rk|pk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{20,}"
    r"|\b(?:gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{18,}|xox[abeoprs]-[\w-]{10,}|hf_\w{30,}"
    r"|npm_\w{30,}|pypi-[\w-]{40,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}|SG\.[\w-]{20,}\.[\w-]{20,}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})"
)
_KEY_NAME = (
    r"(?:api|access|secret|auth|authentication|bearer|private|licen[cs]e|encryption)[ _-]?(?:key|token)s?"
    r"|client[ _-]secret|token|secret"
)
#: The forms of card numbers: the first digits say how many there are.
_CARD = (
    r"(?<![\w+.-])(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|6\d{15,18})"
    r"(?![\w-])"
)
_WORDS = 12


def find_secret(text: str) -> Secret | None:
    """The kind of secret that a text seems to hold; None if it seems to hold none."""
    return next((kind for kind, holds in _KINDS.items() if holds(text)), None)


def refusal(text: str) -> str:
    """Why a text is not kept, for the model and the person; empty if it may be kept."""
    kind = find_secret(text)
    if kind is None:
        return ""
    return f"not kept: this looks like {kind}, which belongs in the vault: sestet secrets set NAME"


def _matches(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text, flags) is not None


def _holds_password(text: str) -> bool:
    if re.search(r"://[^\s/:@]+:[^\s/@]+@", text):
        return True
    named = re.finditer(rf"{_CALLED}{_OF}{_IS}{_QUOTE}(?P<value>\S+)", text, re.IGNORECASE)
    if any(_is_value(found["value"]) for found in named):
        return True
    # "hunter2 is my wifi password": only a word that is none in any language gives it away.
    last = re.finditer(
        rf"(?<!\S)(?P<value>\S{{1,64}}) (?:is|ist|est|es) [\w' -]{{0,40}}?{_CALLED}\b", text, re.IGNORECASE
    )
    return any(re.search(r"\d", found["value"]) for found in last)


def _is_value(word: str) -> bool:
    """Whether a word may be a secret: not an ordinary word, and no placeholder such as $PASSWORD or ****."""
    bare = word.strip("\"'`“”\u2018\u2019„«».,;:!?()").casefold()
    return len(set(bare)) > 1 and bare[0] not in "$<{[%" and bare not in _ORDINARY


def _holds_key(text: str) -> bool:
    if re.search(_KEY, text):
        return True
    named = re.finditer(
        rf"\b(?:{_KEY_NAME})\b{_OF}{_IS}{_QUOTE}(?P<value>[\w+/=.-]{{8,}})", text, re.IGNORECASE
    )
    return any(re.search(r"\d", found["value"]) and re.search("[A-Za-z]", found["value"]) for found in named)


def _holds_phrase(text: str) -> bool:
    named = re.search(
        r"\b(?:seed|recovery|mnemonic|backup|secret)[ -](?:phrase|words|seed|key)\b(?P<rest>.*)",
        text,
        re.IGNORECASE | re.DOTALL,
    )
    return (
        named is not None
        and re.search(rf"(?:\b[a-z]{{3,8}}\b[\s,]*){{{_WORDS},}}", named["rest"]) is not None
    )


def _holds_card(text: str) -> bool:
    digits = re.sub(r"(?<=\d)[ -](?=\d)", "", text)
    return any(_has_check_digit(number) for number in _cards(digits))


def _cards(text: str) -> Iterator[str]:
    return (found[0] for found in re.finditer(_CARD, text))


def _has_check_digit(number: str) -> bool:
    """Luhn's check: every second digit from the right counts twice, with the digits of the product added."""
    odd, even = number[-1::-2], number[-2::-2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(digit), 10)) for digit in even)) % 10 == 0


_KINDS: dict[Secret, Callable[[str], bool]] = {
    "a private key": _matches(r"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----"),
    "a recovery phrase": _holds_phrase,
    "a key": _holds_key,
    "a password": _holds_password,
    "a PIN": _matches(rf"\bpin(?:[ -](?:code|number))?s?\b{_OF}(?:{_IS}|\s+)\d{{4,8}}\b"),
    "a card's check number": _matches(rf"\b(?:cvv|cvc|cvv2|cvc2|csc)\b{_OF}(?:{_IS}|\s+)\d{{3,4}}\b"),
    "a card number": _holds_card,
}
