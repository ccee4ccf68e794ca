"""A run on disk: what is tried, then each result, as lines of JSON that are written as they come."""

import fcntl
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sestet.core.errors import PersonError
from sestet.core.model import Usage
from sestet.core.record import as_dict
from sestet.core.schema import JsonObject, find_problems, schema_of
from sestet.evals.result import Result, Run, RunInfo, Subject
from sestet.evals.sets import parse_object, read_lines

#: The form of the file: the first key of its first line.
_FORM = "sestet_eval"
_VERSION = 1


class Ledger:
    """The results of a run so far; each is written down before the next is asked for."""

    def __init__(self, run: Run, file: IO[str] | None = None) -> None:
        self._file = file
        self._results = list(run.results)
        self.run = Run(run.info, self._results)

    def add(self, result: Result) -> None:
        if self._file is not None:
            _write(self._file, as_dict(result))
        self._results.append(result)


@contextmanager
def open_ledger(info: RunInfo, path: Path | None) -> Generator[Ledger]:
    """The ledger of a run; an earlier part of the same run is gone on with, any other is refused."""
    if path is None:
        yield Ledger(Run(info, ()))
        return
    with path.open("a+", encoding="utf-8") as file:
        _hold(file, path)
        if path.stat().st_size:
            earlier = load_run(path)
            _require_same(earlier.info, info, path)
            _drop_torn_line(file, path)
            yield Ledger(earlier, file)
        else:
            _write(file, {_FORM: _VERSION, **as_dict(info)})
            yield Ledger(Run(info, ()), file)


def load_run(path: Path) -> Run:
    """A saved run, whole or in part; a last line that was cut off does not count."""
    # Behind the last line end there is nothing, or a line that was never finished.
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


# Any: what was checked against the schema of a record fits the record.
def _checked(value: JsonObject | str, record: type, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, str):
        raise PersonError(f"{path}, line {line}: {value}")
    for problem in find_problems(schema_of(record), value):
        raise PersonError(f"{path}, line {line}: {problem.where}: {problem.message}")
    return dict(value)


def _require_same(earlier: RunInfo, now: RunInfo, path: Path) -> None:
    """What was begun with one set and one model cannot go on with another."""
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
    # Escaped: half of a pair, as JSON can spell it, is no text that a file can hold.
    file.write(f"{json.dumps(value, default=as_dict)}\n")
    file.flush()
