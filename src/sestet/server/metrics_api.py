"""The figures of the server, as Prometheus reads them."""

from starlette.responses import Response

from sestet.server.endpoint import Call, Endpoint, NoQuery

_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def show_metrics(call: Call[None, NoQuery]) -> Response:
    turns = call.host.turns
    gauges = (
        ("sestet_turns_open", "Turns that run or wait for their session.", turns.open_turns),
        (
            "sestet_questions_waiting",
            "Calls that wait for a decision.",
            len(call.host.app.approvals.pending()),
        ),
        ("sestet_streams_open", "Streams of events that clients read.", call.limits.open_streams),
    )
    return Response(call.host.metrics.text(gauges), media_type=_TYPE)


ENDPOINTS = (Endpoint("GET", "/metrics", show_metrics, "Figures for Prometheus.", ("read",)),)
