"""What undo would do, and what can be undone."""

import os
from collections.abc import Iterator, Sequence

from rich.text import Text

from sestet.cli.show.console import align, shorten_home
from sestet.core.clean import clean, one_line, reveal
from sestet.core.words import written_time
from sestet.services.file_changes.undo import ChangeSet, UndoPlan, UndoStep

#: Steps that are listed before the person is asked.
_MOST_STEPS = 40
_WIDTH = 100
_ACTIONS = {
    "delete": "delete",
    "bring_back": "bring back",
    "put_back": "put back as it was:",
    "move_back": "move back",
}


def plan_lines(plan: UndoPlan) -> Iterator[Text]:
    """The turn, each file, and the files that have changed since."""
    row = plan.changed.row
    what = f"the undo of changes {row.undoes}" if row.undoes else "what was changed"
    when = f"{written_time(row.at)}, session {clean(row.session_id)}"
    yield Text(f"Undo {what} at {when}:", style="bold")
    for step in plan.steps[:_MOST_STEPS]:
        yield Text(f"  {_step(step)}")
    if len(plan.steps) > _MOST_STEPS:
        yield Text(f"  … and {len(plan.steps) - _MOST_STEPS:,} more", style="dim")
    for path in plan.changed_since[:_MOST_STEPS]:
        yield Text(f"  has changed since: {_path(path)}", style="red")


def set_lines(sets: Sequence[ChangeSet]) -> list[Text]:
    """One line for each set: its number, its time, its session and what was done."""
    rows: list[tuple[Text, ...]] = []
    for each in sets:
        done = " ".join(each.done)
        what = f"undo of {each.row.undoes}: {done}" if each.row.undoes else done
        rows.append(
            (
                Text(str(each.row.id)),
                Text(written_time(each.row.at), style="dim"),
                Text(clean(each.row.session_id), style="dim"),
                Text(one_line(reveal(what), _WIDTH)),
            )
        )
    return align(rows)


def _step(step: UndoStep) -> str:
    to = f" to {_path(step.to)}" if step.to else ""
    return f"{_ACTIONS[step.action]} {_path(step.whole_path)}{to}"


def _path(path: str) -> str:
    """A path as the person would write it here."""
    here = os.getcwd().rstrip("/") + "/"
    return reveal(path.removeprefix(here) if path.startswith(here) else shorten_home(path))
