"""``sestet a2a``: agents of others."""

from typing import Annotated

import typer

from sestet.cli.assistant import run
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import echo, print_json
from sestet.core.clean import clean
from sestet.core.record import as_dict
from sestet.remote.check import AgentFacts, check_agent

program = new_program()


@program.callback()
def a2a() -> None:
    """Look at agents of others, which can join over A2A."""


@program.command("check")
def check(
    url: Annotated[str, typer.Argument(metavar="URL", help="Its base address, as in a2a.remoteAgents.")],
    private_network: Annotated[
        bool, typer.Option("--private-network", help="Its name may lead to your own network.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Read an agent's card, and say whether it can join and what it tells."""
    facts = run(check_agent(url, private_network))
    if as_json:
        print_json(as_dict(facts))
    elif facts.problem:
        echo(f"This agent cannot be used: {clean(facts.problem)}", err=True)
    else:
        _show(facts)
    raise typer.Exit(1 if facts.problem else 0)


def _show(facts: AgentFacts) -> None:
    rows = {
        "name": facts.name,
        "says": facts.description,
        "A2A": f"{', '.join(facts.versions)} over {', '.join(facts.protocols)}",
        "streams": "yes" if facts.streaming else "no",
        "skills": ", ".join(facts.skills),
        "wants": f"{', '.join(facts.wants)}: set apiKey" if facts.wants else "no token",
    }
    for name, value in rows.items():
        echo(f"{name:8} {clean(value)}")
    echo("It can join: name it under a2a.remoteAgents, see 'sestet docs remote'", err=True)
