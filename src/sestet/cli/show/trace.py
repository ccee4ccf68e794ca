"""The model calls of a turn, and the sections of what one of them was shown."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import align, as_json_text, print_line
from sestet.core.clean import clean
from sestet.core.record import as_builtins
from sestet.runtime.seen_sections import CallFacts, Section, SeenFacts


def print_calls(console: Console, turn_id: str, calls: Sequence[CallFacts]) -> None:
    """One line for each call."""
    if not calls:
        print_line(console, Text(f"The turn {clean(turn_id)} asked no model."))
        return
    rows = [
        (
            Text(str(call.seq), style="bold"),
            Text(clean(call.agent)),
            Text(clean(call.model), style="dim"),
            Text(f"{call.usage.input_tokens:,} in, {call.usage.output_tokens:,} out", style="dim"),
            Text(f"{call.milliseconds:,} ms", style="dim"),
            Text(clean(f"calls {', '.join(call.calls)}" if call.calls else "answers")),
        )
        for call in calls
    ]
    for line in align(rows):
        print_line(console, line)


def print_seen(console: Console, seen: SeenFacts) -> None:
    """The sums first, then each section word for word."""
    sums = "  ".join(f"{name} {tokens:,}" for name, tokens in seen.tokens.items())
    print_line(console, Text(f"About {sum(seen.tokens.values()):,} tokens: {sums}"))
    for section in seen.sections:
        console.print()
        print_line(console, Text(_heading(section), style="bold"))
        console.print(Text(clean(_words(section))))
    for each in seen.not_shown:
        console.print()
        print_line(console, Text(f"Not shown: {each.name} ({clean(each.why)})", style="yellow"))


def _heading(section: Section) -> str:
    whose = "" if section.role == "system" else f" · {section.role}"
    answered = f" · {clean(section.tool)} {clean(section.call_id)}" if section.call_id else ""
    return f"{section.name}{whose}{answered} · {section.tokens:,}"


def _words(section: Section) -> str:
    calls = as_json_text(as_builtins(section.calls)) if section.calls else ""
    return "\n".join(text for text in (section.text, calls) if text)
