"""``sestet graph``: the facts, how they hang together, and those that wait for a decision."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sestet.cli.options import LARGEST

if TYPE_CHECKING:
    from sestet.app import App
    from sestet.services.extraction import Extraction
    from sestet.storage.graph import GraphStore
    from sestet.storage.traversal import Direction

program = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

_AS_JSON = typer.Option("--json", help="Print JSON.")
_DIRECTION = typer.Option(help="out: from subject to object; in: against it; both.")
_PREDICATE = typer.Option("--predicate", metavar="NAME", help="Only these links; may be given several times.")
_LIMIT = typer.Option(min=1, max=100_000, metavar="N", help="How many facts at most.")


class _Opened(NamedTuple):
    graph: "GraphStore"
    extraction: "Extraction"


@program.callback()
def graph() -> None:
    """Look at the knowledge graph, correct it, and decide on what was found in saved texts."""


@program.command("show")
def show(
    context: typer.Context,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The thing to start from, by its name.")],
    depth: Annotated[int, typer.Option(min=1, max=20, metavar="N", help="How many steps away.")] = 2,
    direction: Annotated[str, _DIRECTION] = "both",
    predicate: Annotated[list[str] | None, _PREDICATE] = None,
    limit: Annotated[int, _LIMIT] = 100,
    as_json: Annotated[bool, _AS_JSON] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it into this file.")] = None,
) -> None:
    """Show what is connected with a thing, and where each fact came from."""
    from sestet.cli.opening import run

    run(_show(context, _Wanted(node, depth, _direction(direction), predicate or [], limit), as_json, svg))


@program.command("path")
def path(
    context: typer.Context,
    start: Annotated[str, typer.Argument(metavar="FROM", help="The thing at one end.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="The thing at the other end.")],
    depth: Annotated[int, typer.Option(min=1, max=20, metavar="N", help="How many steps at most.")] = 6,
    direction: Annotated[str, _DIRECTION] = "both",
    predicate: Annotated[list[str] | None, _PREDICATE] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Show the shortest chain of facts between two things."""
    from sestet.cli.opening import run

    run(_path(context, _Wanted(start, depth, _direction(direction), predicate or [], 0), end, as_json))


@program.command("list")
def list_facts(
    context: typer.Context,
    predicate: Annotated[
        str, typer.Option("--predicate", metavar="NAME", help="Only facts of this link.")
    ] = "",
    limit: Annotated[int, _LIMIT] = 50,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """List the facts, the latest first, each with where it came from."""
    from sestet.cli.opening import run

    run(_list(context, predicate, limit, as_json))


@program.command("add")
def add(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Who or what it is about.")],
    predicate: Annotated[str, typer.Argument(metavar="PREDICATE", help="How they are linked.")],
    object: Annotated[str, typer.Argument(metavar="OBJECT", help="What it is linked to.")],
) -> None:
    """Add a fact; 'graph predicates' lists the links."""
    from sestet.cli.opening import run

    run(_add(context, (subject, predicate, object)))


@program.command("remove")
def remove(
    context: typer.Context,
    fact: Annotated[
        list[str], typer.Argument(metavar="ID | SUBJECT PREDICATE OBJECT", help="Its number, or its parts.")
    ],
) -> None:
    """Remove a fact for good."""
    from sestet.cli.opening import run

    run(_remove(context, fact))


@program.command("predicates")
def predicates(context: typer.Context, as_json: Annotated[bool, _AS_JSON] = False) -> None:
    """List the links that facts can have, and how many facts have each."""
    from sestet.cli.opening import run

    run(_predicates(context, as_json))


@program.command("review")
def review(
    context: typer.Context,
    accept: Annotated[
        list[int] | None, typer.Option(max=LARGEST, metavar="ID", help="Put it into the graph.")
    ] = None,
    reject: Annotated[
        list[int] | None, typer.Option(max=LARGEST, metavar="ID", help="Never propose it again.")
    ] = None,
    accept_all: Annotated[bool, typer.Option("--accept-all", help="Put everything into the graph.")] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """List the facts that were found in saved texts, and decide on them."""
    from sestet.cli.opening import run

    run(_review(context, accept or [], reject or [], accept_all, as_json))


class _Wanted(NamedTuple):
    """What a walk or a path is asked for."""

    node: str
    depth: int
    direction: "Direction"
    predicates: list[str]
    limit: int


def _direction(text: str) -> "Direction":
    from typing import cast, get_args

    from sestet.storage.traversal import Direction

    if text not in get_args(Direction):
        raise typer.BadParameter(
            f"'{text}' is none of {', '.join(get_args(Direction))}", param_hint="--direction"
        )
    return cast("Direction", text)


def _opened(app: "App") -> _Opened:
    from sestet.core.errors import PersonError

    extraction = app.background.extraction
    if app.graph is None or extraction is None:
        raise PersonError("the graph is switched off; graph.enabled in the settings turns it on")
    return _Opened(app.graph, extraction)


def _known(opened: _Opened, name: str) -> str:
    """A predicate that is declared, or that some fact has."""
    known = opened.extraction.predicates.knows(name)
    return _declared(opened, name, None if known else opened.graph.used_predicates())


def _declared(opened: _Opened, name: str, also: "dict[str, int] | None" = None) -> str:
    from sestet.core.errors import PersonError
    from sestet.storage.graph import UnknownPredicateError

    try:
        return opened.extraction.predicates.require(name, also or ())
    except UnknownPredicateError as error:
        raise PersonError(str(error)) from error


def _require_node(graph: "GraphStore", node: str) -> None:
    from sestet.core.errors import PersonError

    if not graph.holds(node):
        similar = graph.similar_nodes(node, 5) if node.strip() else []
        known = f"; it knows {', '.join(repr(name) for name in similar)}" if similar else ""
        raise PersonError(f"the graph holds nothing about '{node}'{known}")


async def _show(context: typer.Context, wanted: _Wanted, as_json: bool, svg: Path | None) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.graph import describe_walk, grow, print_walk

    async with open_app(context) as app:
        opened = _opened(app)
        _require_node(opened.graph, wanted.node)
        names = [_known(opened, name) for name in wanted.predicates]
        found = opened.graph.traverse(
            wanted.node, wanted.depth, wanted.limit, predicates=names, direction=wanted.direction
        )
        if svg is not None:
            from sestet.cli.show.graph_svg import draw

            _write(svg, draw(grow(wanted.node, found), found.complete))
        if as_json:
            print_json(describe_walk(wanted.node, found))
        elif svg is None:
            print_walk(open_console(), grow(wanted.node, found), found)


def _write(file: Path, text: str) -> None:
    from sestet.core.errors import PersonError

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PersonError(f"'{file}' cannot be written: {error.strerror}") from error
    typer.echo(f"drawn into {file}", err=True)


async def _path(context: typer.Context, wanted: _Wanted, end: str, as_json: bool) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.graph import describe_fact, print_facts

    async with open_app(context) as app:
        opened = _opened(app)
        for node in (wanted.node, end):
            _require_node(opened.graph, node)
        names = [_known(opened, name) for name in wanted.predicates]
        found = opened.graph.path(
            wanted.node, end, wanted.depth, predicates=names, direction=wanted.direction
        )
        if as_json:
            facts = [describe_fact(triple) for triple in found.triples]
            print_json({"nodes": found.nodes, "facts": facts, "complete": found.complete})
        elif found.triples:
            print_facts(open_console(), found.triples)
        elif found.nodes:
            typer.echo(f"'{wanted.node}' and '{end}' are the same.", err=True)
        else:
            why = "" if found.complete else "; the search was given up, the graph is too wide there"
            typer.echo(f"No facts lead there within {wanted.depth} steps{why}.", err=True)
        if not found.nodes:
            raise typer.Exit(1)


async def _list(context: typer.Context, predicate: str, limit: int, as_json: bool) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.graph import describe_fact, print_facts

    async with open_app(context) as app:
        opened = _opened(app)
        name = _known(opened, predicate) if predicate else ""
        facts = opened.graph.latest(limit, name)
        if as_json:
            print_json([describe_fact(fact) for fact in facts])
        elif facts:
            print_facts(open_console(), facts)
        else:
            typer.echo("The graph is empty; 'sestet graph add' adds a fact.", err=True)


async def _add(context: typer.Context, edge: tuple[str, str, str]) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console
    from sestet.cli.show.graph import print_facts
    from sestet.core.errors import PersonError
    from sestet.core.label import CLEAN, Origin
    from sestet.storage.graph import node_key

    async with open_app(context) as app:
        opened = _opened(app)
        subject, predicate, object_ = edge
        if not node_key(subject) or not node_key(object_):
            raise PersonError("a fact needs a subject and an object")
        name = _declared(opened, predicate)
        print_facts(open_console(), [opened.graph.add(subject, name, object_, Origin("", "", CLEAN))])


async def _remove(context: typer.Context, fact: list[str]) -> None:
    from sestet.cli.opening import open_app
    from sestet.core.errors import PersonError

    if not (len(fact) == 3 or (len(fact) == 1 and fact[0].isdecimal() and int(fact[0]) <= LARGEST)):
        raise typer.BadParameter("give the number of a fact, or its subject, predicate and object")
    async with open_app(context) as app:
        opened = _opened(app)
        if len(fact) == 1:
            row = opened.graph.get(int(fact[0]))
            edge = row[1:4] if row else None
        else:
            edge = (fact[0], _known(opened, fact[1]), fact[2])
        removed = opened.graph.remove(*edge) if edge else None
        if removed is None:
            raise PersonError(f"there is no fact '{' '.join(fact)}', so nothing was removed")
        from sestet.cli.show.clean import one_line

        typer.echo(f"removed: {one_line(' → '.join(removed[1:4]), 1_000)}")


async def _predicates(context: typer.Context, as_json: bool) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.graph import describe_predicates, print_predicates

    async with open_app(context) as app:
        opened = _opened(app)
        rows = describe_predicates(opened.extraction.predicates, opened.graph.used_predicates())
        if as_json:
            print_json([row._asdict() for row in rows])
        else:
            print_predicates(open_console(), rows)


async def _review(
    context: typer.Context, accept: list[int], reject: list[int], accept_all: bool, as_json: bool
) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.graph import describe_proposal, print_proposals

    async with open_app(context) as app:
        opened = _opened(app)
        await _read_what_waits(opened.extraction)
        _decide(opened, accept, reject)
        waiting = opened.extraction.store.open_proposals()
        if accept_all:
            known = opened.extraction.predicates.names
            for row in (row for row in waiting if row.predicate in known):
                opened.extraction.store.accept(row)
            waiting = opened.extraction.store.open_proposals()
        if as_json:
            print_json([describe_proposal(row, opened.extraction.predicates) for row in waiting])
        elif waiting:
            print_proposals(open_console(), waiting, opened.extraction.predicates)
        else:
            typer.echo("Nothing waits for a decision.", err=True)


async def _read_what_waits(extraction: "Extraction") -> None:
    """A model that does not answer must not keep the person from deciding on what there is."""
    from sestet.core.errors import ModelError

    try:
        await extraction.read_all()
    except (ModelError, TimeoutError) as error:
        typer.echo(f"{extraction.store.waiting().texts} saved texts are still to be read: {error}", err=True)


def _decide(opened: _Opened, accept: list[int], reject: list[int]) -> None:
    """All of the numbers are looked at before the first decision takes effect."""
    from sestet.core.errors import PersonError

    rows = {id: opened.extraction.store.get(id) for id in (*accept, *reject)}
    for id, row in rows.items():
        if row is None or row.state != "open":
            what = f"was {row.state} already" if row else "does not exist"
            raise PersonError(f"proposal {id} {what}; 'sestet graph review' lists those that wait")
        if id in accept:
            _declared(opened, row.predicate)
    if both := set(accept) & set(reject):
        raise PersonError(f"proposal {min(both)} cannot be accepted and rejected at once")
    for id, row in rows.items():
        if row is not None and id in accept:
            opened.extraction.store.accept(row)
        elif row is not None:
            opened.extraction.store.reject(row)
