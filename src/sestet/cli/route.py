"""``sestet route``: the specialist that a request goes to, with the reasons of the embedded router."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from sestet.api import default_specs
from sestet.cli.options import AS_JSON, new_program, read_stdin
from sestet.cli.show.console import align, echo, open_console, print_json
from sestet.config.installation import install_command
from sestet.core.agent import AgentSpec
from sestet.core.clean import clean, one_line
from sestet.description import describe_route, shown_entry
from sestet.models.router import DIRECT, Explanation, Router, open_router
from sestet.plugins.find import find_plugins

program = new_program()

_BAR = 24
#: The weight from which on a word is worth a line.
_LEAST_EVIDENCE = 0.05
_MOST_EVIDENCE = 8


@program.command()
def route(
    request: Annotated[
        list[str], typer.Argument(metavar="REQUEST...", help="The request; - reads it from stdin.")
    ],
    light: Annotated[bool, typer.Option("--light", help="Leave the sentence encoder out.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show which specialist a request goes to, and why. Only the embedded router runs."""
    text = read_stdin() if request == ["-"] else " ".join(request)
    if not text.strip():
        raise typer.BadParameter("the request is empty")
    specs = (*default_specs(), *find_plugins().specs)
    router = open_router(specs, with_encoder=not light)
    explanation = router.explain(text.strip())
    if as_json:
        print_json(describe_route(explanation, router, specs))
    else:
        print_route(open_console(), explanation, router, specs)


def print_route(
    console: Console, explanation: Explanation, router: Router, specs: Sequence[AgentSpec]
) -> None:
    """The route and everything that it rests on."""
    route = explanation.route
    sure = "sure" if route.sure else "not sure"
    console.print(Text.assemble((route.agent, "bold"), f"  {route.confidence:.1%}, {sure}"))
    _print_section(console, "Scores", (_score(name, score) for name, score in route.scores.items()))
    evidence = [one for one in explanation.evidence if abs(one.weight) >= _LEAST_EVIDENCE][:_MOST_EVIDENCE]
    _print_section(
        console,
        f"Evidence for {route.agent}: what each word adds",
        ((Text(f"{one.weight:+.2f}"), Text(clean(one.feature))) for one in evidence),
    )
    _print_section(
        console,
        "Nearest examples",
        ((Text(example.agent), Text(one_line(example.request, 100))) for example in explanation.nearest),
    )
    if len(explanation.parts) > 1:
        parts = ((Text(part.agent), Text(one_line(part.text, 100))) for part in explanation.parts)
        _print_section(console, "Parts", parts)
    echo(f"\n{_decision(explanation)}")
    if entry := shown_entry(route.agent, specs):
        echo(f"\n{entry}")
    echo(f"\n{_variant(router)}")


def _score(name: str, score: float) -> tuple[Text, ...]:
    return Text(name), Text(f"{score:6.1%}"), Text("█" * round(score * _BAR), style="cyan")


def _print_section(console: Console, title: str, rows: Iterable[tuple[Text, ...]]) -> None:
    lines = align(rows)
    if lines:
        console.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            console.print(Text("  ").append_text(line), no_wrap=True, overflow="ellipsis")


def _decision(explanation: Explanation) -> str:
    """What happens with this request, by the setting ``agent.fastRoute``."""
    route = explanation.route
    if route.sure and route.agent != DIRECT:
        return (
            f"With agent.fastRoute on, {route.agent} gets this request at once. "
            "Without it, the orchestrator's model decides. "
            "It reads this about a specialist that has all of its tools:"
        )
    if len(explanation.parts) > 1:
        return "Several parts: the orchestrator's model decides who does what, in which order."
    if route.agent == DIRECT and route.sure:
        return "No specialist is needed: the orchestrator's model answers."
    if route.agent == DIRECT:
        return (
            "Not sure whether a specialist is needed: the orchestrator's model decides, "
            "and answers by itself if none is."
        )
    return (
        "Not sure enough to skip the orchestrator: its model decides. "
        "It reads this about a specialist that has all of its tools:"
    )


def _variant(router: Router) -> str:
    text = f"Judged by {router.variant}; sure from {router.threshold:.1%} on."
    if not router.missing:
        return text
    return f"{text}\n{router.missing.capitalize()}. To add it: {install_command('router')}"
