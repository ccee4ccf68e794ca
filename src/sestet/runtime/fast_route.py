"""The fast route: code makes the first delegation of a turn when the router is sure of the specialist.

It replaces the orchestrator's first model call, and nothing else: rounds, guards and labels stay the same.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sestet.core.agent import TRANSFER, Agent
from sestet.core.event import RequestRouted
from sestet.core.message import Message, ToolCall
from sestet.runtime.turn import AgentRun

#: First words of a message that continues an earlier one, and words that refer to something said before.
_CONTINUES = r"(and|or|but|so|also|then|no|yes|ok|okay|sure|(what|how) about|go on|continue)\b"
_POINTS_BACK = (
    r"\b(it|its|this|these|those|they|them|their|he|him|his|she|her|hers|same|again|another|other|others"
    r"|one|ones|there|instead|above|previous|earlier|former|latter|first|second|last|both|either|neither"
    # "Remember that I like tea" points at nothing; "remember that" does.
    r"|that(?!\s+(i|i'm|i've|my|we|we're|our|the|an?)\b))\b"
)
_SHORTEST_WHOLE_REQUEST = 3
#: Router variants that were sure and wrong in at most 1 % of the routing set; a test checks this.
MEASURED = frozenset({"words", "words+encoder"})


class Route(Protocol):
    """The router's choice of an agent, and whether it is certain enough to act on."""

    @property
    def agent(self) -> str: ...

    @property
    def confidence(self) -> float: ...

    @property
    def sure(self) -> bool: ...


class Router(Protocol):
    """Chooses the agent for a request, and splits a request into its parts."""

    @property
    def variant(self) -> str: ...

    def route(self, request: str) -> Route: ...

    def split(self, request: str) -> Sequence[object]: ...


class FastRoute(NamedTuple):
    """Decides when the router's choice is enough."""

    open_router: Callable[[], Router]
    #: Trust only the router variants in MEASURED.
    only_measured: bool = False

    async def choose(self, root: Agent, text: str, past: Sequence[Message]) -> Route | None:
        """The route to take without a model; None: the model has to decide."""
        if not root.sub_agents or needs_past(text, past):
            return None
        # The first call loads the weights, which would block the event loop.
        route = await asyncio.to_thread(self._sure_route, text)
        agent = next((a for a in root.sub_agents if route and a.name == route.agent), None)
        # A router never sends a message to another machine.
        return route if agent is not None and agent.remote is None else None

    def _sure_route(self, text: str) -> Route | None:
        router = self.open_router()
        if self.only_measured and router.variant not in MEASURED:
            return None
        route = router.route(text)
        return route if route.sure and len(router.split(text)) == 1 else None


async def routed_call(run: AgentRun, fast_route: FastRoute | None) -> ToolCall | None:
    """The delegation that the person or the router chose. A resumed turn takes it from its journal."""
    turn = run.turn
    if turn.agent:
        return _delegation(run, turn.agent)
    routed = turn.replay.routed
    if routed is None:
        # With a recorded first reply, the model has decided.
        if fast_route is None or "" in turn.replay.replies:
            return None
        route = await fast_route.choose(run.agent, turn.text, run.messages[: run.past])
        if route is None:
            return None
        routed = RequestRouted(run.stamp(), route.agent, route.confidence)
        turn.record(routed)
    return _delegation(run, routed.agent)


def _delegation(run: AgentRun, agent: str) -> ToolCall:
    arguments = {"agent_name": agent, "request": run.turn.text, "reply": True}
    return ToolCall(TRANSFER, arguments, run.new_call_id())


def needs_past(text: str, past: Sequence[Message]) -> bool:
    """Whether a message may need the earlier conversation to be understood; in doubt it does."""
    if not past:
        return False
    text = text.strip()
    if past[-1].text.rstrip().endswith("?") or len(text.split()) < _SHORTEST_WHOLE_REQUEST:
        return True
    continues = re.match(_CONTINUES, text, re.IGNORECASE) is not None
    return continues or re.search(_POINTS_BACK, text, re.IGNORECASE) is not None
