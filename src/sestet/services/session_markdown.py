"""A conversation as Markdown that reads well: who said what, who did what, and what it cost."""

from collections.abc import Iterable, Iterator, Sequence

from sestet.core.clean import clean, one_line
from sestet.core.event import (
    END_OF_TURN,
    ApprovalDecided,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    ToolFinished,
    TurnFinished,
    TurnStarted,
    TurnSteered,
)
from sestet.core.model import Usage
from sestet.core.words import money, written_time
from sestet.services.sessions import SessionRow
from sestet.services.turn_summary import turn_state
from sestet.services.turn_text import (
    call_text,
    claim_warning,
    count_turns,
    effects_text,
    in_doubt_text,
    is_in_doubt,
    last_words,
    past_findings,
    refusal_text,
)

_TITLE_WIDTH = 200
_REQUEST_WIDTH = 200


def session_markdown(row: SessionRow, turns: Sequence[Sequence[Event]]) -> str:
    events = [event for turn in turns for event in turn]
    times = written_time(row.created_at), written_time(row.updated_at)
    when = times[0] if times[0] == times[1] else f"{times[0]} to {times[1]}"
    facts = [f"session {clean(row.id)}", when, count_turns(len(turns)), *_costs(events)]
    lines = [f"# {one_line(row.title, _TITLE_WIDTH)}", "", " · ".join(facts)]
    for number, turn in enumerate(turns, 1):
        lines += ["", f"## {number} · {written_time(turn[0].stamp.at)}", *_turn(turn)]
    return "\n".join(lines)


def _turn(events: Sequence[Event]) -> Iterator[str]:
    """The message, the work below it as a list, the answer, and a line of facts."""
    work = list(_work(events))
    for event in events:
        if isinstance(event, TurnStarted):
            who = "You" if event.mine else "Text from a pipe"
            yield from ("", f"**{who}**", "", clean(event.text).strip())
    if work:
        yield from ("", *work)
    end = next((event for event in reversed(events) if isinstance(event, END_OF_TURN)), None)
    if end is None:
        yield from ("", f"*This turn is {turn_state(events)}.*")
    elif isinstance(end, TurnFinished):
        yield from ("", f"**Sestet** ({clean(end.author)})", "", clean(end.text).strip())
    else:
        yield from ("", f"*{clean(last_words(end)).strip()}*")
    foot = [*_costs(events), *filter(None, (effects_text(end), claim_warning(end)) if end else ())]
    if foot:
        yield from ("", f"<sub>{' · '.join(foot)}</sub>")


def _work(events: Sequence[Event]) -> Iterator[str]:
    """The specialists and their calls, as items of a list."""
    findings = past_findings(events)
    for event in events:
        match event:
            case DelegationStarted():
                yield f"- {clean(event.agent)} was asked: {one_line(event.request, _REQUEST_WIDTH)}"
            case DelegationFinished() if event in findings:
                yield f"- {clean(event.agent)} answered:"
                lines = clean(event.text).strip().splitlines()
                yield from ("", *(f"  > {line}".rstrip() for line in lines), "")
            case DelegationFinished(outcome="ok" | "paused"):
                pass
            case DelegationFinished():
                cause = one_line(event.for_person or event.cause, _REQUEST_WIDTH)
                yield f"- {clean(event.agent)} {event.outcome}: {cause}"
            case ToolFinished() if is_in_doubt(event):
                yield f"- {in_doubt_text(event)}"
            case ToolFinished():
                yield f"  - `{_code(call_text(event.call))}`{_outcome(event)}"
            case TurnSteered():
                who = "you" if event.mine else "a program"
                yield f"- {who} added: {one_line(event.text, _REQUEST_WIDTH)}"
            case ApprovalDecided():
                yield f"  - you {'approved' if event.decision == 'approve' else 'denied'} it"
            case _:
                pass


def _outcome(event: ToolFinished) -> str:
    if event.outcome in ("refused", "denied"):
        return f": {refusal_text(event)}"
    return ": failed" if event.outcome == "error" else ""


def _code(text: str) -> str:
    """A text that cannot end its backticks."""
    return text.replace("`", "'")


def _costs(events: Iterable[Event]) -> list[str]:
    """Dollars and tokens; nothing if no model counted any."""
    calls = [event for event in events if isinstance(event, ModelCalled)]
    usage = sum((call.usage for call in calls), Usage())
    if not usage.input_tokens and not usage.output_tokens:
        return []
    unpriced = {call.model for call in calls if _is_unpriced(call)}
    unknown = f" (the price of {', '.join(sorted(map(clean, unpriced)))} is unknown)" if unpriced else ""
    dollars = money(usage.nano_dollars / 1e9) if usage.nano_dollars else "" if unpriced else "free"
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    tokens = f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
    return [f"{dollars}{unknown}".strip(), tokens]


def _is_unpriced(call: ModelCalled) -> bool:
    used = call.usage
    return bool(used.input_tokens or used.output_tokens) and not call.free and not used.nano_dollars
