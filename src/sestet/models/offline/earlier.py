"""Puts what earlier messages say in the place of a reference to them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sestet.core.message import ToolCall
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.answering import read_question
from sestet.models.offline.command_work import is_script, next_command_step
from sestet.models.offline.conversation import WHAT_IS_MEANT, WHAT_TO_KEEP
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
from sestet.models.offline.line_work import ADD_ABOUT, WRITE_LIST, crosses_off, list_of, path_of_list
from sestet.models.offline.matching import ToolMatch, find_tool
from sestet.models.offline.memory_work import is_correction
from sestet.models.offline.naming import files_named
from sestet.models.offline.parameters import FILE, PATH
from sestet.models.offline.references import Delegated, Exchange, Reference, naming, substituted
from sestet.models.offline.spelling import with_known_verbs
from sestet.models.offline.statements import is_request, is_statement
from sestet.models.offline.tasks import Request, Task, ask
from sestet.models.offline.words import clauses_of, is_question, trim_request, without_article
from sestet.models.offline.work import Work, form, paths_of

_FORGOTTEN_FOR_GOOD = (
    "I cannot undo that: what is forgotten is gone for good. Tell me again, and I remember it."
)
_CORRECTED = (
    "I cannot undo a correction. Tell me what is true, as in “my dog is called Rex, not Max”, and I remember "
    "that instead."
)
_STAYS_CHANGED = (
    "I cannot undo that: only changes that I make to files without a command can be undone. “Undo the last "
    "change” takes back the last of these."
)
_NOTHING_TO_UNDO = (
    "There is nothing to undo: nothing was changed here. To remove a fact, say “forget that …”."
)
_UNDO = "undo that"
_WHICH_FILE = "I cannot tell which file you mean, so nothing was added. Say the name of the file."


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
            "pick": self._pick,
            "meant": self._meant,
            "also": self._also,
            "and asks": self._ask_otherwise,
            "with it": self._with_it,
            "count it": self._with_it,
            "left": self._left,
            "add line": self._add_line,
            "add more": self._add_more,
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
        path = self._argument(Request("operator", done.request), "path")
        # The end of a name with spaces may have been taken for all of it.
        return names[-1] if path and names[-1].endswith(path) else ""

    def _shown_files(self) -> list[str]:
        """The files that the last answer about files has listed, if it has read none of them."""
        work: list[Delegated] = []
        for at in range(len(self._past) - 1, -1, -1):
            requests = (request for task in self._tasks_of(at) for request in task.requests)
            work = [done for done in self._work(at) if done.found]
            if work or any(map(self._change_of, requests)):
                break
        if not work or self._file_of(work[-1]):
            return []
        names = paths_of(work[-1].found)
        return files_named(subject_of_file(work[-1].request), names) or names

    def _last_file(self) -> str:
        """The file that was read, written, moved or copied last; empty: the last work was about none."""
        for at in range(len(self._past) - 1, -1, -1):
            if read := [path for done in self._work(at) if (path := self._file_of(done))]:
                return read[-1]
            for task in reversed(self._tasks_of(at)):
                for request in task.requests:
                    # A part of the same message has no answer yet.
                    named = "" if self._past[at].answer else self._argument(request, "path")
                    if path := self._file_changed_by(request) or named:
                        return path
        return ""

    def _file_changed_by(self, request: Request) -> str:
        """The file that a request writes, moves or copies, as it is named afterwards."""
        given = self._change_of(request)
        path, destination = (str(given.get(name, "")) for name in ("path", "destination"))
        if destination and not re.search(FILE, destination) and re.search(FILE, path):
            # A directory keeps the name of what is moved into it.
            return f"{destination.rstrip('/')}/{path.rpartition('/')[2]}"
        return destination or path

    def _change_of(self, request: Request) -> Mapping[str, JsonValue]:
        """The arguments of the call with which a request changes a file; empty: it changes none."""
        if found := form(WRITE_LIST).fullmatch(request.text):
            return {"path": path_of_list(found["name"])}
        tools = {tool.name: tool for tool in self._tools.get(request.agent, ())}
        step = next_command_step(Work(request.text, (), tools))
        if isinstance(step, ToolCall) and tools[step.name].effect == "local" and "path" in step.arguments:
            return step.arguments
        match = find_tool(request.text, list(tools.values()))
        is_change = match is not None and match.tool.effect == "local" and "path" in match.arguments
        return match.arguments if match is not None and is_change else {}

    def _with_it(self, what: str) -> str | Task:
        """ "Copy it to b.txt": with the name of the file that was read or changed last."""
        task = next((task for task in self._tasks() if task.requests), None)
        of_files = task is not None and task.requests[-1].agent == "operator"
        if re.match(r"(?:run|execute|call)\b", what, re.IGNORECASE):
            return self._run_again()
        if of_files and (path := self._last_file()):
            return naming(what, path)
        is_forgetting = re.match(r"(?:delete|remove|erase)\b", what, re.IGNORECASE)
        return self._forget("") if is_forgetting else Task("", answer=WHAT_IS_MEANT)

    def _left(self, _: str) -> str | None:
        requests = next(self._tasks()).requests
        return "list the files" if requests and requests[-1].agent == "operator" else None

    def _add_line(self, text: str) -> str | Task:
        path = self._last_file()
        return f'append "{text}" to {path}' if path else Task("", answer=_WHICH_FILE)

    def _add_more(self, text: str) -> Task | None:
        """ "Add butter" after a list was written, or a line was added to a file; else it is no reference."""
        requests = next(self._tasks()).requests
        done = requests[-1].text if requests and requests[-1].agent == "operator" else ""
        name = list_of(done) or subject_of_file(done)
        if list_of(done) or name.endswith(("list", "to-do", "todo")):
            return ask("operator", text, ADD_ABOUT.format(text=text, name=name))
        match = find_tool(done, self._tools.get("operator", ())) if done else None
        path = match.arguments.get("path") if match and match.tool.name == "fs_append" else ""
        return ask("operator", text, f'append "{text}" to {path}') if path else None

    def _run_again(self) -> str | Task:
        """ "Run it": the script that was written or read last, or the last command."""
        for request in self._of_operator():
            path = self._file_changed_by(Request("operator", request)) or self._argument(
                Request("operator", request), "path"
            )
            if is_script(path):
                return f"run {path}"
            if re.match(r"(?:run|execute)\b", trim_request(request), re.IGNORECASE):
                return request
        return Task("", answer=WHAT_IS_MEANT)

    def _read_again(self, _: str) -> Task:
        if not self._shown_files() and (path := self._last_file()):
            return _reading(path)
        for request in self._of_operator():
            if crosses_off(request) or request == _UNDO:
                continue
            if name := list_of(request):
                return ask("operator", request, READ_ABOUT.format(name=name))
            if (text := self._searched(request)) and not searched_text(request):
                return ask("operator", request, READ_WHICH.format(which="first", text=text))
            return ask("operator", request)
        return Task("", answer=self._past[-1].answer or WHAT_IS_MEANT)

    def _pick(self, what: str) -> Task | None:
        """ "The 2026 one" of the files that were listed, if these words fit one of them alone."""
        named = files_named(re.sub(r"^one\b", "", what), self._shown_files())
        return _reading(named[0]) if len(named) == 1 else None

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
        paths = (self._argument(Request("operator", request), "path") for request in self._of_operator())
        if path := self._last_file() or next(filter(None, paths), ""):
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
        return Task(which, answer=WHAT_IS_MEANT)

    def _forget(self, _: str) -> Task:
        """The last fact that was told, or that the last question was about."""
        for task in self._tasks():
            for request in task.requests:
                if fact := self._argument(request, "fact"):
                    return ask("chronicler", fact, f"forget that {fact}")
                if task.is_lookup or self._argument(request, "query"):
                    subject = trim_request(task.text)
                    return ask("chronicler", subject, f"forget what you know about {subject}")
        return Task("", answer=WHAT_IS_MEANT)

    def _keep(self, _: str) -> Task | str:
        said = self._past[-1].asked
        return f"remember that {said}" if is_statement(said) else Task("", answer=WHAT_TO_KEEP)

    def _undo(self, what: str) -> Task:
        """The last message that changed something is undone; looking at things in between changes nothing."""
        for task in self._tasks():
            request = task.requests[0] if task.requests else Request("", "")
            if is_correction(request.text):
                return Task("", answer=_CORRECTED)
            match = find_tool(request.text, self._tools.get(request.agent, ()))
            if match is not None and (fact := self._argument(request, "fact")):
                return ask("chronicler", fact, f"forget that {fact}")
            if what and match is not None and match.tool.name.startswith("exec_"):
                # "The last change" is one of a file.
                continue
            if self._change_of(request) or (match is not None and match.tool.effect == "local"):
                return self._undo_files(request, match)
            if request.text.startswith("forget ") or (match is not None and match.tool.effect != "none"):
                return Task("", answer=_FORGOTTEN_FOR_GOOD)
        # The operator knows of changes that no message here plainly asked for.
        return ask("operator", _UNDO) if self._can_undo() else Task("", answer=_NOTHING_TO_UNDO)

    def _can_undo(self) -> bool:
        return any(tool.name == "fs_undo" for tool in self._tools.get("operator", ()))

    def _undo_files(self, request: Request, changed_by: ToolMatch | None) -> Task:
        is_command = changed_by is not None and not changed_by.tool.name.startswith("fs_")
        if self._can_undo() and (self._change_of(request) or not is_command):
            return ask("operator", _UNDO)
        return Task("", answer=_STAYS_CHANGED)

    def _asked_of_file(self, task: Task, what: str) -> str:
        """ "Who does the frontend in team.txt?", "and the backend?": the same question of the same file."""
        path = next(iter(re.findall(FILE, task.text)), "")
        words = [word for word in read_question(task.text).telling if word not in path.casefold()]
        asked = trim_request(task.text)
        reads = re.match(r"what (?:is in|does \S+ say)|(?:read|open|show|cat)\b", asked, re.IGNORECASE)
        if not path or not words or reads or not is_question(task.text):
            return ""
        return f"{substituted(asked, what, words)}?"

    def _same_for(self, what: str) -> str | Task:
        asked = self._past[-1].asked
        return self._and(what) or substituted(trim_request(asked), what, read_question(asked).telling)

    def _ask_otherwise(self, word: str) -> str | None:
        """The last question with another question word: "where is the party?", "and when?"."""
        questions = (trim_request(one.asked) for one in reversed(self._past) if is_question(one.asked))
        last = next((asked for asked in questions if len(asked.split()) > 2), "")
        word = "who" if word.casefold().startswith("who") else word
        *_, last = (clause.text for clause in clauses_of(last))
        asked = re.sub(
            r"^(?:when|where|who|what|which|how \w+)\b", word, trim_request(last), flags=re.IGNORECASE
        )
        return f"{asked}?" if asked != last and len(asked.split()) > 2 else None

    def _day(self, what: str) -> str | None:
        last = self._past[-1].asked
        was_about_days = self._direct_answer(last) or last.casefold().startswith("and ")
        return f"what day is {what}" if was_about_days else None

    def _and(self, what: str) -> str | Task | None:
        """ "And waffles?" asks the last question of something else; "and b.txt" reads another file."""
        if self._direct_answer(what) or (is_request(what) and not re.fullmatch(PATH, what)):
            return None
        task = next(self._tasks())
        if not task.requests:
            return None
        request = task.requests[0]
        if request.agent == "operator" and re.fullmatch(PATH, what):
            path = self._argument(request, "path")
            return request.text.replace(path, what) if path and path in request.text else f"read {what}"
        if substitute := self._asked_of_file(task, what):
            return substitute
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
        if len(read_question(what).telling) > 1 and not any(map(str.isdigit, what)):
            # "And the fee if I am late?" says enough by itself.
            return f"{what}?"
        return f"{substituted(trim_request(task.text), what, read_question(task.text).telling)}?"


def _reading(path: str) -> Task:
    return ask("operator", path, f'read "{path}"')
