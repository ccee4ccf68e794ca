"""Figures for Prometheus: turns, model calls, tokens, money, tools, queues. Numbers and names, no content."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from sestet.core.event import (
    DelegationFinished,
    Event,
    ModelCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)

#: Upper bounds in seconds.
_BOUNDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)
_OUTCOMES: dict[type[Event], str] = {
    TurnFinished: "finished",
    TurnFailed: "failed",
    TurnCancelled: "cancelled",
    TurnPaused: "paused",
}


class Histogram:
    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str, labels: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels}{"," if labels else ""}le="{bound}"}} {total}'
        end = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{end} {self._sum:.6f}"
        yield f"{name}_count{end} {total}"


class Metrics:
    """Counts the events of the turns that this process runs, since its start."""

    def __init__(self) -> None:
        self._turns = Counter[str]()
        self._delegations = Counter[tuple[str, str]]()
        self._tools = Counter[tuple[str, str]]()
        self._calls = Counter[tuple[str, str]]()
        self._tokens = Counter[tuple[str, str]]()
        self._nano_dollars = Counter[str]()
        self._turn_seconds = Histogram()
        self._model_seconds: dict[str, Histogram] = defaultdict(Histogram)

    def count(self, event: Event) -> None:
        match event:
            case ModelCalled():
                agent = event.author
                self._calls[agent, event.model] += 1
                self._tokens[agent, "input"] += event.usage.input_tokens
                self._tokens[agent, "output"] += event.usage.output_tokens
                self._nano_dollars[agent] += event.usage.nano_dollars
                self._model_seconds[event.model].add(event.milliseconds / 1000)
            case ToolFinished():
                self._tools[event.call.name, event.outcome] += 1
            case DelegationFinished():
                self._delegations[event.agent, event.outcome] += 1
            case TurnFinished() | TurnFailed() | TurnCancelled() | TurnPaused():
                self._turns[_OUTCOMES[type(event)]] += 1
                if not isinstance(event, TurnPaused):
                    self._turn_seconds.add(event.milliseconds / 1000)
            case _:
                pass

    def text(self, gauges: Iterable[tuple[str, str, int]]) -> str:
        """Everything in the text form of Prometheus. ``gauges``: name, help and value of each."""
        lines: list[str] = []

        def family(name: str, kind: str, about: str, values: Iterable[str]) -> None:
            lines.extend((f"# HELP {name} {about}", f"# TYPE {name} {kind}", *values))

        def counted(name: str, about: str, labels: tuple[str, ...], counts: Counter[tuple[str, str]]) -> None:
            rows = (f"{name}{_labels(labels, each)} {count}" for each, count in sorted(counts.items()))
            family(name, "counter", about, rows)

        turns = (
            f"sestet_turns_total{_labels(('outcome',), (each,))} {n}"
            for each, n in sorted(self._turns.items())
        )
        family("sestet_turns_total", "counter", "Turns that ended or paused.", turns)
        counted(
            "sestet_delegations_total", "Delegations that ended.", ("agent", "outcome"), self._delegations
        )
        counted("sestet_tool_calls_total", "Tool calls that were answered.", ("tool", "outcome"), self._tools)
        counted("sestet_model_calls_total", "Calls of models.", ("agent", "model"), self._calls)
        counted("sestet_model_tokens_total", "Tokens of models.", ("agent", "direction"), self._tokens)
        dollars = (
            f"sestet_model_dollars_total{_labels(('agent',), (agent,))} {count / 1e9:.9f}"
            for agent, count in sorted(self._nano_dollars.items())
        )
        family("sestet_model_dollars_total", "counter", "What models cost, in US dollars.", dollars)
        family(
            "sestet_turn_seconds",
            "histogram",
            "How long turns took.",
            self._turn_seconds.lines("sestet_turn_seconds", ""),
        )
        models = (
            line
            for model, seconds in sorted(self._model_seconds.items())
            for line in seconds.lines("sestet_model_seconds", _pair("model", model))
        )
        family("sestet_model_seconds", "histogram", "How long calls of models took.", models)
        for name, about, value in gauges:
            family(name, "gauge", about, (f"{name} {value}",))
        return "\n".join(lines) + "\n"


def _labels(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    return f"{{{','.join(map(_pair, names, values))}}}"


def _pair(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'
