"""The work of ``sestet eval``: a bar while it goes on, results kept as they come, figures at the end."""

from pathlib import Path
from typing import NamedTuple, TypeVar

import typer

from sestet.agents import default_specs
from sestet.cli.opening import load, run
from sestet.cli.show.bar import open_bar
from sestet.cli.show.clean import clean
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.evals import print_run
from sestet.config import Settings
from sestet.core.agent import Agent
from sestet.core.errors import ModelError, PersonError
from sestet.evals.figures import figures
from sestet.evals.runs import Run, RunLog, open_run_log
from sestet.evals.sets import Case
from sestet.evals.subjects import settings_for, trial_tree
from sestet.evals.trial import Trial, carry_out, try_orchestrator, try_router, try_splitting, try_tools
from sestet.models.choice import Models

_INTERRUPTED = 130
_Case = TypeVar("_Case", bound=Case)


class Options(NamedTuple):
    """What every trial can be told."""

    model: str
    set_file: Path | None
    out: Path | None
    html: Path | None
    as_json: bool


class _Tried(NamedTuple):
    """The agents that are tried, and the models that answer for them."""

    root: Agent
    models: Models


def eval_routing(context: typer.Context, options: Options, light: bool) -> int:
    """The exit code: 0 when every case was tried."""
    settings = load(context).settings
    if not options.model:
        return _finish(options, try_router(default_specs(), options.set_file, light=light))
    if light:
        raise typer.BadParameter("--light is about the embedded router, so it goes without --model")
    root, models = _open_models(settings, options.model)
    trial = try_orchestrator(root, default_specs(), models.of, options.set_file)
    return _finish(options, trial, models)


def eval_multipart(context: typer.Context, options: Options, light: bool) -> int:
    """The exit code: 0 when every case was tried."""
    load(context)
    return _finish(options, try_splitting(default_specs(), options.set_file, light=light))


def eval_tools(context: typer.Context, options: Options) -> int:
    """The exit code: 0 when every case was tried."""
    root, models = _open_models(load(context).settings, options.model)
    return _finish(options, try_tools(root, models.of, options.set_file), models)


def present(finished: Run, html: Path | None, as_json: bool) -> None:
    """The figures of a run, in every form that is wanted."""
    if html:
        from sestet.cli.show.evals_html import render_page

        html.write_text(render_page(finished), encoding="utf-8", errors="replace")
    if as_json:
        print_json(figures(finished))
    else:
        print_run(open_console(), finished)


def _open_models(settings: Settings, model: str) -> _Tried:
    settings = settings_for(settings, model)
    root = trial_tree(settings, default_specs())
    return _Tried(root, Models(settings, root, default_specs(), None))


def _finish(options: Options, trial: Trial[_Case], models: Models | None = None) -> int:
    """Try the cases that are left, keep what they give, and show the figures."""
    _require_place(options)
    with open_run_log(trial.info, options.out) as log:
        if done := len(log.run.results):
            said = f"{options.out}: {done} of {trial.info.cases} cases had been tried before."
            typer.echo(clean(said), err=True)
        try:
            run(_carry_out(trial, log, models))
        except KeyboardInterrupt:
            typer.echo(f"Stopped. {_kept(options, log)}", err=True)
            return _INTERRUPTED
        except ModelError as error:
            raise PersonError(f"{error}\n{_kept(options, log)}") from error
    present(log.run, options.html, options.as_json)
    return 0


def _require_place(options: Options) -> None:
    """A page that cannot be written is a mistake now, and not after an hour of model calls."""
    if options.html and not options.html.absolute().parent.is_dir():
        raise PersonError(f"{options.html}: there is no such directory")
    if options.html and options.html in (options.set_file, options.out):
        raise PersonError(f"{options.html}: the page needs a file of its own")


async def _carry_out(trial: Trial[_Case], log: RunLog, models: Models | None) -> None:
    try:
        with open_bar(trial.info.eval) as watch:
            await carry_out(trial, log, watch)
    finally:
        if models:
            await models.close()


def _kept(options: Options, log: RunLog) -> str:
    done = f"{len(log.run.results)} of {log.run.info.cases} cases were tried"
    if options.out:
        return clean(f"{done} and are kept in {options.out}; the same command goes on with the rest.")
    return f"{done}; with --out FILE they would have been kept, to go on later."
