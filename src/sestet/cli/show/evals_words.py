"""How the figures of a run are written, on the terminal and on the page."""

from sestet.cli.show.clean import clean, one_line
from sestet.evals.runs import Result, RunInfo

_DETAIL_WIDTH = 100
_TITLES = {"routing": "Routing", "tools": "Tools", "multipart": "Requests with several parts"}


def subject_line(info: RunInfo) -> str:
    """``Routing · router (light) · routing.jsonl · threshold 0.982 · ready in 120 ms``"""
    subject = info.subject
    parts = [_TITLES[info.eval], clean(subject.title), clean(info.set_name)]
    if subject.threshold is not None:
        parts.append(f"threshold {subject.threshold:.3g}")
    if subject.load_milliseconds is not None:
        parts.append(f"ready in {duration(subject.load_milliseconds)}")
    return " · ".join(parts)


def what_went_wrong(result: Result) -> str:
    """``wanted fs_list, got no call: said: …``, or what is wrong with the arguments of the right call."""
    detail = one_line(result.detail, _DETAIL_WIDTH)
    if result.given == result.expected:
        return f"{clean(result.expected)}: {detail}"
    wrong = f"wanted {clean(result.expected)}, got {clean(result.given)}"
    return f"{wrong} ({detail})" if detail else wrong


def remark(result: Result) -> str:
    """What there is to say about a wrong route: how sure it was, or what a model did instead."""
    if result.confidence is None:
        return one_line(result.detail, _DETAIL_WIDTH)
    return f"confidence {result.confidence:.2f}{', sure' if result.sure else ''}"


def percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def duration(milliseconds: float) -> str:
    """Two digits that mean something, in a unit that fits."""
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.0f} s"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def dollars(nano_dollars: int) -> str:
    return f"${nano_dollars / 1e9:.4f}" if nano_dollars else "-"


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
