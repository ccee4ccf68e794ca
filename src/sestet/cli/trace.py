"""``sestet trace``: the model calls of a turn, and what a model was shown in one."""

from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, new_program, whole_number
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.trace import print_calls, print_seen
from sestet.cli.stored import open_stored
from sestet.core.record import as_builtins
from sestet.runtime.seen_requests import find_turn, seen_request, stored_calls
from sestet.runtime.seen_sections import describe_call, describe_seen

program = new_program()


@program.command()
def trace(
    context: typer.Context,
    turn: Annotated[
        str,
        typer.Argument(
            metavar="TURN", help="The turn: its id as 'sestet sessions show --json' gives it, or 'last'."
        ),
    ] = "last",
    saw: Annotated[
        int | None,
        typer.Option(
            "--saw",
            parser=whole_number(1, 10**9),
            metavar="CALL",
            help="Show every word that the model of this call was shown.",
        ),
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the model calls of a turn, and show what a model was shown."""
    with open_stored(context) as data:
        turn_id = find_turn(data.journal, turn)
        if saw is None:
            calls = [describe_call(call) for call in stored_calls(data.journal, turn_id)]
            if as_json:
                print_json({"turn": turn_id, "calls": as_builtins(calls)})
            else:
                print_calls(open_console(), turn_id, calls)
            return
        seen = describe_seen(seen_request(data.journal, turn_id, saw))
    if as_json:
        print_json({"turn": turn_id, **as_builtins(seen)})
    else:
        print_seen(open_console(), seen)
