"""``sestet eval``: how well requests find their agent and agents their tools, in figures."""

from pathlib import Path
from typing import Annotated

import typer

program = typer.Typer(
    rich_markup_mode=None,
    help="Try the routing and the choice of tools on test sets; compare two runs.",
    no_args_is_help=True,
)

_LIGHT = typer.Option("--light", help="The embedded router without its sentence encoder.")
_SET = typer.Option("--set", metavar="FILE", help="JSON lines, one case each; else the set that ships.")
_OUT = typer.Option(
    metavar="FILE", help="Write each result there as it comes; the same command again goes on with it."
)
_HTML = typer.Option("--html", metavar="FILE", help="Write a page with tables and a picture of the matrix.")
_AS_JSON = typer.Option("--json", help="Print JSON.")
_MODEL = "offline, configured, or one of your providers' as provider/model"


@program.command("routing")
def routing(
    context: typer.Context,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help=f"{_MODEL.capitalize()}; else the embedded router.")
    ] = "",
    light: Annotated[bool, _LIGHT] = False,
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Try who gets a request: the embedded router, or the first reply of a model as the orchestrator."""
    from sestet.cli.evaluating import Options, eval_routing

    raise typer.Exit(eval_routing(context, Options(model, set_file, out, html, as_json), light))


@program.command("multipart")
def multipart(
    context: typer.Context,
    light: Annotated[bool, _LIGHT] = False,
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Try whether the embedded router sees the parts of a request, and who owns each."""
    from sestet.cli.evaluating import Options, eval_multipart

    raise typer.Exit(eval_multipart(context, Options("", set_file, out, html, as_json), light))


@program.command("tools")
def tools(
    context: typer.Context,
    model: Annotated[str, typer.Option(metavar="MODEL", help=f"{_MODEL.capitalize()}.")] = "offline",
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Try which tool a specialist calls first, and with which arguments; no tool is run."""
    from sestet.cli.evaluating import Options, eval_tools

    raise typer.Exit(eval_tools(context, Options(model, set_file, out, html, as_json)))


@program.command("show")
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run that --out wrote.")],
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Show a saved run again, whole or not."""
    from sestet.cli.evaluating import present
    from sestet.evals.runs import load_run

    present(load_run(run), html, as_json)


@program.command("compare")
def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A run that --out wrote.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another run of the same trial.")],
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Compare two saved runs: the difference, whether it can be chance, and which requests went otherwise."""
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.evals import print_comparison
    from sestet.evals.compare import compare, describe_comparison
    from sestet.evals.runs import load_run

    runs = load_run(before), load_run(after)
    found = compare(*runs)
    if as_json:
        print_json(describe_comparison(found))
    else:
        print_comparison(open_console(), runs[0].info, runs[1].info, found)
