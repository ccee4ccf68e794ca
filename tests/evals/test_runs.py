"""Saved runs: each result is on disk before the next is asked for, and a run goes on where it stopped."""

import json
from pathlib import Path

import pytest

from sestet.core.errors import PersonError
from sestet.core.model import Usage
from sestet.evals.runs import Result, Run, RunInfo, load_run, open_run_log
from tests.evals.samples import MODEL, ROUTER, result, run_of

ONE, TWO = result("a", "vault", "vault"), result("b", "direct", "planner", sure=False)
WHOLE = run_of(ONE, TWO)
PRICED = Result("a", "vault", "vault", True, detail="“q”\n\ud800", usage=Usage(10, 2, 3_000, 4))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def save(file: Path, run: Run) -> None:
    with open_run_log(run.info, file) as log:
        for each in run.results:
            log.add(each)


def refusal(file: Path, info: RunInfo) -> str:
    with pytest.raises(PersonError) as raised, open_run_log(info, file):
        pass
    return str(raised.value).replace(str(file), "run.jsonl")


def test_what_was_saved_is_loaded_as_it_was(file: Path) -> None:
    run = run_of(PRICED, subject=MODEL)
    save(file, run)
    assert load_run(file) == Run(run.info, [PRICED])


def test_each_result_is_on_disk_at_once(file: Path) -> None:
    with open_run_log(WHOLE.info, file) as log:
        log.add(ONE)
        assert load_run(file).results == [ONE]


def test_a_run_that_was_cut_off_in_the_middle_of_a_line_goes_on(file: Path) -> None:
    with open_run_log(WHOLE.info, file) as log:
        log.add(ONE)
    with file.open("a", encoding="utf-8") as torn:
        torn.write('{"request": "b", "expec')
    with open_run_log(WHOLE.info, file) as log:
        assert log.run.results == [ONE]
        log.add(TWO)
    assert load_run(file).results == [ONE, TWO]


def test_the_beginning_holds_for_what_follows(file: Path) -> None:
    save(file, run_of(ONE, subject=ROUTER, cases=["a", "b"]))
    slower = run_of(subject=type(ROUTER)("router", "light", 0.6, 99.0, 98.0), cases=["a", "b"])
    with open_run_log(slower.info, file) as log:
        assert log.run.info.subject == ROUTER


def test_another_set_model_prompt_or_eval_is_refused_by_name(file: Path) -> None:
    save(file, run_of(ONE, subject=MODEL))
    end = "; name another file, or remove this one"
    assert refusal(file, run_of(TWO, subject=MODEL).info) == (
        f"run.jsonl: holds a run over another set (mine.jsonl, 1 cases){end}"
    )
    other = type(MODEL)("home/large", basis_digest="p1")
    assert refusal(file, run_of(ONE, subject=other).info) == f"run.jsonl: holds a run of home/tiny{end}"
    changed = type(MODEL)("home/tiny", basis_digest="p2")
    assert (
        refusal(file, run_of(ONE, subject=changed).info)
        == f"run.jsonl: holds a run with other prompts or weights{end}"
    )
    tools = RunInfo("tools", MODEL, "mine.jsonl", run_of(ONE).info.set_digest, 1)
    assert refusal(file, tools) == f"run.jsonl: holds a run of 'eval routing'{end}"
    assert load_run(file).results == [ONE], "nothing was written"


def test_two_runs_never_write_into_one_file(file: Path) -> None:
    with open_run_log(WHOLE.info, file):
        assert "another run is writing into it" in refusal(file, WHOLE.info)


@pytest.mark.parametrize("content", ["", "hello\n", "{}\n", '{"sestet_eval": 2}\n'])
def test_a_file_that_is_no_run_is_never_touched(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PersonError, match="is not a saved run"):
        load_run(file)
    if content:
        assert "is not a saved run" in refusal(file, WHOLE.info)
        assert file.read_text(encoding="utf-8") == content


def test_a_damaged_line_is_named(file: Path) -> None:
    save(file, WHOLE)
    lines = file.read_text(encoding="utf-8").splitlines()
    damaged = {**json.loads(lines[2]), "right": "yes"}
    file.write_text("\n".join([*lines[:2], json.dumps(damaged), ""]), encoding="utf-8")
    with pytest.raises(PersonError, match=r"run.jsonl, line 3: right: expected boolean, got 'yes'"):
        load_run(file)
    file.write_text("\n".join([lines[0], "?", ""]), encoding="utf-8")
    with pytest.raises(PersonError, match=r"run.jsonl, line 2: is not JSON"):
        load_run(file)
    file.write_text("\n".join([lines[0], *lines[1:] * 2, ""]), encoding="utf-8")
    with pytest.raises(PersonError, match="has 4 results, and its set 2 cases"):
        load_run(file)
