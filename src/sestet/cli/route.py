"""``sestet route``: whose work a request is, and why."""

import sys
from typing import Annotated

import typer


def route(
    request: Annotated[
        list[str], typer.Argument(metavar="REQUEST...", help="What would be asked; - reads it from stdin.")
    ],
    light: Annotated[bool, typer.Option("--light", help="Leave the sentence encoder out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain whose work a request is. Only the embedded router is asked, and nothing is done."""
    from sestet.api import default_specs
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.route import describe_route, print_route
    from sestet.models.router import open_router
    from sestet.plugins.find import find_plugins

    text = sys.stdin.read() if request == ["-"] else " ".join(request)
    if not text.strip():
        raise typer.BadParameter("the request is empty")
    specs = (*default_specs(), *find_plugins().specs)
    router = open_router(specs, with_encoder=not light)
    explanation = router.explain(text.strip())
    if as_json:
        print_json(describe_route(explanation, router, specs))
    else:
        print_route(open_console(), explanation, router, specs)
