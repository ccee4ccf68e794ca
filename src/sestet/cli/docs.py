"""``sestet docs``: the pages of the documentation."""

import re
import sys
from typing import Annotated

import typer

from sestet.cli.names import topic_names
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import open_console, print_json, print_table
from sestet.services.manual import pages, read_page

program = new_program()

#: Comments mark the generated parts.
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
#: A link to another page, or a picture: a terminal can follow neither.
_LINK = re.compile(r"!?\[(?P<words>[^]]*)\]\((?!\w+:)[^)]*\)")


@program.command()
def docs(
    topic: Annotated[
        str,
        typer.Argument(
            metavar="[TOPIC]",
            help="The page, such as models; else all are listed.",
            autocompletion=topic_names,
        ),
    ] = "",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the pages of the documentation, or show one. In a pipe a page is plain Markdown."""
    if not topic:
        _list(as_json)
    elif as_json:
        print_json({"topic": topic, "text": read_page(topic)})
    else:
        _show(read_page(topic))


def _list(as_json: bool) -> None:
    found = pages()
    if as_json:
        print_json([page._asdict() for page in found])
        return
    if not sys.stdout.isatty():
        typer.echo("\n".join(f"{page.topic}\t{page.about}" for page in found))
        return
    from rich.text import Text

    console = open_console()
    print_table(console, [(Text(page.topic, "bold"), Text(page.about.replace("`", ""))) for page in found])
    console.print(Text("\nShow one: sestet docs TOPIC", "dim"))


def _show(text: str) -> None:
    if not sys.stdout.isatty():
        typer.echo(text.rstrip("\n"))
        return
    from sestet.cli.show.answer import print_answer

    print_answer(open_console(), _LINK.sub(r"\g<words>", _COMMENT.sub("", text)), markdown=True)
