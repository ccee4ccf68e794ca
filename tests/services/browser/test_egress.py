"""The browser's proxy against real sockets: first what must work, then what must not."""

import asyncio
import os

import pytest

from tests.services.browser.conftest import MakeSite, MakeWorld
from tests.services.browser.egress_world import (
    PUBLIC,
    PUBLIC_6,
    accept_of,
    echo,
    status_of,
    web_socket_echo,
)

#: Hosts that may not be reached, as a request can spell them. ``{port}`` is the port of the canary.
REFUSED = (
    "127.0.0.1:{port}",
    "127.0.0.1.:{port}",
    "127.8.9.10:{port}",
    "127.1:{port}",
    "127.0.1:{port}",
    "2130706433:{port}",
    "0x7f000001:{port}",
    "0x7F.0.0.1:{port}",
    "0x7f.1:{port}",
    "017700000001:{port}",
    "0177.0.0.1:{port}",
    "127.000.000.001:{port}",
    "127.0.0.0x1:{port}",
    "0.0.0.0:{port}",
    "0:{port}",
    "0x:{port}",
    "0.1.2.3:{port}",
    "[::]:{port}",
    "[::1]:{port}",
    "[0:0:0:0:0:0:0:1]:{port}",
    "[0000::0001]:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "[::ffff:7f00:1]:{port}",
    "[::127.0.0.1]:{port}",
    "[::ffff:0:127.0.0.1]:{port}",
    "[64:ff9b::127.0.0.1]:{port}",
    "[64:ff9b::10.0.0.1]:{port}",
    "[64:ff9b:1::7f00:1]:{port}",
    "[2002:7f00:1::]:{port}",
    "[2001:0:7f00:1::]:{port}",
    "[2606:4700::5efe:7f00:1]:{port}",
    "[fe80::1]:{port}",
    "[fe80::1%25lo]:{port}",
    "[fe80::1%lo]:{port}",
    "[::1%lo]:{port}",
    "[fec0::1]:{port}",
    "[fd00::5]:{port}",
    "[fd00:ec2::254]:80",
    "[ff02::1]:{port}",
    "[2001:db8::1]:{port}",
    "[100::1]:{port}",
    "10.0.0.1:{port}",
    "172.16.0.1:{port}",
    "172.31.255.255:{port}",
    "192.168.1.1:{port}",
    "169.254.169.254:80",
    "169.254.1.1:{port}",
    "168.63.129.16:80",
    "100.64.0.1:{port}",
    "100.100.100.200:80",
    "192.0.0.192:80",
    "192.0.2.1:{port}",
    "198.18.0.1:{port}",
    "198.51.100.1:{port}",
    "203.0.113.1:{port}",
    "224.0.0.1:{port}",
    "240.0.0.1:{port}",
    "255.255.255.255:{port}",
    "localhost:{port}",
    "LOCALHOST:{port}",
    "localhost.:{port}",
    "x.localhost:{port}",
    "a.b.localhost.:{port}",
    "ip6-localhost:{port}",
    "router:{port}",
    "nas.local:{port}",
    "metadata.google.internal:80",
    "box.home.arpa:{port}",
    "host.lan:{port}",
    "here.example:{port}",
    "mixed.example:{port}",
    "mapped.example:{port}",
    f"{PUBLIC}:25",
    f"{PUBLIC}:22",
    f"{PUBLIC}:6379",
    f"{PUBLIC}:6667",
    f"{PUBLIC}:11211",
    "public.example:81",
)
#: Spellings that are no host at all.
UNREADABLE = (
    "user@127.0.0.1:{port}",
    "public.example:80@127.0.0.1:{port}",
    "public.example\\@127.0.0.1:{port}",
    "127.0.0.1%2f:{port}",
    "%31%32%37.0.0.1:{port}",
    "127.0.0.1%00.public.example:{port}",
    "\uff11\uff12\uff17.0.0.1:{port}",
    "127\u30020\u30020\u30021:{port}",
    "\u24dbocalhost:{port}",
    "public.example..:{port}",
    ".localhost:{port}",
    "1.2.3.4.5:{port}",
    "public.1:{port}",
    "[127.0.0.1]:{port}",
    "[::1:{port}",
    "::1]:{port}",
    "::1:{port}",
    ":{port}",
    "public.example:",
    "public.example:0",
    "public.example:65536",
    "public.example:+80",
    "public.example:0080",
    "public.example:\uff18\uff10",
    f"{'a' * 64}.example:{{port}}",
    f"{'a.' * 130}example:{{port}}",
)


async def test_a_plain_request_reaches_an_allowed_address(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site()
    world = await make_world(f"127.0.0.1:{site.port}")
    answered = await world.get(f"http://127.0.0.1:{site.port}/path?query=1")
    assert answered.endswith(b"\r\n\r\nhello")
    assert site.received.startswith(b"GET /path?query=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % site.port)
    assert world.egress.refusal("127.0.0.1", site.port) is None


@pytest.mark.parametrize("host", ["localhost", "app.localhost", "127.0.0.1"])
async def test_a_tunnel_reaches_an_allowed_host(
    make_site: MakeSite, make_world: MakeWorld, host: str
) -> None:
    site = await make_site(echo)
    world = await make_world(f"{host}:{site.port}")
    async with world.tunnel(f"{host}:{site.port}") as (reader, writer):
        writer.write(b"any bytes \x00\xff")
        assert await reader.readexactly(12) == b"any bytes \x00\xff"
    assert not world.asked, "no DNS server is asked for a name of this machine"


async def test_a_web_socket_works_through_a_tunnel(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site(web_socket_echo)
    world = await make_world("localhost:*")
    key = b"dGhlIHNhbXBsZSBub25jZQ=="
    async with world.tunnel(f"localhost:{site.port}") as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nSec-WebSocket-Key: %s\r\n\r\n" % key)
        assert accept_of(key) in await reader.readuntil(b"\r\n\r\n")
        for text in (b"one", b"two"):
            mask = os.urandom(4)
            masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(text))
            writer.write(bytes((0x81, 0x80 | len(text))) + mask + masked)
            assert await reader.readexactly(2 + len(text)) == bytes((0x81, len(text))) + text


async def test_a_public_name_is_reached_at_the_address_that_was_checked(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    site = await make_site()
    world = await make_world()
    world.names["public.example"] = [[PUBLIC]]
    world.roads[PUBLIC] = site.port
    assert status_of(await world.get("http://PUBLIC.example./")) == 200
    assert await world.tunnel_status("public.example:443") == 200
    assert world.attempts == [(PUBLIC, 80), (PUBLIC, 443)]


@pytest.mark.parametrize("authority", REFUSED)
async def test_a_forbidden_host_is_never_connected_to(
    make_site: MakeSite, make_world: MakeWorld, authority: str
) -> None:
    canary = await make_site()
    # Exceptions for others do not open anything here.
    world = await make_world("other.local:*", "10.9.9.9:*", "127.0.0.1:9")
    world.names["here.example"] = [["127.0.0.1"]]
    world.names["mixed.example"] = [[PUBLIC, "127.0.0.1"]]
    world.names["mapped.example"] = [["::ffff:127.0.0.1"]]
    world.names["public.example"] = [[PUBLIC]]
    world.roads[PUBLIC] = canary.port
    authority = authority.format(port=canary.port)
    refused = await world.get(f"http://{authority}/secret-path")
    assert status_of(refused) == 403
    assert b"secret-path" not in refused
    assert await world.tunnel_status(authority) == 403
    assert world.attempts == []
    assert canary.connections == 0
    host, _, port = authority.rpartition(":")
    assert world.egress.refusal(host, int(port))


@pytest.mark.parametrize("authority", UNREADABLE)
async def test_a_host_that_cannot_be_read_is_never_connected_to(
    make_site: MakeSite, make_world: MakeWorld, authority: str
) -> None:
    canary = await make_site()
    world = await make_world("127.0.0.1:*", "localhost:*", "public.example:*")
    world.names["public.example"] = [[PUBLIC]]
    world.roads[PUBLIC] = canary.port
    authority = authority.format(port=canary.port)
    assert status_of(await world.get(f"http://{authority}/")) in (400, 403)
    assert await world.tunnel_status(authority) in (400, 403)
    assert world.attempts == []


async def test_a_refusal_names_the_setting(make_world: MakeWorld) -> None:
    world = await make_world()
    answered = await world.get("http://127.0.0.1:8080/")
    text = "127.0.0.1 is an address of this machine; the setting browser.allow can name 127.0.0.1:8080"
    assert answered.endswith(f"\r\n\r\n{text}\n".encode())
    assert world.egress.refusal("127.0.0.1", 8080) == text
    assert world.egress.refusal("127.0.0.1", 8081) is None


async def test_a_second_answer_of_the_dns_server_changes_nothing(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    site, canary = await make_site(), await make_site()
    world = await make_world()
    world.names["rebind.example"] = [[PUBLIC], ["127.0.0.1"]]
    world.roads[PUBLIC] = site.port
    address = f"http://rebind.example:{canary.port}/"
    assert status_of(await world.get(address)) == 200
    assert world.asked == ["rebind.example"], "one connection is one look-up"
    assert status_of(await world.get(address)) == 403
    assert await world.tunnel_status(f"rebind.example:{canary.port}") == 403
    assert (site.connections, canary.connections) == (1, 0)
    assert "leads to 127.0.0.1" in (world.egress.refusal("rebind.example", canary.port) or "")


async def test_another_name_for_an_allowed_address_is_refused(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    canary = await make_site()
    world = await make_world(f"127.0.0.1:{canary.port}", f"localhost:{canary.port}")
    world.names["evil.example"] = [["127.0.0.1"]]
    assert status_of(await world.get(f"http://evil.example:{canary.port}/")) == 403
    assert canary.connections == 0


async def test_an_allowed_name_may_lead_to_a_private_address(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    site = await make_site()
    world = await make_world(f"nas.local:{site.port}")
    world.names["nas.local"] = [["10.0.0.5", "127.0.0.1"]]
    assert status_of(await world.get(f"http://nas.local:{site.port}/")) == 200
    assert world.attempts == [("10.0.0.5", site.port), ("127.0.0.1", site.port)]
    assert await world.tunnel_status("nas.local:80") == 403


async def test_an_ipv4_address_that_is_written_as_ipv6_is_the_same_address(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    site = await make_site()
    world = await make_world("nas.local:*")
    world.names["nas.local"] = [["::ffff:127.0.0.1", "127.0.0.1"]]
    assert status_of(await world.get(f"http://nas.local:{site.port}/")) == 200
    assert world.attempts == [("127.0.0.1", site.port)]


async def test_a_redirect_is_a_new_request_with_new_checks(
    make_site: MakeSite, make_world: MakeWorld
) -> None:
    canary = await make_site()

    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/\r\n\r\n" % canary.port)
        await writer.drain()

    site = await make_site(redirect)
    world = await make_world()
    world.names["public.example"] = [[PUBLIC]]
    world.roads[PUBLIC] = site.port
    answered = await world.get("http://public.example/")
    assert status_of(answered) == 302
    location = answered.partition(b"Location: ")[2].partition(b"\r\n")[0].decode()
    assert status_of(await world.get(location)) == 403
    assert canary.connections == 0


async def test_the_proxy_does_not_connect_to_itself(make_world: MakeWorld) -> None:
    world = await make_world("localhost:*", "127.0.0.1:*", "[::1]:*", "0.0.0.0:*", "nas.local:*")
    world.names["nas.local"] = [["127.0.0.1"]]
    for host in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "nas.local"):  # noqa: S104 (nothing is bound)
        assert await world.tunnel_status(f"{host}:{world.port}") == 403
    assert world.attempts == []


async def test_every_port_leaves_out_ports_of_other_services(make_world: MakeWorld) -> None:
    world = await make_world("localhost:*", "127.0.0.1:6379")
    assert await world.tunnel_status("localhost:6379") == 403
    assert await world.tunnel_status("localhost:22") == 403
    assert world.attempts == []
    assert await world.tunnel_status("127.0.0.1:6379") in (200, 502)
    assert world.attempts == [("127.0.0.1", 6379)]


async def test_addresses_are_tried_in_turn(make_site: MakeSite, make_world: MakeWorld) -> None:
    site = await make_site()
    world = await make_world()
    world.names["public.example"] = [[PUBLIC_6, "2606:2800:220:1::2", PUBLIC]]
    world.roads[PUBLIC] = site.port
    assert status_of(await world.get("http://public.example/")) == 200
    assert [address for address, _ in world.attempts] == [PUBLIC_6, PUBLIC]


async def test_a_failure_is_told_apart_from_a_refusal(make_world: MakeWorld) -> None:
    world = await make_world()
    world.names["public.example"] = [[PUBLIC]]
    assert await world.tunnel_status("public.example:443") == 502
    assert await world.tunnel_status("missing.example:443") == 502
    assert world.egress.refusal("public.example", 443) is None
    assert world.egress.failure("public.example", 443) == (
        "public.example:443 cannot be reached: network is unreachable"
    )
    assert (
        world.egress.failure("Missing.Example.", 443) == "no address was found for the name missing.example"
    )
