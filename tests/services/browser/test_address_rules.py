"""The rules about addresses, for every address and every way to write it."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sestet.core.errors import ConfigError
from sestet.services.browser.address_rules import Address, AddressRules, Destination, RefusedError, kind_of

#: Networks without websites, from IANA's registries of special purposes.
BLOCKED_4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16/32",
)
BLOCKED_6 = (
    "::/128",
    "::1/128",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
)
RULES = AddressRules()
#: Networks that embed an IPv4 address: the bits before it, and how far it is from the end.
EMBEDDINGS = (
    ("::ffff:0:0", 0),
    ("::", 0),
    ("::ffff:0:0:0", 0),
    ("64:ff9b::", 0),
    ("64:ff9b:1::", 0),
    ("2002::", 80),
    ("2001::", 64),
    ("2606:4700::5efe:0:0", 0),
    ("2606:4700::200:5efe:0:0", 0),
)


@st.composite
def blocked_4(draw: st.DrawFn) -> IPv4Address:
    network = ip_network(draw(st.sampled_from(BLOCKED_4)))
    place = draw(st.integers(0, network.num_addresses - 1))
    return IPv4Address(int(network.network_address) + place)


@st.composite
def blocked_6(draw: st.DrawFn) -> IPv6Address:
    network = ip_network(draw(st.sampled_from(BLOCKED_6)))
    place = draw(st.integers(0, network.num_addresses - 1))
    return IPv6Address(int(network.network_address) + place)


@st.composite
def number_spelling(draw: st.DrawFn, address: IPv4Address) -> str:
    """The address in one to four numbers, each decimal, octal or hexadecimal."""
    parts = draw(st.integers(1, 4))
    value = int(address)
    # The last number holds all the bits that are left.
    numbers = [value >> (24 - 8 * place) & 0xFF for place in range(parts - 1)]
    numbers.append(value & (1 << (8 * (5 - parts))) - 1)
    forms = st.sampled_from(("{:d}", "0{:o}", "0x{:x}", "0X{:X}", "0x{:010x}", "000{:o}"))
    return ".".join(draw(forms).format(number) for number in numbers) + draw(st.sampled_from(("", ".")))


@st.composite
def ipv6_spelling(draw: st.DrawFn, address: IPv6Address) -> str:
    tail = IPv4Address(int(address) & 0xFFFF_FFFF)
    spellings = (address.compressed, address.exploded, f"{address.exploded[:29]}:{tail}")
    text = draw(st.sampled_from(spellings))
    return f"[{draw(st.sampled_from((text, text.upper())))}]"


def passes(host: str, port: int = 80) -> bool:
    try:
        RULES.destination(host, port)
    except RefusedError:
        return False
    return True


def led_to(address: Address) -> bool:
    """Whether a name that leads to this address passes."""
    try:
        RULES.check(Destination("name.example", 80, None, False), address)
    except RefusedError:
        return False
    return True


@given(st.data(), blocked_4())
def test_a_blocked_address_is_refused_in_every_spelling(data: st.DataObject, address: IPv4Address) -> None:
    spelling = data.draw(number_spelling(address))
    assert IPv4Address(socket.inet_aton(spelling.removesuffix("."))) == address
    assert not passes(spelling)
    assert not passes(str(address))
    assert not led_to(address)


@given(st.data(), blocked_4(), st.sampled_from(EMBEDDINGS))
def test_a_blocked_address_is_refused_inside_every_other(
    data: st.DataObject, address: IPv4Address, embedding: tuple[str, int]
) -> None:
    prefix, shift = embedding
    outer = IPv6Address(int(IPv6Address(prefix)) | int(address) << shift)
    assert not passes(data.draw(ipv6_spelling(outer)))
    assert not led_to(outer)


@given(st.data(), blocked_6())
def test_a_blocked_ipv6_address_is_refused_in_every_spelling(
    data: st.DataObject, address: IPv6Address
) -> None:
    assert not passes(data.draw(ipv6_spelling(address)))
    assert not led_to(address)
    assert not led_to(IPv6Address(f"{address}%1"))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_only_addresses_that_python_calls_global_pass(address: Address) -> None:
    nat64 = address in ip_network("64:ff9b::/96")
    assert kind_of(address) or nat64 or address.is_global


@given(st.ip_addresses(v=4).filter(lambda address: not kind_of(address)))
def test_a_public_address_passes_in_its_usual_spelling_alone(address: IPv4Address) -> None:
    assert passes(str(address))
    assert led_to(address)
    assert led_to(IPv6Address(f"64:ff9b::{address}")), "a network without IPv4 reaches it like this"
    assert not passes(str(int(address)))
    assert not passes(hex(int(address)))


@pytest.mark.parametrize(
    "host", ["93.184.216.34", "[2606:2800:220:1::1]", "example.org", "xn--bcher-kva.example"]
)
def test_public_hosts_pass(host: str) -> None:
    assert passes(host)
    assert passes(host, 443)
    assert passes(host, 8080)


@given(st.one_of(st.text(max_size=20), st.text("0123456789abcdefxABCDEFX.", max_size=14)))
@example("0x7f.1")
@example("127.1")
@example("\u212aelvin.example")
def test_a_host_that_passes_is_read_in_one_way(host: str) -> None:
    rules = AddressRules()
    try:
        destination = rules.destination(host, 80)
    except RefusedError:
        return
    assert host.isascii()
    assert rules.destination(destination.host, 80) == destination
    try:
        number = ip_address(socket.inet_aton(destination.host))
    except OSError:
        number = None
    if ":" not in host:
        assert destination.address == number, "the C library reads it as the same address, or as a name too"


@pytest.mark.parametrize(
    ("entry", "host", "port", "passes"),
    [
        ("localhost:3000", "localhost", 3000, True),
        ("localhost:3000", "LOCALHOST.", 3000, True),
        ("localhost:3000", "localhost", 3001, False),
        ("localhost:3000", "x.localhost", 3000, False),
        ("localhost:3000", "127.0.0.1", 3000, False),
        ("Localhost.:*", "localhost", 80, True),
        ("10.0.0.5:8080", "10.0.0.5", 8080, True),
        ("10.0.0.5:8080", "10.0.0.6", 8080, False),
        ("10.0.0.5:8080", "[::ffff:10.0.0.5]", 8080, False),
        ("[FD00:0::5]:80", "[fd00::5]", 80, True),
        ("nas.local:*", "nas.local", 5000, True),
        ("nas.local:*", "nas.local", 22, False),
        ("nas.local:22", "nas.local", 22, True),
        ("nas.local:*", "evil.nas.local", 80, False),
        ("router:80", "router", 80, True),
        ("169.254.169.254:80", "169.254.169.254", 80, True),
        ("example.org:81", "example.org", 81, True),
    ],
)
def test_an_exception_counts_for_its_host_and_port_alone(
    entry: str, host: str, port: int, passes: bool
) -> None:
    rules = AddressRules((entry,))
    if passes:
        assert rules.destination(host, port).allowed
    else:
        with pytest.raises(RefusedError):
            rules.destination(host, port)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "localhost",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:http",
        "*:80",
        "*",
        "*.local:80",
        "http://localhost:80",
        "localhost:80/path",
        "user@localhost:80",
        "fd00::5:80",
        "[fd00::5]",
        "[fd00::5:80",
        "[fe80::1%eth0]:80",
        "10.0.0.0/8:80",
        "2130706433:80",
        "127.1:80",
        "b\u00fccher.example:80",
    ],
)
def test_an_exception_that_cannot_be_read_is_named(entry: str) -> None:
    with pytest.raises(ConfigError) as error:
        AddressRules(("localhost:80", entry))
    assert len(error.value.problems) == 1
    assert error.value.problems[0].startswith("browser.allow: '")


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        (
            "127.0.0.1",
            8080,
            "127.0.0.1 is an address of this machine; the setting browser.allow can name 127.0.0.1:8080",
        ),
        ("[::1]", 80, "::1 is an address of this machine; the setting browser.allow can name [::1]:80"),
        (
            "x.localhost",
            80,
            "x.localhost is a name of this machine; the setting browser.allow can name x.localhost:80",
        ),
        (
            "0x7f.1",
            80,
            "0x7f.1 is an unusual spelling of 127.0.0.1, an address of this machine; write 127.0.0.1",
        ),
        ("1.2.3.4.5", 80, "1.2.3.4.5 is neither a name nor an address"),
        ("a b", 80, "'a b' is not the name of a host"),
        (
            "example.org",
            25,
            "port 25 is not a port of websites; the setting browser.allow can name example.org:25",
        ),
    ],
)
def test_a_refusal_says_why_and_what_can_be_done(host: str, port: int, text: str) -> None:
    with pytest.raises(RefusedError) as error:
        RULES.destination(host, port)
    assert str(error.value) == text


def test_a_name_that_leads_to_a_blocked_address_is_named_with_it() -> None:
    with pytest.raises(RefusedError) as error:
        RULES.check(Destination("evil.example", 80, None, False), ip_address("169.254.169.254"))
    assert str(error.value) == (
        "evil.example leads to 169.254.169.254, the metadata service of a cloud machine; "
        "the setting browser.allow can name evil.example:80"
    )
