"""``sestet tokens``: who may talk with the server."""

from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import align, echo, open_console, print_json, print_line
from sestet.cli.show.question import age
from sestet.cli.stored import open_stored
from sestet.core.record import as_dict
from sestet.services.tokens import TokenScope

program = new_program("List, make and revoke the tokens of the server's clients.")

_NAME = typer.Argument(metavar="NAME", help="A name for the client, such as 'phone'.")


@program.command("list")
def list_tokens(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the tokens, with what each may do and when it was used last."""
    with open_stored(context) as data:
        rows = data.tokens.all()
    if as_json:
        print_json([as_dict(row) for row in rows])
    elif not rows:
        echo("There is no token yet; 'sestet serve' makes the owner's.", err=True)
    else:
        console = open_console()
        from rich.text import Text

        lines = [
            (
                Text(row.name, style="bold"),
                Text(row.scope),
                Text(f"made {age(row.created_at)}", style="dim"),
                Text(f"used {age(row.used_at)}" if row.used_at else "never used", style="dim"),
            )
            for row in rows
        ]
        for line in align(lines):
            print_line(console, line)


@program.command("new")
def new_token(
    context: typer.Context,
    name: Annotated[str, _NAME],
    scope: Annotated[
        TokenScope,
        typer.Option(
            help="owner: everything; chat: talk alone; read: look, change nothing; a2a: for agents of others."
        ),
    ] = "chat",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Make a token and print it: it is shown only this once."""
    with open_stored(context) as data:
        token = data.tokens.new(name, scope)
    if as_json:
        print_json({"name": name, "scope": scope, "token": token})
        return
    echo(token)
    echo(f"'{name}' may now {_MAY[scope]}; 'sestet tokens revoke {name}' ends that", err=True)


@program.command("revoke")
def revoke_token(context: typer.Context, name: Annotated[str, _NAME]) -> None:
    """Revoke a token: its requests are refused at once, and its open streams end within seconds."""
    with open_stored(context) as data:
        data.tokens.revoke(name)
    echo(f"'{name}' is revoked", err=True)


_MAY: dict[TokenScope, str] = {
    "owner": "do everything",
    "chat": "talk with the assistant",
    "read": "look at conversations",
    "a2a": "ask over A2A, as somebody else than you",
}
