"""What the settings mean for every turn: its prompts, its limits, its history, its policy."""

from collections.abc import Iterable

from sestet.config import Settings
from sestet.models.choice import is_small
from sestet.models.named import LOCAL
from sestet.orchestration.routing import PromptProfile
from sestet.runtime.gate import Allowed, Policy
from sestet.runtime.history import History
from sestet.runtime.turn import Limits
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.journal import Journal


def prompt_profile(settings: Settings) -> PromptProfile:
    """How much the agents are told about their work."""
    profile = settings.agent.prompt_profile
    if profile != "auto":
        return profile
    return "compact" if is_small(settings) else "full"


def open_history(settings: Settings, journal: Journal, database: Database) -> History:
    """What the root agent is shown of a session, and of what is remembered beside a message."""
    memory, tokens = settings.observational_memory, settings.agent.context_tokens
    recalled = memory.prompt_tokens if memory.enabled else 0
    if settings.agent.provider == LOCAL:
        # The rest of its context is for what it is told, what tools give back, and its reply.
        tokens = min(tokens, settings.local.context_tokens // 4)
        recalled = min(recalled, tokens // 4)
    return (
        History(journal, tokens, Recall(database, recalled).section) if recalled else History(journal, tokens)
    )


def turn_limits(settings: Settings) -> Limits:
    """What one turn may use."""
    limits = settings.limits
    # A quarter of a local model's context, in characters.
    room = settings.local.context_tokens if settings.agent.provider == LOCAL else limits.tool_output
    return Limits(
        rounds=settings.agent.max_delegation_rounds,
        model_calls=limits.model_calls,
        seconds=limits.seconds,
        delegation_seconds=limits.delegation_seconds,
        tool_output=min(limits.tool_output, room),
        tokens=limits.tokens or None,
        dollars=limits.dollars or None,
    )


def call_policy(settings: Settings, agents: Iterable[str]) -> Policy:
    """The owner's standing word about the calls of these agents."""
    allowed = (Allowed(entry.tool, entry.target, entry.private) for entry in settings.policy.allow)
    # Whoever works for a small model does what it has asked for.
    careful = frozenset(name for name in agents if is_small(settings) or is_small(settings, name))
    return Policy(settings.policy.block, tuple(allowed), careful)
