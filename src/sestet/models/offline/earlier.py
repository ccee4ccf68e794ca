"""Puts what earlier messages say in the place of a reference to them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sestet.core.tool import Tool
from sestet.models.offline.answering import read_question
from sestet.models.offline.file_work import (
    ORDINALS,
    READ_ABOUT,
    READ_LIKE,
    READ_OTHER,
    READ_WHICH,
    is_reading,
    searched_text,
    subject_of_file,
)
from sestet.models.offline.matching import find_tool
from sestet.models.offline.naming import files_named
from sestet.models.offline.parameters import PATH
from sestet.models.offline.references import Delegated, Exchange, Reference, substituted
from sestet.models.offline.spelling import with_known_verbs
from sestet.models.offline.statements import is_request, is_statement
from sestet.models.offline.tasks import Request, Task, ask
from sestet.models.offline.words import is_question, trim_request, without_article
from sestet.models.offline.work import paths_of

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
            "meant": self._meant,
            "also": self._also,
            "forget it": self._forget,
            "keep it": self._keep,
            "undo": self._undo,
            "redo": lambda _: with_known_verbs(self._past[-1].asked),
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

    def _files_read(self) -> list[str]:
        """The files that were read, the latest last."""
        return [
            path for at in range(len(self._past)) for done in self._work(at) if (path := self._file_of(done))
        ]

    def _work(self, at: int) -> list[Delegated]:
        """The requests about files of an earlier message, with what was found."""
        exchange = self._past[at]
        work = [done for done in exchange.work if done.agent == "operator"]
        tasks = self._tasks_of(at) if exchange.found and not work else ()
        requests = [request for task in tasks for request in task.requests if request.agent == "operator"]
        return work or [Delegated("operator", request.text, exchange.found) for request in requests[:1]]

    def _file_of(self, done: Delegated) -> str:
        """The file that a request has read; empty: it has read none, or several."""
        names = paths_of(done.found)
        if not done.found or self._argument(Request("operator", done.request), "text"):
            return ""
        if is_reading(done.request):
            # A file that is read is found twice: in a folder or by a search, and by reading it.
            last = done.found[-1].name
            return last if [one.name for one in done.found].count(last) > 1 else ""
        return names[-1] if self._argument(Request("operator", done.request), "path") in names else ""

    def _shown_files(self) -> list[str]:
        """The files that the last answer about files has listed, if it has read none of them."""
        work = [done for at in range(len(self._past)) for done in self._work(at) if done.found]
        if not work or self._file_of(work[-1]):
            return []
        names = paths_of(work[-1].found)
        return files_named(subject_of_file(work[-1].request), names) or names

    def _read_again(self, _: str) -> Task:
        if (read := self._files_read()) and not self._shown_files():
            return _reading(read[-1])
        for request in self._of_operator():
            if (text := self._searched(request)) and not searched_text(request):
                return ask("operator", request, READ_WHICH.format(which="first", text=text))
            return ask("operator", request)
        return Task("", answer=self._past[-1].answer or _WHAT_IS_MEANT)

    def _meant(self, what: str) -> Task | str | None:
        """ "I meant 4": another file than the one that was read, or asked for."""
        last = next(self._tasks())
        if is_statement(what) or not any(request.agent == "operator" for request in last.requests[:1]):
            return None
        read = self._files_read()
        if re.fullmatch(PATH, what) or not read:
            return f"read {what}" if re.fullmatch(PATH, what) else READ_ABOUT.format(name=what)
        return ask("operator", what, READ_LIKE.format(path=read[-1], which=what))

    def _also(self, what: str) -> str | None:
        """ "Also save: …" goes where the last text went."""
        last = next(self._tasks()).requests[:1]
        return f"save this knowledge: {what}" if last and last[0].agent == "librarian" else None

    def _search_in_it(self, what: str) -> Task | str:
        for request in self._of_operator():
            if path := self._argument(Request("operator", request), "path"):
                return ask("operator", what, f"find {without_article(what)} in {path}")
        return f"what do you know about {what}?"

    def _read_which(self, which: str) -> Task:
        """ "The second one" of what was listed or read; "the other one" beside the file that was read."""
        which, _, noun = which.casefold().partition(" ")
        requests = list(self._of_operator())
        text = next((text for request in requests if (text := self._searched(request))), "")
        read, place = list(dict.fromkeys(self._files_read())), ORDINALS.get(which)
        earlier = files_named(noun, read) if noun and noun != "one" else []
        if place is not None and earlier and -len(earlier) <= place < len(earlier):
            return _reading(earlier[place])
        if text and which != "other":
            return ask("operator", which, READ_WHICH.format(which=which, text=text))
        if text and requests and (name := subject_of_file(requests[0])):
            return ask("operator", which, READ_OTHER.format(text=text, name=name))
        if text:
            was_second = requests[0] == READ_WHICH.format(which="second", text=text)
            other = "first" if was_second else "second"
            return ask("operator", which, READ_WHICH.format(which=other, text=text))
        shown = self._shown_files()
        if place is not None and -len(shown) <= place < len(shown):
            return _reading(shown[place])
        if read:
            return ask("operator", which, READ_LIKE.format(path=read[-1], which=which))
        return Task(which, answer=_WHAT_IS_MEANT)

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

    def _same_for(self, what: str) -> str | Task:
        asked = self._past[-1].asked
        return self._and(what) or substituted(trim_request(asked), what, read_question(asked).telling)

    def _day(self, what: str) -> str | None:
        last = self._past[-1].asked
        was_about_days = self._direct_answer(last) or last.casefold().startswith("and ")
        return f"what day is {what}" if was_about_days else None

    def _and(self, what: str) -> str | Task | None:
        """ "And waffles?" asks the last question of something else; "and b.txt" reads another file."""
        if self._direct_answer(what) or is_request(what):
            return None
        task = next(self._tasks())
        if not task.requests:
            return None
        request = task.requests[0]
        if request.agent == "operator" and re.fullmatch(PATH, what):
            return f"read {what}"
        if any(map(self._file_of, self._work(len(self._past) - 1))):
            return ask("operator", what, READ_LIKE.format(path=self._files_read()[-1], which=what))
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


def _reading(path: str) -> Task:
    return ask("operator", path, f'read "{path}"')
