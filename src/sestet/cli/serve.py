"""``sestet serve``: the server for pages and programs."""

import re
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from sestet.cli.assistant import load, open_app, run, warn_once
from sestet.cli.options import new_program, whole_number
from sestet.cli.show.console import echo
from sestet.config import data_directory
from sestet.config.installation import install_command
from sestet.core.errors import PersonError
from sestet.core.record import replace
from sestet.services.tokens import OWNER_FILE

try:
    from sestet.server.entry import EntryCodes
    from sestet.server.serve import Address, require_safe, serve
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("h11", "starlette", "uvicorn"):
        raise
    raise PersonError(f"the server needs the extra 'server': {install_command('server')}") from error

program = new_program()

_PLAIN = re.compile(r"[\w./:=@+,-]+", re.ASCII)
_UNIT = """# Save this as ~/.config/systemd/user/sestet.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now sestet
# 'loginctl enable-linger' lets it run while you are not logged in.
[Unit]
Description=Sestet, a personal assistant

[Service]
Environment={environment}
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
    """Serve the assistant to pages and programs, over HTTP.

    The owner's token is in the file 'server-token' of the data directory. Ctrl-C stops the server: turns
    that still run go on when it starts again.
    """
    if print_systemd:
        files = {"--tls-certificate": certificate, "--tls-key": key}
        paths = [part for option, file in files.items() if file for part in (option, str(file.absolute()))]
        names = [part for name in allow_host or () for part in ("--allow-host", name)]
        proxy = ["--behind-proxy"] if behind_proxy else []
        echo(_unit(context, ["--host", host, "--port", str(port), *paths, *proxy, *names]))
        return
    address = Address(host, port, certificate, key, behind_proxy, tuple(allow_host or ()))
    run(_serve(context, address, open_browser))


async def _serve(context: typer.Context, address: Address, open_browser: bool) -> None:
    require_safe(address)
    port = await _serve_once(context, address, open_browser)
    while port:
        echo("Sestet starts again, with the settings of now", err=True)
        port = await _serve_once(context, replace(address, port=port), open_browser=False)


async def _serve_once(context: typer.Context, address: Address, open_browser: bool) -> int:
    """Serve until a signal, and return 0; or until the owner asks for a new start, and return the port."""
    loaded = load(context)
    ports: list[int] = []
    async with open_app(context) as app:
        for warning in app.warnings:
            warn_once(warning)

        def on_ready(url: str, codes: EntryCodes) -> None:
            ports.append(int(url.rpartition(":")[2]))
            echo(f"The owner's token: {app.database.path.parent / OWNER_FILE}", err=True)
            echo(f"Sestet listens at {url} (Ctrl-C stops it)", err=True)
            if open_browser:
                # The code is worthless after its first use.
                entrance = f"{address.entrance(url)}/enter?code={codes.new()}"
                # A browser in the terminal ends only when the person leaves it.
                Thread(target=_open_browser, args=(entrance,), daemon=True).start()

        again = await serve(app, address, on_ready, loaded.file, can_restart=True)
    return ports[0] if again else 0


def _open_browser(url: str) -> None:
    if not webbrowser.open(url):
        echo(f"no browser was found; open this within a minute, it works once: {url}", err=True)


def _unit(context: typer.Context, options: Sequence[str]) -> str:
    """A systemd unit that starts the server with these options, on the data and settings of now."""
    config: Path | None = context.obj
    chosen = ["--config", str(config.absolute())] if config else []
    command = [sys.executable, "-m", "sestet", *chosen, "serve", *options]
    return _UNIT.format(
        environment=_quote(f"SESTET_HOME={data_directory().absolute()}"),
        command=" ".join(_quote(part).replace("$", "$$") for part in command),
    )


def _quote(text: str) -> str:
    """A word of a systemd unit, which has its own rules: % stands for a value, and $ for a variable."""
    if any(ord(letter) < ord(" ") for letter in text):
        raise PersonError(f"{text!r} cannot be part of a systemd unit")
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
