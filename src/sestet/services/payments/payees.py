"""Who may be paid: addresses with their checksums, and the person's address book."""

import re
from collections.abc import Iterator, Mapping

from sestet.core.errors import ConfigError, ToolError
from sestet.core.record import Record
from sestet.core.schema import suggest
from sestet.services.payments.ethereum import checksummed
from sestet.services.payments.networks import NETWORKS

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
#: Ends of names that other wallets look up in a registry.
_REGISTERED = re.compile(r"\S+\.[a-z]{2,}", re.IGNORECASE)
#: Characters that look alike in many fonts. Letters of other scripts are refused as a whole.
_LOOKALIKES = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("_", "-"))
#: The first addresses belong to the chain itself; money that is sent there is lost.
_RESERVED = 0xFFFF


class Payee(Record):
    address: str
    #: The name in the address book; empty for an address that is not in it.
    name: str = ""

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.address})" if self.name else self.address


class AddressBook:
    """The names under ``payments.payees``; a mistake in them is a ``ConfigError``."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        problems: list[str] = []
        self._by_name: dict[str, Payee] = {}
        skeletons: dict[str, str] = {}
        for name, address in entries.items():
            where = f"payments.payees.{name}"
            key = name.strip().lower()
            if not _NAME.fullmatch(key):
                problems.append(f"{where}: a name is a letter from a to z, then letters, digits, '-' and '_'")
                continue
            # Two names that a person could mistake for each other must not lead to different places.
            if (other := skeletons.setdefault(_skeleton(key), name)) != name:
                problems.append(f"{where}: looks like '{other}'; choose a name that differs more")
                continue
            try:
                self._by_name[key] = Payee(parse_address(address), key)
            except ToolError as error:
                problems.append(f"{where}: {error}")
        if problems:
            raise ConfigError(problems)
        self._by_address = {payee.address: payee for payee in self._by_name.values()}

    def __iter__(self) -> Iterator[Payee]:
        return iter(self._by_name.values())

    def find(self, to: str) -> Payee:
        """The payee that a name or an address means; raise ``ToolError`` if that is not clear."""
        text = to.strip()
        if text[:2].lower() == "0x":
            address = parse_address(text)
            return self._by_address.get(address, Payee(address))
        if (known := self._by_name.get(text.lower())) is not None:
            return known
        shown = text[:60]
        if _REGISTERED.fullmatch(text):
            raise ToolError(
                f"'{shown}' is a name of a registry such as ENS, which is not looked up: somebody else could "
                "change where it leads. Pay to the address itself, or put it under payments.payees"
            )
        names = list(self._by_name)
        close = next((name for name in names if _skeleton(name) == _skeleton(text.lower())), "")
        hint = f"; did you mean '{close}'?" if close else suggest(text, names)
        raise ToolError(f"'{shown}' is neither an address nor a name under payments.payees{hint}")

    def named(self, address: str) -> Payee:
        """The payee at an address, with its name if it has one."""
        return self._by_address.get(address, Payee(address))


def parse_address(text: str) -> str:
    """The address with its checksum; raise if it is wrong or can belong to nobody."""
    text = text.strip()
    if not _ADDRESS.fullmatch(text):
        raise ToolError(f"'{text[:60]}' is not an address: it has 0x and 40 digits from 0 to f")
    digits, address = text[2:], checksummed(bytes.fromhex(text[2:]))
    # All in one case: a wallet that writes no checksum.
    if digits not in (digits.lower(), digits.upper()) and f"0x{digits}" != address:
        raise ToolError(
            f"'{text}' has a wrong checksum: a character is mistyped, or upper and lower case are mixed up"
        )
    if int(digits, 16) <= _RESERVED:
        raise ToolError(f"'{text}' belongs to the chain itself; money that is sent there is lost")
    if any(address == network.usdc for network in NETWORKS.values()):
        raise ToolError(f"'{text}' is the USDC contract; money that is sent there is lost")
    return address


def _skeleton(name: str) -> str:
    """Equal for names that look alike."""
    for written, seen in _LOOKALIKES:
        name = name.replace(written, seen)
    return name.replace("-", "")
