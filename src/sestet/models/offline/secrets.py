"""Recognises secrets in a text that somebody wants to keep: passwords, PINs, card numbers, keys."""

import re

from sestet.models.offline.patterns import patterns_of

_SAID = patterns_of("secrets")

SECRETS_GO_TO_VAULT = (
    "I do not keep passwords, PINs, card numbers or keys in memory: the vault is the place for secrets, and "
    "it has no tools yet. Nothing was stored."
)
#: The secret itself, and not only talk about one.
_VALUE = re.compile(r"\b(?:is|are|was|=)\b|[:=]|\d", re.IGNORECASE)
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)")


def holds_secret(text: str) -> bool:
    if _SAID["key"].search(text) or any(_is_card(found[0]) for found in _CARD.finditer(text)):
        return True
    named = _SAID["named"].search(text)
    return named is not None and _VALUE.search(text[named.end() :]) is not None


def _is_card(text: str) -> bool:
    """Whether the last digit of a number is the check digit of a card (Luhn)."""
    digits = [int(character) for character in text if character.isdecimal()][::-1]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
