"""``sestet trust``: shows the settings and plug-ins of the working directory, and accepts them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, ExitCode, ask_yes_or_no, new_program
from sestet.cli.show.console import print_json
from sestet.config import Workspace, data_directory, find_workspace
from sestet.config.settings_text import parse_yaml
from sestet.config.trust import SETTINGS_FILE, Effect, decide, describe_effects, read_decisions
from sestet.config.trust import revoke as revoke_decision
from sestet.core.clean import clean, reveal
from sestet.core.errors import ConfigError, PersonError

program = new_program()

_SHOWN = 200


@program.command()
def trust(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept without asking.")] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Show what they would turn on, and decide nothing.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Forget your decision on this folder.")] = False,
    only_list: Annotated[
        bool, typer.Option("--list", help="List the folders that you accepted or declined.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Accept the settings and plug-ins of this folder: its sestet.yaml and .agents/.

    Until you accept them, Sestet ignores them. It first shows what they would turn on, and asks again after
    each change.
    """
    if sum((yes, show, revoke, only_list)) > 1:
        raise typer.BadParameter("give one of --yes, --show, --revoke and --list")
    if only_list:
        _list(as_json)
    elif revoke:
        raise typer.Exit(_revoke(as_json))
    else:
        raise typer.Exit(_trust(yes, show, as_json))


def offer_trust(named: Path | None) -> None:
    """At a terminal, ask once about a folder that is new or has changed; Enter leaves it ignored.

    With a settings file that the person named, only plug-ins are a reason to ask.
    """
    workspace = find_workspace()
    if workspace is None or workspace.state not in ("new", "changed"):
        return
    if named is not None and not workspace.has_plugins:
        return
    try:
        _print(workspace)
    except ConfigError:
        # Settings that cannot be read cannot be accepted. They stay ignored, and a warning says so.
        return
    decide(workspace, data_directory(), accepted=_confirmed(workspace))


def _trust(yes: bool, show: bool, as_json: bool) -> int:
    workspace = find_workspace()
    if workspace is not None and workspace.problem:
        raise PersonError(f"{workspace.directory}: {workspace.problem}")
    if workspace is not None and yes:
        _effects(workspace)  # settings that cannot be read cannot be accepted
        decide(workspace, data_directory(), accepted=True)
        workspace = workspace._replace(state="accepted")
    if as_json:
        print_json(_described(workspace))
        return 0 if workspace is None or workspace.is_accepted or show else 1
    if workspace is None:
        typer.echo("there is nothing to accept: this folder has no sestet.yaml and no .agents/")
        return 0
    _print(workspace)
    if show:
        return 0
    if workspace.is_accepted:
        typer.echo("accepted")
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        typer.echo("sestet: not a terminal: pass --yes to accept, or --show", err=True)
        return ExitCode.MISTAKE
    accepted = _confirmed(workspace)
    decide(workspace, data_directory(), accepted=accepted)
    typer.echo("accepted" if accepted else "not accepted: Sestet ignores them in this folder")
    return 0 if accepted else 1


def _effects(workspace: Workspace) -> list[Effect]:
    file = str(workspace.directory / SETTINGS_FILE)
    return describe_effects(workspace, lambda text: parse_yaml(text, file))


def _print(workspace: Workspace) -> None:
    states = {"accepted": "accepted", "changed": "changed since you accepted it"}
    typer.echo(f"{clean(str(workspace.directory))}: {states.get(workspace.state, 'not accepted')}")
    for path in workspace.changes:
        typer.echo(f"  changed: {_shown('changed', path)}")
    for what, value in _effects(workspace):
        typer.echo(f"  {what}: {_shown(what, value)}")


def _shown(what: str, value: str) -> str:
    """The value on one line, with invisible characters written out. Only a plain setting may be cut.

    The rest of an address or of a receiver would decide who gets what.
    """
    line = reveal(value).replace("\n", "<U+000A>")
    left_out = len(line) - _SHOWN
    if what != "sets" or left_out <= 0:
        return line
    return f"{line[:_SHOWN]}… ({left_out:,} more characters: read the file)"


def _confirmed(workspace: Workspace) -> bool:
    if workspace.has_plugins:
        typer.echo("Its Python files would run with all of your rights. Read them first.")
    return ask_yes_or_no("Do you trust this folder, and accept all of this?")


def _described(workspace: Workspace | None) -> dict[str, object]:
    if workspace is None:
        return {"directory": str(Path.cwd()), "state": "nothing", "changes": [], "effects": []}
    effects = [{"what": what, "value": value} for what, value in _effects(workspace)]
    return {
        "directory": str(workspace.directory),
        "state": workspace.state,
        "changes": list(workspace.changes),
        "effects": effects,
    }


def _revoke(as_json: bool) -> int:
    was_there = revoke_decision(Path.cwd(), data_directory())
    if as_json:
        print_json({"directory": str(Path.cwd()), "revoked": was_there})
    else:
        typer.echo("your decision is forgotten" if was_there else "there was no decision on this folder")
    return 0 if was_there else 1


def _list(as_json: bool) -> None:
    decisions = read_decisions(data_directory())
    if as_json:
        print_json(
            [
                {"directory": path, "digest": entry.digest, "accepted": entry.accepted, "at": entry.at}
                for path, entry in decisions.items()
            ]
        )
        return
    if not decisions:
        typer.echo("you have accepted and declined no folder")
    for path, entry in decisions.items():
        typer.echo(f"{'accepted' if entry.accepted else 'declined'}  {clean(path)}")
