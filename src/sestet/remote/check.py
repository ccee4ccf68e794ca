"""Says of one address whether its agent can be used, and what its card tells."""

from sestet.config.installation import install_command
from sestet.config.settings import RemoteAgentSettings
from sestet.core.record import Record
from sestet.remote.load import CARD_SECONDS, problem_of

#: A name that a valid entry has; only the address is checked.
_ANY_NAME = "agent"


class AgentFacts(Record):
    """What was found at an address."""

    url: str
    #: Why the agent cannot be used; empty: it can.
    problem: str = ""
    name: str = ""
    description: str = ""
    versions: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    streaming: bool = False
    skills: tuple[str, ...] = ()
    #: The kinds of authentication that it asks for.
    wants: tuple[str, ...] = ()


async def check_agent(url: str, private_network: bool, seconds: float = CARD_SECONDS) -> AgentFacts:
    """Read the card below an address, as a conversation would. No token is sent."""
    entry = RemoteAgentSettings(_ANY_NAME, url, private_network=private_network)
    if problem := problem_of(entry, set()):
        return AgentFacts(url, problem)
    try:
        from sestet.remote.peer import read_facts
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "sestet":
            raise
        return AgentFacts(url, f"remote agents need the extra: {install_command('a2a')}")
    found = await read_facts(entry, seconds)
    return AgentFacts(url, found) if isinstance(found, str) else AgentFacts(url, "", *found)
