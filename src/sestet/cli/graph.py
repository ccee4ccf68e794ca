"""``sestet graph``: the facts, their connections, and the proposed facts that wait for a decision."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sestet.app import App
from sestet.cli.assistant import load, open_app, run
from sestet.cli.options import (
    AS_JSON,
    LARGEST,
    ExitCode,
    ask_yes_or_no,
    is_typed,
    new_program,
    whole_number,
)
from sestet.cli.show.console import echo, open_console, print_json, shorten_home
from sestet.cli.show.graph import (
    grow,
    print_decisions,
    print_facts,
    print_predicates,
    print_proposals,
    print_walk,
)
from sestet.cli.show.graph_svg import draw
from sestet.config.edit import edit_settings, file_to_edit
from sestet.core.clean import clean, one_line
from sestet.core.errors import PersonError
from sestet.services.facts import (
    Direction,
    Facts,
    Predicates,
    Walk,
    describe_fact,
    describe_proposal,
    describe_walk,
    predicate_name,
)

program = new_program("Look at the knowledge graph, correct it, and decide on what was found in saved texts.")

_DIRECTION = typer.Option(help="out: from subject to object; in: from object to subject; both.")
_PREDICATE = typer.Option("--predicate", metavar="NAME", help="Only these links; may be given several times.")
_STEPS = whole_number(1, 20)
_LIMIT = typer.Option(parser=whole_number(1, 100_000), metavar="N", help="How many facts at most.")


@program.command("show")
def show(
    context: typer.Context,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The thing to start from, by its name.")],
    depth: Annotated[int, typer.Option(parser=_STEPS, metavar="N", help="How many steps away.")] = 2,
    direction: Annotated[Direction, _DIRECTION] = "both",
    predicate: Annotated[list[str] | None, _PREDICATE] = None,
    limit: Annotated[int, _LIMIT] = 100,
    as_json: Annotated[bool, AS_JSON] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it into this file.")] = None,
) -> None:
    """Show the facts around a thing, each with its origin."""
    run(_show(context, Walk(node, depth, direction, predicate or ()), limit, as_json, svg))


@program.command("path")
def path(
    context: typer.Context,
    start: Annotated[str, typer.Argument(metavar="FROM", help="The thing at one end.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="The thing at the other end.")],
    depth: Annotated[int, typer.Option(parser=_STEPS, metavar="N", help="How many steps at most.")] = 6,
    direction: Annotated[Direction, _DIRECTION] = "both",
    predicate: Annotated[list[str] | None, _PREDICATE] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show the shortest chain of facts between two things."""
    run(_path(context, Walk(start, depth, direction, predicate or ()), end, as_json))


@program.command("list")
def list_facts(
    context: typer.Context,
    predicate: Annotated[
        str, typer.Option("--predicate", metavar="NAME", help="Only facts of this link.")
    ] = "",
    limit: Annotated[int, _LIMIT] = 50,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the facts, the latest first, each with its origin."""
    run(_list(context, predicate, limit, as_json))


@program.command("add")
def add(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Who or what it is about.")],
    predicate: Annotated[str, typer.Argument(metavar="PREDICATE", help="How they are linked.")],
    object: Annotated[str, typer.Argument(metavar="OBJECT", help="What it is linked to.")],
) -> None:
    """Add a fact; 'graph predicates' lists the links, and you can add others."""
    _offer_predicate(context, predicate)
    run(_add(context, subject, predicate, object))


@program.command("remove")
def remove(
    context: typer.Context,
    fact: Annotated[
        list[str], typer.Argument(metavar="ID | SUBJECT PREDICATE OBJECT", help="Its number, or its parts.")
    ],
) -> None:
    """Remove a fact for good."""
    run(_remove(context, fact))


@program.command("predicates")
def predicates(
    context: typer.Context,
    add: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Add a link to your settings; may be repeated.")
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the links that facts can have, and how many facts have each; or add one."""
    if add:
        _declare(context, add)
    run(_predicates(context, as_json))


@program.command("review")
def review(
    context: typer.Context,
    accept: Annotated[
        list[int] | None, typer.Option(parser=whole_number(), metavar="ID", help="Put it into the graph.")
    ] = None,
    reject: Annotated[
        list[int] | None, typer.Option(parser=whole_number(), metavar="ID", help="Never propose it again.")
    ] = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Accept every proposal with a declared link.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the facts that were found in saved texts, and decide on them.

    It says which facts were accepted and rejected, then lists those that still wait.
    """
    run(_review(context, accept or [], reject or [], accept_all, as_json))


def _offer_predicate(context: typer.Context, predicate: str) -> None:
    """At a terminal, ask whether an unknown link is to be added. Else the error of the command says how."""
    settings = load(context).settings.graph
    known = Predicates(settings.predicates)
    if not settings.enabled or known.knows(predicate) or not is_typed():
        return
    name = clean(repr(predicate_name(predicate)))
    if ask_yes_or_no(f"There is no link {name} yet. Add {name} to your settings?", err=True):
        _declare(context, [predicate])


def _declare(context: typer.Context, names: list[str]) -> None:
    """Add links to graph.predicates in the settings file."""
    declared = load(context).settings.graph.predicates
    # Raises for a name that cannot be one, before anything is written.
    known, wanted = Predicates(declared), Predicates([*declared, *names])
    added = [name for name in wanted.names if not known.knows(name)]
    if added:
        file = file_to_edit(context.obj)
        edit_settings(file, {("graph", "predicates"): [*declared, *added]})
        place = shorten_home(clean(str(file)))
        echo(f"added to graph.predicates in {place}: {clean(', '.join(added))}", err=True)


def _facts(app: App) -> Facts:
    return Facts(app.graph, app.background.extraction)


async def _show(context: typer.Context, wanted: Walk, limit: int, as_json: bool, svg: Path | None) -> None:
    async with open_app(context) as app:
        found = _facts(app).walk(wanted, limit)
        if svg is not None:
            _write(svg, draw(grow(wanted.node, found), found.complete))
        if as_json:
            print_json(describe_walk(wanted.node, found))
        elif svg is None:
            print_walk(open_console(), grow(wanted.node, found), found)


def _write(file: Path, text: str) -> None:
    try:
        # What is known about the person is theirs alone. An existing file keeps its mode.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise PersonError(f"'{file}' cannot be written: {error.strerror}") from error
    typer.echo(f"drawn into {file}", err=True)


async def _path(context: typer.Context, wanted: Walk, end: str, as_json: bool) -> None:
    async with open_app(context) as app:
        found = _facts(app).path(wanted, end)
        if as_json:
            facts = [describe_fact(triple) for triple in found.triples]
            print_json({"nodes": found.nodes, "facts": facts, "complete": found.complete})
        elif found.triples:
            print_facts(open_console(), found.triples)
        elif found.nodes:
            typer.echo(f"'{wanted.node}' and '{end}' are the same.", err=True)
        else:
            why = "" if found.complete else "; the search stopped early, because the graph is too wide there"
            typer.echo(f"No facts lead there within {wanted.depth} steps{why}.", err=True)
        if not found.nodes:
            raise typer.Exit(ExitCode.FAILED)


async def _list(context: typer.Context, predicate: str, limit: int, as_json: bool) -> None:
    async with open_app(context) as app:
        facts = _facts(app).latest(limit, predicate)
        if as_json:
            print_json([describe_fact(fact) for fact in facts])
        elif facts:
            print_facts(open_console(), facts)
        else:
            typer.echo("The graph is empty; 'sestet graph add' adds a fact.", err=True)


async def _add(context: typer.Context, subject: str, predicate: str, object: str) -> None:
    async with open_app(context) as app:
        print_facts(open_console(), [_facts(app).add(subject, predicate, object)])


async def _remove(context: typer.Context, fact: list[str]) -> None:
    match fact:
        case [number] if number.isdecimal() and int(number) <= LARGEST:
            wanted = int(number)
        case [subject, predicate, object]:
            wanted = (subject, predicate, object)
        case _:
            raise typer.BadParameter("give the number of a fact, or its subject, predicate and object")
    async with open_app(context) as app:
        removed = _facts(app).remove(wanted)
        if removed is None:
            raise PersonError(f"there is no fact '{' '.join(fact)}', so nothing was removed")
        parts = (removed.subject, removed.predicate, removed.object)
        typer.echo(f"removed: {one_line(' → '.join(parts), 1_000)}")


async def _predicates(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        rows = _facts(app).predicates()
        if as_json:
            print_json([row._asdict() for row in rows])
        else:
            print_predicates(open_console(), rows)


async def _review(
    context: typer.Context, accept: list[int], reject: list[int], accept_all: bool, as_json: bool
) -> None:
    async with open_app(context) as app:
        facts = _facts(app)
        # A model that does not answer must not keep the person from deciding on the facts found so far.
        if left := await facts.read_texts():
            typer.echo(left, err=True)
        decided = facts.decide(accept, reject)
        if accept_all:
            decided += facts.accept_declared()
        waiting = facts.proposals()
        if as_json:
            print_json([describe_proposal(row, facts.declared) for row in (*decided, *waiting)])
            return
        if decided or accept_all:
            print_decisions(open_console(), decided)
        if waiting:
            print_proposals(open_console(), waiting, facts.declared)
        else:
            typer.echo("Nothing waits for a decision.", err=True)
