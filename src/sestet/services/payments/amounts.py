"""Amounts of USDC as whole numbers of its smallest unit, a millionth."""

import re
from decimal import Decimal

from sestet.core.errors import ToolError

DECIMALS = 6
_UNIT = 10**DECIMALS
#: More than there will ever be in one wallet of a person, and far below what SQLite can add up.
MOST = 1_000_000 * _UNIT
#: ASCII digits alone: ``\\d`` would also take digits of other scripts.
_PLAIN = re.compile(r"(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?")
_FORM = "write it as digits with at most 6 decimals, such as 5 or 0.05"


def parse_amount(text: str) -> int:
    """The amount in millionths of a USDC; anything but plain digits is refused, and so is nothing."""
    found = _PLAIN.fullmatch(text.strip())
    if found is None:
        raise ToolError(f"the amount '{text[:40]}' is not clear; {_FORM}")
    units = int(found[1]) * _UNIT + int((found[2] or "").ljust(DECIMALS, "0"))
    if not 0 < units <= MOST:
        raise ToolError(f"the amount '{text}' must be above 0 and at most {show_amount(MOST)}")
    return units


def amount_of_setting(number: float) -> int | None:
    """A number of the settings in millionths; None if it has more than 6 decimals."""
    # The shortest text that is read back as this number: what the person has written.
    units = Decimal(repr(number)) * _UNIT
    return int(units) if units == int(units) else None


def show_amount(units: int) -> str:
    """``0.05 USDC``: all digits that count, and no others."""
    return f"{plain_amount(units)} USDC"


def plain_amount(units: int) -> str:
    whole, rest = divmod(abs(units), _UNIT)
    decimals = f"{rest:0{DECIMALS}}".rstrip("0")
    return f"{'-' if units < 0 else ''}{whole:,}{'.' if decimals else ''}{decimals}"
