"""``sestet eval``: figures of how well requests find their agent, and agents their tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from sestet.agents import default_specs
from sestet.cli.assistant import load, run
from sestet.cli.options import AS_JSON, ExitCode, new_program
from sestet.cli.show.console import open_bar, open_console, print_json
from sestet.cli.show.evals import print_comparison, print_run
from sestet.cli.show.evals_memory import print_month
from sestet.cli.show.evals_page import render_page
from sestet.cli.show.retrieval import print_retrieval
from sestet.config import Settings
from sestet.core.agent import Agent
from sestet.core.clean import clean
from sestet.core.errors import ModelError, PersonError
from sestet.evals.compare import compare as compare_runs
from sestet.evals.compare import describe_comparison
from sestet.evals.figures import figures
from sestet.evals.memory import Played, play, play_rows
from sestet.evals.memory import figures as month_figures
from sestet.evals.memory import misses as month_misses
from sestet.evals.month import Line, read_month, shipped_month
from sestet.evals.newcomers import Newcomers
from sestet.evals.retrieval import describe_figures, read_retrieval_set, try_retrieval
from sestet.evals.runs import Run, RunLog, load_run, open_run_log
from sestet.evals.sets import Case
from sestet.evals.subjects import settings_for, trial_tree
from sestet.evals.trial import (
    Trial,
    carry_out,
    try_newcomers,
    try_orchestrator,
    try_router,
    try_splitting,
    try_tools,
)
from sestet.models.choice import Models

program = new_program("Try routing, tools, retrieval and whole conversations on test sets; compare two runs.")

_LIGHT = typer.Option("--light", help="The embedded router without its sentence encoder.")
_SET = typer.Option("--set", metavar="FILE", help="JSON lines, one case each; else the set that ships.")
_OUT = typer.Option(
    metavar="FILE", help="Write each result there at once; the same command again goes on from there."
)
_HTML = typer.Option("--html", metavar="FILE", help="Write a page with tables and a picture of the matrix.")
_MODEL = "offline, configured, or one of your providers' as provider/model"
_Case = TypeVar("_Case", bound=Case)


class _Options(NamedTuple):
    """The options that every trial has."""

    model: str
    set_file: Path | None
    out: Path | None
    html: Path | None
    as_json: bool


class _Lived(NamedTuple):
    """A month through the assistant, and its rows alone."""

    played: Played
    rows: Played


class _Tried(NamedTuple):
    """The agents that are tried, and the models that answer for them."""

    root: Agent
    models: Models


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
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Test which agent gets a request, by the embedded router or by a model as the orchestrator."""
    raise typer.Exit(_eval_routing(context, _Options(model, set_file, out, html, as_json), light))


@program.command("multipart")
def multipart(
    context: typer.Context,
    light: Annotated[bool, _LIGHT] = False,
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Test whether the embedded router finds the parts of a request and the owner of each."""
    raise typer.Exit(_eval_multipart(context, _Options("", set_file, out, html, as_json), light))


@program.command("tools")
def tools(
    context: typer.Context,
    model: Annotated[str, typer.Option(metavar="MODEL", help=f"{_MODEL.capitalize()}.")] = "offline",
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Test which tool a specialist calls first, and with which arguments; no tool is run."""
    raise typer.Exit(_eval_tools(context, _Options(model, set_file, out, html, as_json)))


@program.command("newcomer")
def newcomer(
    context: typer.Context,
    model: Annotated[str, typer.Option(metavar="MODEL", help=f"{_MODEL.capitalize()}.")] = "offline",
    set_file: Annotated[Path | None, _SET] = None,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Play the conversations of newcomers with real tools, in folders of their own, and grade the replies."""
    raise typer.Exit(_eval_newcomer(context, _Options(model, set_file, out, html, as_json)))


@program.command("retrieval")
def retrieval(
    context: typer.Context,
    set_file: Annotated[
        Path | None,
        typer.Option(
            "--set", metavar="FILE", help="JSON lines: passages, then questions; else the set that ships."
        ),
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Test how well stored passages are found: by words, by their meaning, and by both."""
    settings = load(context).settings
    with open_bar("retrieval", hidden=as_json) as watch:
        found = run(try_retrieval(read_retrieval_set(set_file), settings.embedding, watch))
    if as_json:
        print_json(describe_figures(found))
    else:
        print_retrieval(open_console(), found)


@program.command("memory")
def memory(
    context: typer.Context,
    model: Annotated[str, typer.Option(metavar="MODEL", help=f"{_MODEL.capitalize()}.")] = "offline",
    set_file: Annotated[Path | None, _SET] = None,
    misses: Annotated[bool, typer.Option("--misses", help="Also list the messages that went wrong.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Live a month of one person in a new home: tell, change, forget and ask, and count what was right."""
    settings = settings_for(load(context).settings, model)
    month = read_month(set_file or shipped_month())
    found = run(_live(settings, month))
    told = month_figures(*found)
    if as_json:
        print_json(told | {"misses": month_misses(found.played)} if misses else told)
    else:
        print_month(open_console(), told, month_misses(found.played) if misses else {})


async def _live(settings: Settings, month: Sequence[Line]) -> _Lived:
    with open_bar("memory") as watch:

        def tell(done: int) -> None:
            if watch:
                watch(done, len(month), "")

        return _Lived(await play(settings, month, tell), await play_rows(settings, month))


@program.command("show")
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run that --out wrote.")],
    html: Annotated[Path | None, _HTML] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show a saved run again, also one that is not complete."""
    _present(load_run(run), html, as_json)


@program.command("compare")
def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A run that --out wrote.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another run of the same trial.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Compare two saved runs: the difference, whether it can be chance, and the requests that changed."""
    runs = load_run(before), load_run(after)
    found = compare_runs(*runs)
    if as_json:
        print_json(describe_comparison(found))
    else:
        print_comparison(open_console(), runs[0].info, runs[1].info, found)


def _eval_routing(context: typer.Context, options: _Options, light: bool) -> int:
    """The exit code: 0 when every case was tried."""
    settings = load(context).settings
    if not options.model:
        return _finish(options, try_router(default_specs(), options.set_file, light=light))
    if light:
        raise typer.BadParameter("--light is for the embedded router: leave out --model")
    root, models = _open_models(settings, options.model)
    trial = try_orchestrator(root, default_specs(), models.of, options.set_file)
    return _finish(options, trial, models)


def _eval_multipart(context: typer.Context, options: _Options, light: bool) -> int:
    """The exit code: 0 when every case was tried."""
    load(context)
    return _finish(options, try_splitting(default_specs(), options.set_file, light=light))


def _eval_tools(context: typer.Context, options: _Options) -> int:
    """The exit code: 0 when every case was tried."""
    root, models = _open_models(load(context).settings, options.model)
    return _finish(options, try_tools(root, models.of, options.set_file), models)


def _eval_newcomer(context: typer.Context, options: _Options) -> int:
    """The exit code: 0 when every case was tried."""
    settings = settings_for(load(context).settings, options.model)
    newcomers = Newcomers(settings)
    return _finish(options, try_newcomers(settings, newcomers, options.set_file), newcomers)


def _present(finished: Run, html: Path | None, as_json: bool) -> None:
    """The figures of a run as a page, as JSON or on the terminal."""
    if html:
        html.write_text(render_page(finished), encoding="utf-8", errors="replace")
    if as_json:
        print_json(figures(finished))
    else:
        print_run(open_console(), finished)


def _open_models(settings: Settings, model: str) -> _Tried:
    settings = settings_for(settings, model)
    root = trial_tree(settings, default_specs())
    return _Tried(root, Models(settings, root, default_specs(), None))


def _finish(options: _Options, trial: Trial[_Case], used: Models | Newcomers | None = None) -> int:
    """Try the cases that are left, keep their results, and show the figures."""
    _require_place(options)
    with open_run_log(trial.info, options.out) as log:
        if done := len(log.run.results):
            said = f"{options.out}: {done} of {trial.info.cases} cases had been tried before."
            typer.echo(clean(said), err=True)
        try:
            run(_carry_out(trial, log, used))
        except KeyboardInterrupt:
            typer.echo(f"Stopped. {_kept(options, log)}", err=True)
            return ExitCode.STOPPED
        except ModelError as error:
            raise PersonError(f"{error}\n{_kept(options, log)}") from error
    _present(log.run, options.html, options.as_json)
    return 0


def _require_place(options: _Options) -> None:
    """Raise now when the page cannot be written, not after an hour of model calls."""
    if options.html and not options.html.absolute().parent.is_dir():
        raise PersonError(f"{options.html}: there is no such directory")
    if options.html and options.html in (options.set_file, options.out):
        raise PersonError(f"{options.html}: the page needs a file of its own")


async def _carry_out(trial: Trial[_Case], log: RunLog, used: Models | Newcomers | None) -> None:
    try:
        with open_bar(trial.info.eval) as watch:
            await carry_out(trial, log, watch)
    finally:
        if used:
            await used.close()


def _kept(options: _Options, log: RunLog) -> str:
    done = f"{len(log.run.results)} of {log.run.info.cases} cases were tried"
    if options.out:
        return clean(f"{done} and are kept in {options.out}; the same command goes on with the rest.")
    return f"{done}; with --out FILE they would have been kept, to go on later."
