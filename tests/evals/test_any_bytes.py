"""Whatever a file holds, it is read or complained of, and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.agents import NAMES, room_tools
from sestet.cli.show.evals_page import render_page
from sestet.core.errors import PersonError
from sestet.evals.figures import figures
from sestet.evals.runs import load_run, open_run_log
from sestet.evals.sets import read_multipart_set, read_routing_set, read_tool_set
from tests.evals.samples import result, run_of

TOOLS = {name: room_tools(name) for name in NAMES}
KEYS = st.sampled_from(["request", "agent", "agents", "tool", "arguments", "kind"])
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([*NAMES, "direct", "fs_read"])
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=8)
LINES = st.lists(st.dictionaries(KEYS, VALUES).map(json.dumps), min_size=1)


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "any.jsonl"


@given(content=st.binary() | LINES.map(lambda lines: "\n".join(lines).encode()))
def test_any_file_is_a_set_or_is_complained_of_by_its_name(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    readers = (
        lambda: read_routing_set(file, NAMES),
        lambda: read_multipart_set(file, NAMES),
        lambda: read_tool_set(file, TOOLS),
    )
    complaints: list[str] = []
    for read in readers:
        try:
            assert all(case.request.strip() for case in read())
        except PersonError as error:
            complaints.append(str(error))
    assert all(complaint.startswith(str(file)) for complaint in complaints)


@given(content=st.binary(), position=st.integers(min_value=0, max_value=400))
def test_any_damage_to_a_saved_run_is_read_or_complained_of(
    file: Path, content: bytes, position: int
) -> None:
    run = run_of(result("a", "vault", "vault"), result("b", "direct", "vault"))
    file.write_bytes(b"")
    with open_run_log(run.info, file) as log:
        for each in run.results:
            log.add(each)
    whole = file.read_bytes()
    file.write_bytes(whole[:position] + content + whole[position + len(content) :])
    complaint = str(file)
    try:
        found = load_run(file)
        render_page(found)
        json.dumps(figures(found))
    except PersonError as error:
        complaint = str(error)
    assert complaint.startswith(str(file))
