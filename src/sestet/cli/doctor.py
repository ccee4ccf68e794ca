"""``sestet doctor``: what is right, what is not, and the way out."""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sestet.cli.health.check import Check


def doctor(
    context: typer.Context,
    probe: Annotated[
        bool,
        typer.Option("--probe", help="Ask a vendor's model too: one tiny question, which it charges for."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check the set-up, with the way out of each problem.

    A model on your own machine or network is asked whether it calls tools, and its server how much it reads.
    """
    from sestet.cli.opening import run
    from sestet.cli.show.console import print_json

    with _waiting():
        checks = run(_examine(context.obj, probe))
    healthy = all(check.status != "problem" for check in checks)
    if as_json:
        print_json({"healthy": healthy, "checks": [check._asdict() for check in checks]})
    else:
        _print(checks)
    raise typer.Exit(0 if healthy else 1)


def _waiting() -> "AbstractContextManager[object]":
    """Something that moves while a model is being loaded, for whoever looks at a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    from sestet.cli.show.console import open_console

    return open_console(stderr=True).status("examining")


async def _examine(file: "Path | None", probe: bool) -> "list[Check]":
    from sestet.cli.health import (
        assistant,
        embedding,
        graph,
        library,
        machine,
        memory,
        router,
        servers,
        turns,
    )

    about_settings, settings = assistant.check_settings(file)
    return [
        machine.check_python(),
        machine.check_sqlite(),
        machine.check_data_directory(),
        machine.check_database(),
        *turns.check_turns(),
        *library.check_library(),
        *about_settings,
        *([library.check_web_search(settings)] if settings else ()),
        *(await assistant.check_assistant(settings) if settings else ()),
        *(await servers.check_servers(settings, probe=probe) if settings else ()),
        *((embedding.check_embedding(settings),) if settings else ()),
        *(graph.check_graph(settings) if settings else ()),
        *(memory.check_memory(settings) if settings else ()),
        router.check_router(),
        *machine.check_extras(),
    ]


def _print(checks: "list[Check]") -> None:
    from rich.text import Text

    from sestet.cli.show.clean import clean
    from sestet.cli.show.console import align, open_console

    console = open_console()
    styles = {"ok": "green", "warning": "yellow", "problem": "bold red"}
    heads = align([(Text(check.status, style=styles[check.status]), Text(check.name)) for check in checks])
    width = max(head.cell_len for head in heads) + 2
    for check, head in zip(checks, heads, strict=True):
        head.pad_right(width - head.cell_len)
        console.print(head.append(clean(check.detail)), soft_wrap=True)
        if check.way_out:
            console.print(Text(f"{'':{width}}→ {clean(check.way_out)}", style="dim"), soft_wrap=True)
    problems = sum(check.status == "problem" for check in checks)
    verdict = f"{problems} problem{'' if problems == 1 else 's'}." if problems else "Everything works."
    console.print(Text(f"\n{verdict}", style="bold red" if problems else "bold"))
