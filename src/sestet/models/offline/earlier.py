"""Puts what earlier messages say in the place of a reference to them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sestet.core.tool import Tool
from sestet.models.offline.answering import read_question
from sestet.models.offline.matching import find_tool
from sestet.models.offline.parameters import PATH
from sestet.models.offline.references import Exchange, Reference, substituted
from sestet.models.offline.specialists import READ_OTHER, READ_WHICH, searched_text, subject_of_file
from sestet.models.offline.statements import is_request, is_statement
from sestet.models.offline.tasks import Request, Task, ask
from sestet.models.offline.words import is_question, trim_request, without_article

_FORGOTTEN_FOR_GOOD = (
    "I cannot undo that: what is forgotten is gone for good. Tell me again, and I remember it."
)
_STAYS_CHANGED = "I cannot undo that: only changes that I make to files without a command can be undone."
_NOTHING_TO_UNDO = (
    "There is nothing to undo: my last answer changed nothing. To remove a fact, say “forget that …”."
)
_WHAT_TO_KEEP = (
    "I cannot tell what to keep. Say it in one message, as in “remember that the code is on the desk”."
)
_WHAT_IS_MEANT = "I cannot tell what you mean. Say all of it in one message."


class Earlier:
    """The earlier messages of a conversation, as they were understood."""

    def __init__(
        self,
        past: Sequence[Exchange],
        tools: Mapping[str, Sequence[Tool]],
        tasks_of: Callable[[int], Sequence[Task]],
        direct_answer: Callable[[str], str],
    ) -> None:
        self._past = past
        self._tools = tools
        self._tasks_of = tasks_of
        self._direct_answer = direct_answer

    def resolve(self, reference: Reference) -> str | Task | None:
        """The task, or the same message in words that stand alone; None: it is no reference after all."""
        ways: Mapping[str, Callable[[str], str | Task | None]] = {
            "read it": self._read_again,
            "in it": self._search_in_it,
            "which": self._read_which,
            "forget it": self._forget,
            "keep it": self._keep,
            "undo": self._undo,
            "redo": lambda _: self._past[-1].asked,
            "same for": self._same_for,
            "day": self._day,
            "and": self._and,
        }
        return ways[reference.kind](reference.what)

    def _tasks(self) -> Iterator[Task]:
        """The latest first."""
        for at in range(len(self._past) - 1, -1, -1):
            yield from reversed(self._tasks_of(at))

    def _of_operator(self) -> Iterator[str]:
        """The requests about files, the latest first."""
        return (
            task.requests[0].text
            for task in self._tasks()
            if task.requests and task.requests[0].agent == "operator"
        )

    def _argument(self, request: Request, name: str) -> str:
        """An argument of the call that a request leads to; empty: it has none."""
        match = find_tool(request.text, self._tools.get(request.agent, ()))
        return str(match.arguments.get(name, "")) if match else ""

    def _searched(self, request: str) -> str:
        """The text that a request searches files for; empty: it searches for none."""
        if subject_of_file(request):
            return ""
        return searched_text(request) or self._argument(Request("operator", request), "text")

    def _read_again(self, _: str) -> Task:
        for request in self._of_operator():
            if (text := self._searched(request)) and not searched_text(request):
                return ask("operator", request, READ_WHICH.format(which="first", text=text))
            return ask("operator", request)
        return Task("", answer=self._past[-1].answer or _WHAT_IS_MEANT)

    def _search_in_it(self, what: str) -> Task | str:
        for request in self._of_operator():
            if path := self._argument(Request("operator", request), "path"):
                return ask("operator", what, f"find {without_article(what)} in {path}")
        return f"what do you know about {what}?"

    def _read_which(self, which: str) -> Task:
        requests = list(self._of_operator())
        text = next((text for request in requests if (text := self._searched(request))), "")
        if not text:
            return Task(which, answer=_WHAT_IS_MEANT)
        if which.casefold() != "other":
            return ask("operator", which, READ_WHICH.format(which=which.casefold(), text=text))
        if name := subject_of_file(requests[0]):
            return ask("operator", which, READ_OTHER.format(text=text, name=name))
        was_second = requests[0] == READ_WHICH.format(which="second", text=text)
        return ask("operator", which, READ_WHICH.format(which="first" if was_second else "second", text=text))

    def _forget(self, _: str) -> Task:
        """The last fact that was told, or that the last question was about."""
        for task in self._tasks():
            for request in task.requests:
                if fact := self._argument(request, "fact"):
                    return ask("chronicler", fact, f"forget that {fact}")
                if task.is_lookup or self._argument(request, "query"):
                    subject = trim_request(task.text)
                    return ask("chronicler", subject, f"forget what you know about {subject}")
        return Task("", answer=_WHAT_IS_MEANT)

    def _keep(self, _: str) -> Task | str:
        said = self._past[-1].asked
        return f"remember that {said}" if is_statement(said) else Task("", answer=_WHAT_TO_KEEP)

    def _undo(self, _: str) -> Task:
        """Only the very last message is undone: what changed before it may rest on something else by now."""
        task = next(self._tasks())
        request = task.requests[0] if task.requests else Request("", "")
        match = find_tool(request.text, self._tools.get(request.agent, ()))
        if match is not None and (fact := self._argument(request, "fact")):
            return ask("chronicler", fact, f"forget that {fact}")
        if match is not None and match.tool.effect == "local":
            return self._undo_files(match.tool)
        if request.text.startswith("forget ") or (match is not None and match.tool.effect != "none"):
            return Task("", answer=_FORGOTTEN_FOR_GOOD)
        return Task("", answer=_NOTHING_TO_UNDO)

    def _undo_files(self, changed_by: Tool) -> Task:
        can_undo = any(tool.name == "fs_undo" for tool in self._tools.get("operator", ()))
        if can_undo and changed_by.name.startswith("fs_"):
            return ask("operator", "undo that")
        return Task("", answer=_STAYS_CHANGED)

    def _same_for(self, what: str) -> str:
        asked = self._past[-1].asked
        return self._and(what) or substituted(trim_request(asked), what, read_question(asked).telling)

    def _day(self, what: str) -> str | None:
        last = self._past[-1].asked
        was_about_days = self._direct_answer(last) or last.casefold().startswith("and ")
        return f"what day is {what}" if was_about_days else None

    def _and(self, what: str) -> str | None:
        """ "And waffles?" asks the last question of something else; "and b.txt" reads another file."""
        if self._direct_answer(what) or is_request(what):
            return None
        task = next(self._tasks())
        if not task.requests:
            return None
        request = task.requests[0]
        if request.agent == "operator" and re.fullmatch(PATH, what):
            return f"read {what}"
        match = (
            find_tool(request.text, self._tools.get(request.agent, ()))
            if request.agent == "operator"
            else None
        )
        values = [value for value in (match.arguments.values() if match else ()) if isinstance(value, str)]
        if values:
            return request.text.replace(values[0], what)
        if not task.is_lookup and not is_question(task.text):
            return None
        return f"{substituted(trim_request(task.text), what, read_question(task.text).telling)}?"
