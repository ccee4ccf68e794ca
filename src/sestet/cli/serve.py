"""``sestet serve``: the server for pages and programs."""

import shlex
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.assistant import load, open_app, run, warn_once
from sestet.cli.options import new_program, whole_number
from sestet.cli.show.console import echo
from sestet.server.entry import EntryCodes
from sestet.server.serve import Address, require_safe, serve
from sestet.services.tokens import OWNER_FILE

program = new_program()

_UNIT = """[Unit]
Description=Sestet, a personal assistant
After=network.target

[Service]
ExecStart={command}
Restart=on-failure
# Calls that have begun get some seconds to end.
TimeoutStopSec=30

[Install]
WantedBy=default.target"""


@program.command("serve")
def serve_here(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(help="The address to listen at; beyond this machine only with TLS.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole_number(0, 65_535), metavar="PORT", help="0 takes a free one.")
    ] = 7373,
    open_browser: Annotated[bool, typer.Option("--open", help="Open a browser that is let in once.")] = False,
    certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="FILE", help="For TLS.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="For TLS.")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy adds TLS; name its host with --allow-host.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="HOST", help="A further name of this server.")
    ] = None,
    print_systemd: Annotated[
        bool, typer.Option("--print-systemd", help="Print a systemd user unit, and serve nothing.")
    ] = False,
) -> None:
    """Serve the assistant to pages and programs on this machine.

    The owner's token is in the file 'server-token' of the data directory. Ctrl-C stops the server: turns
    that still run go on when it starts again.
    """
    if print_systemd:
        echo(_UNIT.format(command=f"{shlex.quote(sys.executable)} -m sestet serve --port {port}"))
        return
    address = Address(host, port, certificate, key, behind_proxy, tuple(allow_host or ()))
    run(_serve(context, address, open_browser))


async def _serve(context: typer.Context, address: Address, open_browser: bool) -> None:
    require_safe(address)

    def on_ready(url: str, codes: EntryCodes) -> None:
        echo(f"Sestet listens at {url} (Ctrl-C stops it)", err=True)
        if open_browser:
            # The code is worthless after its first use.
            webbrowser.open(f"{url}/enter?code={codes.new()}")

    loaded = load(context)
    async with open_app(context) as app:
        for warning in app.warnings:
            warn_once(warning)
        echo(f"The owner's token: {app.database.path.parent / OWNER_FILE}", err=True)
        await serve(app, address, on_ready, loaded.file)
