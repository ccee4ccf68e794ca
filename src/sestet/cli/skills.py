"""``sestet skills``: lists, shows, trusts, imports and removes skills."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, ExitCode, confirmed, new_program
from sestet.cli.show.console import print_json
from sestet.cli.show.skills import as_data, print_list, print_skill, print_text
from sestet.config import data_directory, load_settings
from sestet.core.clean import reveal
from sestet.core.errors import PersonError
from sestet.processes import workspace_roots
from sestet.services.skills.catalog import Found
from sestet.services.skills.service import Skills
from sestet.services.skills.skill import SkillError

program = new_program("List the skills; show, trust, import and remove them.")

NAME = typer.Argument(metavar="NAME", help="The skill's name.")
YES = typer.Option("--yes", "-y", help="Do not ask.")


@program.command("list")
def list_command(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the skills of every place, with those that are not trusted or cannot be used."""
    with _skills(context) as skills:
        found = skills.catalog.all()
        if as_json:
            print_json([as_data(each) for each in found])
        else:
            print_list(found, [place.directory for place in skills.catalog.places])


@program.command()
def show(
    context: typer.Context,
    name: Annotated[str, NAME],
    file: Annotated[str, typer.Option(metavar="PATH", help="Print one file of it instead.")] = "",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show a skill: where it lies, its files, the scan, and its instructions. Nothing of it runs."""
    with _skills(context) as skills:
        found = skills.catalog.find(name)
        if as_json:
            print_json(as_data(found, whole=True))
        elif file:
            _print_file(found, file)
        else:
            print_skill(found)
            if found.skill is not None:
                typer.echo()
                print_text(found.skill.instructions)
        if found.problem:
            raise typer.Exit(ExitCode.FAILED)


@program.command()
def trust(
    context: typer.Context,
    name: Annotated[str, NAME],
    yes: Annotated[bool, YES] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no more.")] = False,
) -> None:
    """Trust a skill exactly as it is now. After any change of a file, it is not trusted any more."""
    with _skills(context) as skills:
        found = skills.catalog.find(name)
        if revoke:
            was_trusted = skills.revoke(found)
            typer.echo(f"{name}: not trusted any more" if was_trusted else f"{name}: was not trusted")
            raise typer.Exit(0 if was_trusted else ExitCode.FAILED)
        print_skill(found)
        if found.problem:
            raise typer.Exit(ExitCode.FAILED)
        if found.state == "trusted":
            typer.echo("trusted already")
            return
        _require_answer(yes, "pass --yes to trust it")
        if not yes and not confirmed(f"Did you read it ('sestet skills show {name}'), and do you trust it?"):
            typer.echo("not trusted: it does nothing")
            raise typer.Exit(ExitCode.FAILED)
        skills.trust(found)
        typer.echo(f"trusted: the operator can run '{name}'")


@program.command("import")
def import_command(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder, or a zip or tar.gz archive.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Copy a skill into Sestet's own folder of skills, and show what a scan finds in it.

    Nothing of it runs, and it does nothing until you trust it.
    """
    with _skills(context) as skills:
        found = skills.import_skill(skills.read_source(source))
        if as_json:
            print_json(as_data(found))
            return
        print_skill(found)
        if found.state != "trusted":
            typer.echo(f"imported, and inert until you trust it: sestet skills trust {found.name}")


@program.command()
def remove(context: typer.Context, name: Annotated[str, NAME], yes: Annotated[bool, YES] = False) -> None:
    """Delete a skill from Sestet's own folder of skills."""
    with _skills(context) as skills:
        skills.require_own(name)
        _require_answer(yes, "pass --yes to delete it")
        if not yes and not confirmed(f"Delete the skill '{name}' for good?"):
            typer.echo("not deleted")
            raise typer.Exit(ExitCode.FAILED)
        typer.echo(f"deleted: {skills.remove(name)}")


def _print_file(found: Found, path: str) -> None:
    if found.skill is None:
        raise PersonError(f"the skill '{found.name}' cannot be used: {reveal(found.problem)}")
    files = found.skill.files
    if path not in files:
        known = ", ".join(map(reveal, files))
        raise PersonError(f"the skill '{found.name}' has no file '{path}'; it has: {known}")
    print_text(files[path].decode("utf-8", "replace"))


def _require_answer(yes: bool, way_out: str) -> None:
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        typer.echo(f"sestet: not a terminal: {way_out}", err=True)
        raise typer.Exit(ExitCode.MISTAKE)


@contextmanager
def _skills(context: typer.Context) -> Generator[Skills]:
    """The skills of this folder and person; an error is shown without a stack trace."""
    try:
        yield Skills(data_directory(), workspace_roots(load_settings(context.obj).settings))
    except SkillError as error:
        raise PersonError(reveal(str(error))) from error
