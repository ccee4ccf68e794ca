"""Finds the specialist that owns a request which no pattern foresees."""

from collections.abc import Mapping, Sequence

from sestet.core.tool import Tool
from sestet.models.offline.matching import find_tool, guess_tool
from sestet.models.router import DIRECT, Router

#: How like its examples a request must be to choose a tool that the router did not propose.
_MUCH_LIKE = 0.9
#: The router's confidence above which its word alone is enough.
_FAIR = 0.6


def find_owner(text: str, router: Router, tools: Mapping[str, Sequence[Tool]]) -> str:
    """The owner by the router, or by likeness to examples; DIRECT: nobody's tool fits."""
    route = router.route(text)
    if route.confidence >= _FAIR and route.agent != DIRECT:
        return route.agent
    match = guess_tool(text, [tool for owned in tools.values() for tool in owned])
    if match is not None and match.strength >= _MUCH_LIKE:
        return next(name for name, owned in tools.items() if match.tool in owned)
    # The router is unsure: take its best agent that is here, if one of its tools fits.
    agent = next(name for name in route.scores if name in tools or name == DIRECT)
    return agent if find_tool(text, tools.get(agent, ())) else DIRECT
