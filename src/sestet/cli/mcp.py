"""``sestet mcp``: adds, lists, tries, trusts and removes MCP servers."""

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Annotated

import typer
from rich.text import Text

from sestet.agents import default_specs
from sestet.assembly import opened_vault
from sestet.cli.assistant import load, open_app, run
from sestet.cli.options import AS_JSON, ExitCode, confirmed, new_program
from sestet.cli.show.console import align, echo, open_console, print_json, print_line
from sestet.cli.vault_prompts import unlock
from sestet.config import data_directory
from sestet.config.edit import edit_settings, file_to_edit, remove_setting
from sestet.config.installation import install_command
from sestet.config.mcp_settings import McpServerSettings
from sestet.core.clean import clean, reveal
from sestet.core.errors import PersonError, ToolError
from sestet.core.masking import mask_address
from sestet.core.schema import JsonValue
from sestet.plugins.find import find_plugins
from sestet.processes import open_mcp, workspace_roots
from sestet.server.host import hosting
from sestet.services.mcp.entries import Server, entry_problem
from sestet.services.mcp.listing import ListedTool, difference
from sestet.services.mcp.pins import PinList
from sestet.services.mcp.servers import McpServers, tool_name

program = new_program("Add, try, trust and remove MCP servers, whose tools your agents get.")

NAME = typer.Argument(metavar="NAME", help="The server's name, which begins the names of its tools.")
_STYLES = {"ready": "green", "changed": "bold red", "unusable": "bold red"}


@program.command()
def add(
    context: typer.Context,
    name: Annotated[str, NAME],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND ARGUMENTS...]", help="The program that is the server."),
    ] = None,
    url: Annotated[str, typer.Option(metavar="URL", help="Its address, in place of a command.")] = "",
    agent: Annotated[str, typer.Option(metavar="AGENT", help="The agent that gets its tools.")] = "",
    about: Annotated[str, typer.Option(metavar="TEXT", help="What it is for, in your words.")] = "",
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A variable of the program; a value may be vault:NAME."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A header of each request.")
    ] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Start the program in the sandbox.")] = False,
    network: Annotated[
        bool, typer.Option("--network", help="Let it use the network in the sandbox.")
    ] = False,
) -> None:
    """Write a server into the settings. Nothing is started, and none of its tools can be called yet."""
    loaded = load(context)
    if name in loaded.settings.mcp_servers:
        raise PersonError(f"there is an MCP server '{name}' already; 'sestet mcp remove {name}' removes it")
    words = command or []
    entry = McpServerSettings(
        command=words[0] if words else "",
        args=tuple(words[1:]),
        env=_pairs(env or (), "--env"),
        url=url,
        headers=_pairs(header or (), "--header"),
        agent=agent,
        about=about,
        sandbox=sandbox,
        network=network,
    )
    if problem := entry_problem(name, entry):
        raise PersonError(f"'{name}' is not added: {problem}")
    _require_agent(agent)
    file = file_to_edit(context.obj)
    edit_settings(file, dict(_changes(name, entry)))
    echo(f"{file}: added '{name}'", err=True)
    echo(f"Next: 'sestet mcp trust {name}' starts it, shows its tools, and asks you.", err=True)


@program.command("list")
def list_command(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the servers, with whether their tools can be called. None is started."""
    run(_list(context, as_json))


@program.command("test")
def try_server(
    context: typer.Context, name: Annotated[str, NAME], as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Start a server and list its tools. No tool is called."""
    run(_test(context, name, as_json))


@program.command()
def trust(
    context: typer.Context,
    name: Annotated[str, NAME],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no more.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show the tools of a server as it describes them now, and trust exactly these."""
    if revoke:
        was_trusted = _pins(context).forget(name)
        echo(f"{name}: not trusted any more" if was_trusted else f"{name}: was not trusted", err=True)
        raise typer.Exit(0 if was_trusted else ExitCode.FAILED)
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        echo("sestet: not a terminal: pass --yes to trust it", err=True)
        raise typer.Exit(ExitCode.MISTAKE)
    run(_trust(context, name, yes, as_json))


@program.command()
def remove(context: typer.Context, name: Annotated[str, NAME]) -> None:
    """Remove a server from the settings, and forget that it was trusted."""
    if name not in load(context).settings.mcp_servers:
        raise PersonError(f"there is no MCP server '{name}'; 'sestet mcp list' shows them")
    file = file_to_edit(context.obj)
    remove_setting(file, ("mcpServers", name))
    _pins(context).forget(name)
    echo(f"{file}: removed '{name}'", err=True)


@program.command()
def serve(context: typer.Context) -> None:
    """Be an MCP server on stdin and stdout, for a program that starts this command."""
    run(_serve(context))


async def _serve(context: typer.Context) -> None:
    try:
        # Loaded on use: the other commands start without the kit.
        surface = import_module("sestet.server.mcp_server")
    except ModuleNotFoundError as error:
        raise PersonError(f"MCP needs an extra: {install_command('mcp')}") from error
    async with open_app(context) as app, hosting(app) as host:
        await surface.serve_stdio(host)


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not name or not sign:
            raise typer.BadParameter(f"{option} must be NAME=VALUE, got {name!r}.")
        pairs[name] = value
    return pairs


def _changes(name: str, entry: McpServerSettings) -> "list[tuple[tuple[str, ...], JsonValue]]":
    key = ("mcpServers", name)
    texts = {"command": entry.command, "url": entry.url, "agent": entry.agent, "about": entry.about}
    found: list[tuple[tuple[str, ...], JsonValue]] = [((*key, n), text) for n, text in texts.items() if text]
    if entry.args:
        found.append(((*key, "args"), list(entry.args)))
    for group, values in (("env", entry.env), ("headers", entry.headers)):
        found += (((*key, group, one), str(value)) for one, value in values.items())
    flags = {"sandbox": entry.sandbox, "network": entry.network}
    return [*found, *(((*key, flag), True) for flag, is_on in flags.items() if is_on)]


def _require_agent(agent: str) -> None:
    names = [spec.name for spec in (*default_specs(), *find_plugins().specs)]
    if agent and agent not in names:
        raise PersonError(f"there is no agent '{agent}'; there are: {', '.join(names)}")


def _pins(context: typer.Context) -> PinList:
    return PinList(data_directory(), workspace_roots(load(context).settings))


@asynccontextmanager
async def _open(context: typer.Context, *, keys: bool = False) -> AsyncGenerator[McpServers]:
    """The servers of the settings. ``keys``: with the values of the vault, which a start needs."""
    loaded = load(context)
    settings = loaded.settings
    if keys:
        async with opened_vault(data_directory(), settings, unlock) as vault:
            settings = vault.settings
    names = [spec.name for spec in (*default_specs(), *find_plugins(loaded).specs)]
    servers = open_mcp(settings, data_directory(), loaded.file, names)
    try:
        yield servers
    except ToolError as error:
        raise PersonError(reveal(str(error))) from error
    finally:
        await servers.close()


async def _list(context: typer.Context, as_json: bool) -> None:
    async with _open(context) as servers:
        if as_json:
            print_json([_as_data(server) for server in servers.servers])
            return
        if not servers.servers:
            echo("There is no MCP server yet; 'sestet mcp add' adds one.", err=True)
        console = open_console()
        for line in align(_row(server) for server in servers.servers):
            print_line(console, line)
        for warning in servers.warnings:
            echo(f"warning: {clean(warning)}", err=True)


async def _test(context: typer.Context, name: str, as_json: bool) -> None:
    async with _open(context, keys=True) as servers:
        tools = await servers.look(name)
        (server,) = (each for each in servers.servers if each.name == name)
        changes = difference(server.known.tools, tools) if server.known.digest else None
        if as_json:
            print_json({**_as_data(server), "listed": [_tool_data(server, tool) for tool in tools]})
        else:
            _print_tools(server, tools)
            echo(f"'{name}' answers", err=True)
        if changes and not changes.is_none:
            raise PersonError(
                f"'{name}' is quarantined: its tools are not those that you trusted ({changes})"
            )


async def _trust(context: typer.Context, name: str, yes: bool, as_json: bool) -> None:
    async with _open(context, keys=True) as servers:
        tools = await servers.look(name)
        (server,) = (each for each in servers.servers if each.name == name)
        if not as_json:
            _print_tools(server, tools)
            if server.known.digest and not (changes := difference(server.known.tools, tools)).is_none:
                echo(f"Since you trusted it: {changes}")
        if not yes and not confirmed(f"Do you trust these tools of '{name}'?"):
            echo("not trusted: nobody can call them", err=True)
            raise typer.Exit(ExitCode.FAILED)
        _pins(context).trust(name, server.entry, tools)
        if as_json:
            print_json({"name": name, "trusted": [_tool_data(server, tool) for tool in tools]})
        agent = server.entry.agent
        echo(f"trusted: {agent} can call them" if agent else f"trusted; {server.way_out}", err=True)


def _print_tools(server: Server, tools: Sequence[ListedTool]) -> None:
    """The tools with their descriptions, in which invisible characters are written out."""
    console = open_console()
    for tool in tools:
        arguments = tool.parameters.get("properties", {})
        shown = ", ".join(arguments) if isinstance(arguments, dict) else ""
        console.print(Text(f"{reveal(tool_name(server.name, tool.name))}({reveal(shown)})", style="bold"))
        console.print(Text(f"  {reveal(tool.description) or '(no description)'}"))


def _row(server: Server) -> tuple[Text, ...]:
    entry = server.entry
    where = mask_address(entry.url) if entry.url else " ".join((entry.command, *entry.args))
    return (
        Text(clean(server.name), style="bold"),
        Text(server.state, style=_STYLES.get(server.state, "yellow")),
        Text(clean(entry.agent or "no agent")),
        Text(f"{len(server.tools)} tools"),
        Text(clean(where), style="dim"),
    )


def _as_data(server: Server) -> dict[str, object]:
    return {
        "name": server.name,
        "state": server.state,
        "why": server.why,
        "wayOut": server.way_out,
        "agent": server.entry.agent,
        "command": [server.entry.command, *server.entry.args] if server.entry.command else None,
        "url": mask_address(server.entry.url) or None,
        "sandbox": server.entry.sandbox,
        "tools": [_tool_data(server, tool) for tool in server.tools],
    }


def _tool_data(server: Server, tool: ListedTool) -> dict[str, object]:
    return {"name": tool_name(server.name, tool.name), "description": tool.description, "digest": tool.digest}
