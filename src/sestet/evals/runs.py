"""The results of a run, and the file that keeps them."""

import fcntl
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias

from sestet.core.errors import PersonError
from sestet.core.model import Usage
from sestet.core.record import Record, as_dict
from sestet.core.schema import JsonObject, find_problems, schema_of
from sestet.evals.sets import Eval, parse_object, read_lines

#: As ``given``: neither an agent nor a direct answer; the detail says what.
OTHER = "other"
#: As ``given``: what a newcomer's reply was worth.
Verdict: TypeAlias = Literal["right", "acceptable", "wrong", "embarrassing"]
#: As ``given``: the model called no tool.
NO_CALL = "no call"


class Result(Record):
    """One request, what was expected, and what was given."""

    request: str
    expected: str
    given: str
    right: bool
    #: The kind of request that the set names; may be empty.
    kind: str = ""
    #: The specialist that was asked; empty for the orchestrator.
    agent: str = ""
    #: What was wrong, where ``expected`` and ``given`` do not tell.
    detail: str = ""
    milliseconds: float = 0.0
    #: The router's calibrated probability; None for a model.
    confidence: float | None = None
    #: Above the threshold. A model gives no confidence, so it always counts as sure.
    sure: bool = True
    usage: Usage = Usage()


class Subject(Record):
    """The router or model that is tried."""

    #: ``router`` or ``provider/model``.
    name: str
    #: The router's variant; empty for a model.
    variant: str = ""
    threshold: float | None = None
    #: Wall-clock and CPU time until the first request was routed.
    load_milliseconds: float | None = None
    load_cpu_milliseconds: float | None = None
    #: A digest of the router's weights, or of the prompts that the model is shown.
    basis_digest: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} ({self.variant})" if self.variant else self.name


class RunInfo(Record):
    """What was tried, and on which set."""

    eval: Eval
    subject: Subject
    set_name: str
    set_digest: str
    cases: int


class Run(NamedTuple):
    info: RunInfo
    results: Sequence[Result]


#: The first key of the file's first line; its value is the version of the format.
_FORM = "sestet_eval"
_VERSION = 1


class RunLog:
    """The results of a run so far; each is written to the file before the next case starts."""

    def __init__(self, run: Run, file: IO[str] | None = None) -> None:
        self._file = file
        self._results = list(run.results)
        self.run = Run(run.info, self._results)

    def add(self, result: Result) -> None:
        if self._file is not None:
            _write(self._file, as_dict(result))
        self._results.append(result)


@contextmanager
def open_run_log(info: RunInfo, path: Path | None) -> Generator[RunLog]:
    """The log of a run. A file with a part of the same run is continued; another run is refused."""
    if path is None:
        yield RunLog(Run(info, ()))
        return
    with path.open("a+", encoding="utf-8") as file:
        _hold(file, path)
        if path.stat().st_size:
            earlier = load_run(path)
            _require_same(earlier.info, info, path)
            _drop_torn_line(file, path)
            yield RunLog(earlier, file)
        else:
            _write(file, {_FORM: _VERSION, **as_dict(info)})
            yield RunLog(Run(info, ()), file)


def load_run(path: Path) -> Run:
    """A saved run, complete or not; an unfinished last line is ignored."""
    # After the last line break comes nothing, or an unfinished line.
    lines = read_lines(path)[:-1]
    head = parse_object(lines[0]) if lines else ""
    if isinstance(head, str) or head.get(_FORM) != _VERSION:
        raise PersonError(f"{path}: is not a saved run; 'sestet eval routing --out FILE' writes one")
    told = _checked({key: value for key, value in head.items() if key != _FORM}, RunInfo, path, 1)
    info = RunInfo(subject=Subject(**told.pop("subject")), **told)
    results = [_result(line, path, number) for number, line in enumerate(lines[1:], 2)]
    if len(results) > info.cases:
        raise PersonError(f"{path}: has {len(results)} results, and its set {info.cases} cases")
    return Run(info, results)


def _result(line: str, path: Path, number: int) -> Result:
    told = _checked(parse_object(line), Result, path, number)
    return Result(usage=Usage(**told.pop("usage", {})), **told)


# Any: the values were checked against the schema of the record.
def _checked(value: JsonObject | str, record: type, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, str):
        raise PersonError(f"{path}, line {line}: {value}")
    for problem in find_problems(schema_of(record), value):
        raise PersonError(f"{path}, line {line}: {problem.where}: {problem.message}")
    return dict(value)


def _require_same(earlier: RunInfo, now: RunInfo, path: Path) -> None:
    """Refuse to continue a run with another set, model, prompts or weights."""
    differences = {
        f"of 'eval {earlier.eval}'": earlier.eval != now.eval,
        f"over another set ({earlier.set_name}, {earlier.cases} cases)": earlier.set_digest != now.set_digest,
        f"of {earlier.subject.title}": earlier.subject.title != now.subject.title,
        "with other prompts or weights": earlier.subject.basis_digest != now.subject.basis_digest,
    }
    found = [what for what, differs in differences.items() if differs]
    if found:
        raise PersonError(f"{path}: holds a run {' and '.join(found)}; name another file, or remove this one")


def _hold(file: IO[str], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PersonError(f"{path}: another run is writing into it; name another file") from error


def _drop_torn_line(file: IO[str], path: Path) -> None:
    whole, _, torn = path.read_bytes().rpartition(b"\n")
    if torn:
        file.truncate(len(whole) + 1)


def _write(file: IO[str], value: Mapping[str, object]) -> None:
    # ASCII: JSON may hold half of a surrogate pair, which UTF-8 cannot encode.
    file.write(f"{json.dumps(value, default=as_dict)}\n")
    file.flush()
