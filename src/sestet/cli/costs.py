"""``sestet costs``: what the models have used and cost."""

from datetime import date
from typing import Annotated, Literal

import typer

from sestet.cli.options import AS_JSON, LIMIT, new_program, whole_number
from sestet.cli.show.console import print_json
from sestet.cli.show.costs import print_costs
from sestet.cli.stored import open_stored
from sestet.services.costs import ALL_TIME, Period, describe_costs, last_days

program = new_program()

_USUAL_DAYS = 30
_DAY = typer.Option(metavar="DATE", help="Such as 2026-05-31, with that day.")


@program.command()
def costs(
    context: typer.Context,
    by: Annotated[
        Literal["session", "agent", "model", "day", "month"], typer.Option(help="What a line stands for.")
    ] = "day",
    days: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1, 100_000),
            metavar="N",
            help=f"The last N days, with today. By default {_USUAL_DAYS}; with --by month, everything.",
        ),
    ] = None,
    since: Annotated[str, _DAY] = "",
    until: Annotated[str, _DAY] = "",
    limit: Annotated[int, LIMIT] = 50,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show what the models have cost, by day, month, session, agent or model.

    Observing, reflecting, reading for facts and embedding are included. Tokens whose price is unknown are
    named; they are in no sum of dollars. JSON has every line, whatever --limit says.
    """
    if days is not None and (since or until):
        raise typer.BadParameter("give --days, or --since and --until, not both")
    if days is None and not since and not until and by != "month":
        days = _USUAL_DAYS
    period = last_days(days) if days is not None else _between(since, until)
    with open_stored(context) as data:
        report = data.costs.report(by, period)
        if as_json:
            print_json(describe_costs(report, data.costs.today(), data.settings))
        else:
            print_costs(report, data.costs, data.settings, limit)


def _between(since: str, until: str) -> Period:
    period = Period(_date(since, "--since") or ALL_TIME.since, _date(until, "--until") or ALL_TIME.until)
    if period.since > period.until:
        raise typer.BadParameter(f"--since {since} is after --until {until}")
    return period


def _date(text: str, option: str) -> str:
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise typer.BadParameter(f"{option}: '{text}' is no date such as 2026-05-31") from None
