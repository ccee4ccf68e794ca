"""The API of costs: what the models have used, by day, month, session, agent or model."""

from datetime import date
from typing import Annotated, Any, TypeAlias

from sestet.core.record import Meta, Record, as_builtins
from sestet.data import Data
from sestet.server.endpoint import Body, Call, Endpoint
from sestet.server.errors import ApiError
from sestet.services.costs import ALL_TIME, Grouping, Period, describe_costs, last_days

_Day: TypeAlias = Annotated[str, Meta(pattern=r"^([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))?$")]


class CostsQuery(Body):
    by: Grouping = "day"
    #: The last days, with today. None: since and until count, or everything.
    days: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    #: Such as 2026-05-31, with that day.
    since: _Day = ""
    until: _Day = ""


class CostsFacts(Record):
    by: str
    since: str | None
    until: str | None
    rows: list[dict[str, Any]]
    total: dict[str, Any]
    background: dict[str, Any]
    #: Models whose price is unknown: their tokens are in no sum of dollars.
    price_unknown: list[dict[str, Any]]
    today: dict[str, Any]


async def show_costs(call: Call[None, CostsQuery]) -> dict[str, Any]:
    query = call.query
    period = _period(query)

    def read(data: Data) -> dict[str, Any]:
        report = data.costs.report(query.by, period)
        return as_builtins(describe_costs(report, data.costs.today(), data.settings))

    return await call.host.read(read)


def _period(query: CostsQuery) -> Period:
    if query.days is not None:
        return last_days(query.days)
    return Period(_date(query.since) or ALL_TIME.since, _date(query.until) or ALL_TIME.until)


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise ApiError("bad_request", f"'{text}' is no date such as 2026-05-31") from None


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/costs",
        show_costs,
        "What the models have cost, by day, month, session, agent or model.",
        ("read",),
        query=CostsQuery,
        answer=CostsFacts,
    ),
)
