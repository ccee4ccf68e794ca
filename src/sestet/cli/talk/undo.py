"""Undo in a conversation: lists what it will do, asks, and does it."""

from sestet.cli.show.undo import plan_lines
from sestet.cli.talk.conversation import Person, Talk
from sestet.core.errors import PersonError


async def undo_last_turn(talk: Talk, person: Person) -> None:
    """Take back the file changes of the last turn of this session that made some."""
    try:
        plan = await talk.app.undo.plan(session_id=talk.session_id)
        for line in plan_lines(plan):
            talk.console.print(line, soft_wrap=True)
        talk.app.undo.require_unchanged(plan)
        answer = await person.choose("  Undo this? [y] yes  [n] no ")
        if (answer or "").strip().lower() in ("y", "yes"):
            await talk.app.undo.run(plan)
            talk.note("undone; 'sestet undo --list' shows what can be undone")
        else:
            talk.note("nothing was undone")
    except PersonError as error:
        talk.note(str(error), "yellow")
    talk.console.print()
