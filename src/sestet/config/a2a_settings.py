"""The settings of the A2A server."""

from typing import Annotated

from sestet.config.section import Section


class A2AServerSettings(Section):
    """How agents elsewhere may ask this assistant."""

    enabled: Annotated[bool, "Whether `sestet serve` answers the agents of others over A2A"] = False
    tools: Annotated[
        tuple[str, ...],
        "Tools that callers may use as you do, as patterns such as web_*; what a tool finds goes to the "
        "caller. You are asked about each call of any other tool",
    ] = ()
    push_hosts: Annotated[
        tuple[str, ...],
        "Hosts that callers may have told about their tasks, such as agents.example.org or 127.0.0.1:9000; "
        "empty: none",
    ] = ()
