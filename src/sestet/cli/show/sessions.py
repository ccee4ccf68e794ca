"""What commands say about sessions: as JSON, found by words, before and after they are deleted."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import print_line
from sestet.core.clean import clean, one_line
from sestet.core.words import written_time
from sestet.services.excerpt import excerpt
from sestet.services.forgetting import UNWIPED, Wipe
from sestet.services.session_deletion import DeletedSession, Saved, SessionPreview
from sestet.services.sessions import Exchange, SessionRow
from sestet.services.turn_summary import stems
from sestet.services.turn_text import count_turns

_TITLE_WIDTH = 60
#: Characters of an excerpt: as many as a terminal has on two lines.
_SHOWN = 150
_INDENT = "    "


def print_exchanges(
    console: Console, found: Sequence[Exchange], query: str, titles: Mapping[str, str]
) -> None:
    """Each turn with its session, date and title, and the words that were found in bold."""
    words = stems(query)
    for number, each in enumerate(found):
        if number:
            console.print()
        title = one_line(titles.get(each.session_id, ""), _TITLE_WIDTH)
        head = Text.assemble((clean(each.session_id), "bold"), f"  {written_time(each.at)}  ", (title, "dim"))
        print_line(console, head)
        for who, text in (("you", each.asked), ("answer", each.answered)):
            if text:
                _print_excerpt(console, who, excerpt(clean(text), words, _SHOWN), words)


def _print_excerpt(console: Console, who: str, text: str, words: Sequence[str]) -> None:
    line = Text.assemble((f"{who}: ", "dim"), text)
    if words:
        said = "|".join(map(re.escape, words))
        line.highlight_regex(re.compile(rf"(?<!\w)(?:{said})\w*", re.IGNORECASE), "bold yellow")
    for part in line.wrap(console, console.width - len(_INDENT)):
        console.print(Text(_INDENT).append_text(part))


def preview_lines(row: SessionRow, preview: SessionPreview, *, with_memories: bool) -> Iterator[str]:
    """What the person should know before they delete a session."""
    title = one_line(row.title, _TITLE_WIDTH)
    yield f"{clean(row.id)}  {title}"
    yield f"{count_turns(row.turns)}, last used {written_time(row.updated_at)}"
    if preview.open_turns:
        one = preview.open_turns == 1
        ends = f"{preview.open_turns} {'turn has' if one else 'turns have'} not ended, and would end with it"
        asked = preview.questions
        yield f"{ends}{f'; {asked} waiting for your decision' if asked else ''}"
    yield from _doubts(preview)
    if preview.undoable:
        yield "its changes of files stay, and can no longer be undone"
    if saved := _saved(preview.saved):
        yield f"{'deleted too' if with_memories else 'stays'}: {saved}{_hint(with_memories)}"


def _hint(with_memories: bool) -> str:
    return "" if with_memories else " that it was told to remember (--with-memories deletes them too)"


def deletion_lines(
    done: DeletedSession, preview: SessionPreview, wipe: Wipe, *, with_memories: bool
) -> Iterator[str]:
    """What was deleted, and what still holds traces of it."""
    yield f"{clean(done.session_id)}: deleted, {count_turns(done.turns)}"
    if done.with_it:
        names = ", ".join(done.with_it[:8])
        more = f" and {len(done.with_it) - 8} more" if len(done.with_it) > 8 else ""
        yield f"made of it, and deleted too: {clean(names)}{more}"
    if not with_memories and (saved := _saved(preview.saved)):
        yield f"stays: {saved}; 'sestet memory' and 'sestet knowledge' show and forget them"
    yield from _doubts(preview)
    for name in done.ended:
        yield f"{clean(name)} was still open; it is ended now, because it had read this conversation"
    if wipe in UNWIPED:
        yield UNWIPED[wipe]


def _doubts(preview: SessionPreview) -> Iterator[str]:
    for name in preview.in_doubt:
        yield f"!! IN DOUBT: {clean(name)} was cut off and may have taken effect: check it yourself."


def _saved(saved: Saved) -> str:
    names = {"facts": "fact", "entries": "entry", "lessons": "lesson", "graph_facts": "graph fact"}
    plural = {"entry": "entries"}
    counts = ((number, names[field]) for field, number in saved._asdict().items() if number)
    return ", ".join(
        f"{number} {name if number == 1 else plural.get(name, f'{name}s')}" for number, name in counts
    )
