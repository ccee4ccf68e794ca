"""A program for a network namespace of its own: a machine with public addresses, and the proxy on it.

It prints, as JSON, for each address the status of a tunnel and how many connections the server there got.
"""

import asyncio
import json
import socket
import subprocess

from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.egress import Egress
from tests.services.browser.egress_world import Site, echo, status_of

#: The machine's own addresses, and one of another machine: the route leads back here, from another address.
OWN = ("93.184.216.34", "2606:2800:220:1::34")
ELSEWHERE = "93.184.216.99"


def make_addresses() -> None:
    for command in (
        "ip link set lo up",
        f"ip address add {OWN[0]}/32 dev lo",
        f"ip -6 address add {OWN[1]}/128 dev lo nodad",
        f"ip route add local {ELSEWHERE}/32 dev lo src 127.0.0.1",
    ):
        subprocess.run(command.split(), check=True)


async def main() -> None:
    make_addresses()
    found = dict[str, tuple[int, int]]()
    for address in (*OWN, ELSEWHERE):
        site = Site(echo)
        await site.start(address)

        async def resolve(name: str, leads_to: str = address) -> list[str]:
            return [leads_to]

        egress = Egress(AddressRules(), resolve=resolve)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        await egress.start(listening)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"CONNECT public.example:{site.port} HTTP/1.1\r\n\r\n".encode())
        found[address] = (status_of(await reader.readuntil(b"\r\n\r\n")), site.connections)
        writer.close()
        await egress.close()
        await site.close()
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
