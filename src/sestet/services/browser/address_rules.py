"""Which hosts, addresses and ports the browser may reach."""

import re
import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, TypeAlias

from sestet.core.errors import ConfigError, SestetError
from sestet.core.record import Record

Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network

_MACHINE = "an address of this machine"
_PRIVATE = "an address of a private network"
_LINK = "an address of the local link"
_METADATA = "the metadata service of a cloud machine"
_SEVERAL = "an address of many machines at once"
_RESERVED = "a reserved address, which no website has"
_TUNNEL = "an address that hides another one"

#: The first network that holds an address says what the address is. We do not use Python's ``is_global``: its
#: answers differ from one release to the next.
_IPV4_KINDS: Final = (
    ("0.0.0.0/8", _MACHINE),
    ("10.0.0.0/8", _PRIVATE),
    ("100.100.100.200/32", _METADATA),
    ("100.64.0.0/10", "an address inside a provider's network"),
    ("127.0.0.0/8", _MACHINE),
    # Azure's is outside of every reserved network.
    ("168.63.129.16/32", _METADATA),
    ("169.254.169.254/32", _METADATA),
    ("169.254.0.0/16", _LINK),
    ("172.16.0.0/12", _PRIVATE),
    ("192.0.0.192/32", _METADATA),
    ("192.0.0.0/24", _RESERVED),
    ("192.0.2.0/24", _RESERVED),
    ("192.31.196.0/24", _RESERVED),
    ("192.52.193.0/24", _RESERVED),
    ("192.88.99.0/24", _RESERVED),
    ("192.168.0.0/16", _PRIVATE),
    ("192.175.48.0/24", _RESERVED),
    ("198.18.0.0/15", _RESERVED),
    ("198.51.100.0/24", _RESERVED),
    ("203.0.113.0/24", _RESERVED),
    ("224.0.0.0/4", _SEVERAL),
    ("255.255.255.255/32", _SEVERAL),
    ("240.0.0.0/4", _RESERVED),
)
_IPV6_KINDS: Final = (
    ("::/127", _MACHINE),
    ("::/96", _TUNNEL),
    ("::ffff:0:0:0/96", _TUNNEL),
    ("64:ff9b:1::/48", _TUNNEL),
    ("2001::/32", _TUNNEL),
    ("2001::/23", _RESERVED),
    ("2001:db8::/32", _RESERVED),
    ("2002::/16", _TUNNEL),
    ("2620:4f:8000::/48", _RESERVED),
    ("3fff::/20", _RESERVED),
    # The rest of 2000::/3 is the public Internet; the last line below catches everything outside of it.
    ("2000::/3", ""),
    ("fd00:ec2::254/128", _METADATA),
    ("fd20:ce::254/128", _METADATA),
    ("fc00::/7", _PRIVATE),
    ("fe80::/10", _LINK),
    ("fec0::/10", _PRIVATE),
    ("ff00::/8", _SEVERAL),
    ("::/0", _RESERVED),
)
_KINDS: Final[dict[int, tuple[tuple[_Network, str], ...]]] = {
    4: tuple((ip_network(network), kind) for network, kind in _IPV4_KINDS),
    6: tuple((ip_network(network), kind) for network, kind in _IPV6_KINDS),
}
#: A network of addresses that a network without IPv4 uses for the IPv4 Internet.
_NAT64: Final = IPv6Network("64:ff9b::/96")
#: The third quarter of an ISATAP address, whose last quarter is an IPv4 address; one bit of it varies.
_ISATAP: Final = 0x0000_5EFE
_ISATAP_MASK: Final = 0xFDFF_FFFF

#: Ends of names that the public DNS does not know: routers, companies and this machine answer for them.
_LOCAL_ENDS: Final = frozenset(
    (
        "corp",
        "home",
        "home.arpa",
        "internal",
        "intranet",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "private",
    )
)

_WEB_PORTS: Final = frozenset((80, 443))
#: Below this number only the two ports of the web are open. The others belong to mail, files and the like.
_FIRST_FREE_PORT: Final = 1024
#: Above it, Chromium's list of unsafe ports.
_UNSAFE_PORTS: Final = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080)
)
#: Ports of databases, and of services that run containers. Many of them trust every client.
_DATABASE_PORTS: Final = frozenset(
    (1433, 1521, 3306, 3389, 5432, 5900, 5984, 6379, 9042, 9092, 9100, 9200, 9300, 11211, 27017)
)
_CONTAINER_PORTS: Final = frozenset((2375, 2376, 2379, 2380, 6443, 10250, 10255))
_SERVICE_PORTS: Final = _UNSAFE_PORTS | _DATABASE_PORTS | _CONTAINER_PORTS

_LABEL: Final = re.compile(r"[a-z0-9_-]{1,63}", re.ASCII)
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+", re.ASCII)
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]")
_LONGEST_NAME: Final = 253
_LONGEST_SHOWN: Final = 80


class RefusedError(SestetError):
    """The browser may not go there; the text tells a person why."""


class Destination(Record):
    """A host and a port that the rules let pass so far.

    ``address``: of a host that is an address. A host that is a name has none, and each address that the name
    leads to must be checked. ``allowed``: the owner's setting names this host and port.
    """

    host: str
    port: int
    address: Address | None
    allowed: bool

    @property
    def local(self) -> bool:
        """Whether the name means this machine, so that no DNS server is asked."""
        return self.host == "localhost" or self.host.endswith(".localhost")

    def __str__(self) -> str:
        return write_authority(self.host, self.port)


class AddressRules(Record):
    """The rules, with the owner's exceptions: ``localhost:3000``, ``nas.local:*``, ``[fd00::5]:80``.

    An exception counts for that host alone. Another name that leads to an allowed address is refused: the
    name's owner can choose where it leads.
    """

    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = [problem for entry in self.allowed if (problem := _problem(entry))]
        if problems:
            raise ConfigError(problems)

    def destination(self, host: str, port: int) -> Destination:
        """The host in its one spelling; raises if the host and the port are enough to refuse it."""
        name, address = _read_host(host)
        exceptions = _exceptions(self.allowed)
        named = (name, port) in exceptions
        allowed = named or (name, None) in exceptions
        if not named and not _is_web_port(port):
            raise RefusedError(_refusal(f"port {port} is not a port of websites", name, port))
        if not allowed and address is None and (why := _why_local(name)):
            raise RefusedError(_refusal(f"{name} {why}", name, port))
        destination = Destination(name, port, address, allowed)
        if address is not None:
            self.check(destination, address)
        return destination

    def check(self, destination: Destination, address: Address) -> None:
        """Raise if the address, which the name of the destination led to, may not be reached."""
        kind = "" if destination.allowed else kind_of(address)
        if kind:
            raise blocked(destination, address, kind)


def blocked(destination: Destination, address: Address, kind: str = _MACHINE) -> RefusedError:
    """The error for an address; ``kind``: what the address is."""
    verb = "is" if destination.address is not None else f"leads to {address},"
    return RefusedError(_refusal(f"{destination.host} {verb} {kind}", destination.host, destination.port))


def kind_of(address: Address) -> str:
    """What a blocked address is, such as ``an address of this machine``; empty for a public address."""
    inner = _inner(address)
    # A zone belongs to a link, and networks do not know it.
    plain = IPv6Address(int(inner)) if inner.version == 6 else inner
    if isinstance(plain, IPv6Address) and (int(plain) >> 32) & _ISATAP_MASK == _ISATAP:
        return _TUNNEL
    return next((kind for network, kind in _KINDS[plain.version] if plain in network), "")


def is_this_machine(address: Address) -> bool:
    """Whether the address is a loopback address, or the one that stands for none."""
    return kind_of(address) == _MACHINE


def reached(address: Address) -> Address:
    """The address that a connection reaches: an IPv4 address that is written as IPv6 is that IPv4 address."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def canonical_host(host: str) -> str:
    """The one spelling of a host; a host that cannot be read stays as it is, but for its length."""
    try:
        return _read_host(host)[0]
    except RefusedError:
        return host[:_LONGEST_NAME]


def write_authority(host: str, port: int) -> str:
    """``example.org:80`` or ``[::1]:80``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def readable(text: str) -> str:
    """A host of any characters, short and in printable ASCII."""
    shown = text.encode("ascii", "backslashreplace").decode()
    shown = "".join(character if character.isprintable() else "?" for character in shown)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _inner(address: Address) -> Address:
    """The IPv4 address that a connection to this address reaches, or the address itself."""
    if isinstance(address, IPv6Address) and address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return reached(address)


def _read_host(host: str) -> tuple[str, Address | None]:
    """The one spelling of a host, and its address if it is one. Every doubtful spelling is refused."""
    if host.startswith("[") or ":" in host:
        return _read_ipv6(host)
    # One dot at the end is the full form of a name, and the same host.
    name = host.lower().removesuffix(".")
    labels = name.split(".")
    # Some letters, such as the sign of the kelvin, become ASCII in lower case.
    if not host.isascii() or not all(map(_LABEL.fullmatch, labels)) or len(name) > _LONGEST_NAME:
        raise RefusedError(f"'{readable(host)}' is not the name of a host")
    if not _NUMBER.fullmatch(labels[-1]):
        return name, None
    try:
        return name, IPv4Address(name)
    except ValueError:
        raise RefusedError(_why_unclear(name)) from None


def _read_ipv6(host: str) -> tuple[str, Address]:
    text = host.removeprefix("[").removesuffix("]")
    try:
        # A zone, such as %eth0, chooses a device of this machine.
        address = IPv6Address("" if "%" in text or len(host) - len(text) not in (0, 2) else text)
    except ValueError:
        raise RefusedError(f"'{readable(host)}' is not the name of a host") from None
    return str(address), address


def _why_unclear(name: str) -> str:
    """Why a number that is not four decimal numbers is refused: programs read it in different ways."""
    try:
        meant = IPv4Address(socket.inet_aton(name))
    except OSError:
        return f"{name} is neither a name nor an address"
    kind = kind_of(meant)
    return f"{name} is an unusual spelling of {meant}{f', {kind}' if kind else ''}; write {meant}"


def _why_local(name: str) -> str:
    labels = name.split(".")
    ends = {".".join(labels[place:]) for place in range(len(labels))}
    if labels[-1] == "localhost":
        return "is a name of this machine"
    if len(labels) == 1 or ends & _LOCAL_ENDS:
        return "is a name of a private network"
    return ""


def _is_web_port(port: int) -> bool:
    return port in _WEB_PORTS or (_FIRST_FREE_PORT <= port <= 65_535 and port not in _SERVICE_PORTS)


def _refusal(why: str, host: str, port: int) -> str:
    return f"{why}; the setting browser.allow can name {write_authority(host, port)}"


@lru_cache(maxsize=8)
def _exceptions(allowed: tuple[str, ...]) -> frozenset[tuple[str, int | None]]:
    """The owner's exceptions as host and port; no port: every port of websites."""
    return frozenset(map(_read_exception, allowed))


def _read_exception(entry: str) -> tuple[str, int | None]:
    host, colon, port = entry.strip().rpartition(":")
    readable_port = port == "*" or (_PORT.fullmatch(port) and int(port) <= 65_535)
    if not colon or not readable_port or "/" in host or (":" in host and not _BRACKETS.fullmatch(host)):
        raise ValueError(
            "must be a host with a port, such as localhost:3000 or [fd00::5]:80; * is every port of websites"
        )
    try:
        name, _ = _read_host(host)
    except RefusedError as error:
        raise ValueError(f"cannot be used: {error}") from None
    return name, None if port == "*" else int(port)


def _problem(entry: str) -> str:
    try:
        _read_exception(entry)
    except ValueError as error:
        return f"browser.allow: '{readable(entry)}' {error}"
    return ""
