"""A model that answers by a file of rules, one JSON object a line: for conformance kits and trials."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from sestet.core.agent import TRANSFER
from sestet.core.errors import ConfigError, ModelError
from sestet.core.message import ToolCall, ToolMessage, UserMessage
from sestet.core.model import MESSAGE_KEY, ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.core.record import DecodeError, Record, field, from_json
from sestet.core.schema import JsonObject

_LONGEST_FILE = 1_000_000
_MOST_SECONDS = 600.0


class Rule(Record, forbid_unknown_fields=True):
    """When it applies, and what the model then replies. ``{text}`` stands for the message."""

    #: Patterns such as ``hello*``, in which case does not count.
    when: str = "*"
    id: str = "*"
    agent: str = "*"
    #: The tool whose result the model has just read; empty: it has read none.
    after: str = ""
    #: Seconds before each piece of the reply.
    seconds: float = 0.0
    #: Characters of a piece; 0: the text is one.
    piece: int = 0
    #: The reply: exactly one of these.
    say: str | None = None
    call: str = ""
    delegate: str = ""
    fail: str = ""
    arguments: JsonObject = field(default_factory=dict[str, str])
    request: str = "{text}"
    #: Whether the specialist's answer goes to the person as it is.
    reply: bool = False

    def problem(self) -> str:
        given = [self.say is not None, bool(self.call), bool(self.delegate), bool(self.fail)]
        if sum(given) != 1:
            return "a rule has exactly one of 'say', 'call', 'delegate' and 'fail'"
        if not 0 <= self.seconds <= _MOST_SECONDS or self.piece < 0:
            return f"'seconds' is from 0 to {_MOST_SECONDS:g}, and 'piece' is not negative"
        return ""

    def fits(self, agent: str, text: str, key: str, after: str) -> bool:
        pairs = ((agent, self.agent), (text.strip(), self.when), (key, self.id))
        return after == self.after and all(fnmatchcase(value.lower(), want.lower()) for value, want in pairs)


class RuleModel:
    """Replies as the first rule says that fits the message, its id, the agent and the last result."""

    def __init__(self, file: str) -> None:
        self.name = "scripted"
        self._file = file
        self._rules = read_rules(file)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        text, after = _last(request)
        key = MESSAGE_KEY.get()
        rule = next((each for each in self._rules if each.fits(request.agent, text, key, after)), None)
        if rule is None:
            raise ModelError(f"no rule in '{self._file}' fits this message for {request.agent}")
        reply = _reply(rule, text)
        for piece in _pieces(reply.text, rule.piece):
            await asyncio.sleep(rule.seconds)
            yield TextDelta(piece)
        if not reply.text:
            await asyncio.sleep(rule.seconds)
        if rule.fail:
            raise ModelError(rule.fail)
        yield reply

    async def close(self) -> None:
        pass


def read_rules(file: str, setting: str = "agent.model") -> tuple[Rule, ...]:
    """The rules of a file; raise with every line that cannot be used."""
    path = Path(file).expanduser()
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ConfigError([f"{setting}: '{file}' is larger than 1 MB"])
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        told = f"the file of rules '{file}' cannot be read: {why}" if file else "name a file of rules"
        raise ConfigError([f"{setting}: {told}"]) from None
    rules, problems = list[Rule](), list[str]()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            rule = from_json(line.encode(), type=Rule)
            why = rule.problem()
            rules.append(rule)
        except (DecodeError, RecursionError) as error:
            why = str(error)
        if why:
            problems.append(f"{setting}: '{file}', line {number}: {why}")
    if not rules and not problems:
        problems.append(f"{setting}: '{file}' has no rule; a rule is one JSON object in a line")
    if problems:
        raise ConfigError(problems)
    return tuple(rules)


def _last(request: ModelRequest) -> tuple[str, str]:
    """The message that the agent works on, and the tool whose result it has read last."""
    text, after = "", ""
    for message in request.messages:
        if isinstance(message, UserMessage):
            text, after = message.text, ""
        elif isinstance(message, ToolMessage):
            after = message.name
    return text, after


def _reply(rule: Rule, text: str) -> ModelReply:
    if rule.call:
        return ModelReply(calls=(ToolCall(rule.call, rule.arguments),), free=True)
    if rule.delegate:
        request = rule.request.replace("{text}", text)
        given: JsonObject = {"agent_name": rule.delegate, "request": request, "reply": rule.reply}
        return ModelReply(calls=(ToolCall(TRANSFER, given),), free=True)
    return ModelReply((rule.say or "").replace("{text}", text), free=True)


def _pieces(text: str, size: int) -> Iterator[str]:
    size = size or len(text)
    return (text[start : start + size] for start in range(0, len(text), size or 1))
