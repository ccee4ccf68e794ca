"""``sestet eval``: figures on the terminal, as JSON and as a page; runs that are kept, and go on."""

import asyncio
import json
import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from sestet.agents import NAMES
from sestet.cli.show.evals import print_run
from sestet.cli.show.evals_page import render_page
from sestet.evals.runs import Result, Run, RunInfo, load_run, open_run_log
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.evals.samples import MODEL, result, run_of
from tests.models.model_server import refused, said, serve
from tests.models.openai_wire import call as called
from tests.models.openai_wire import finish, text, usage

CASES = (
    '{"request": "list the files here", "agent": "operator", "kind": "plain"}',
    '{"request": "remember that I like tea", "agent": "chronicler", "kind": "plain"}',
    '{"request": "hello", "agent": "direct"}',
)
HOSTILE = '</title><script>alert(1)</script><img src=x onerror="alert(1)">\x1b[31m'


@pytest.fixture
def mine(home: Home) -> str:
    (home.work / "mine.jsonl").write_text("\n".join(CASES), encoding="utf-8")
    return "mine.jsonl"


def test_the_embedded_router_is_tried_on_ones_own_set(call: Call, mine: str) -> None:
    found = json.loads(call("eval", "routing", "--light", "--set", mine, "--json").out)
    assert found["n"] == 3
    assert 0 <= found["false_confidence"] <= 1 - found["accuracy"]
    assert found["median_ms"] > 0
    assert sum(sum(row.values()) for row in found["confusion"].values()) == 3
    assert (found["by_kind"]["plain"]["n"], found["subject"]) == (2, "router")


def test_without_a_set_the_shipped_one_is_tried(call: Call) -> None:
    done = call("eval", "routing", "--light", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["n"] >= 200


def test_a_trial_touches_nothing_of_the_person(home: Home, call: Call, mine: str) -> None:
    call("eval", "routing", "--light", "--set", mine)
    call("eval", "tools")
    assert not home.data.exists()
    assert sorted(path.name for path in home.work.iterdir()) == ["mine.jsonl", "notes.txt"]


def save(home: Home, name: str, run: Run) -> None:
    with open_run_log(run.info, home.work / name) as log:
        for each in run.results:
            log.add(each)


def test_the_terminal_shows_scores_matrix_times_and_confusions(home: Home, call: Call) -> None:
    results = (
        result("pay Bob", "vault", "vault", kind="plain"),
        result("what do I owe", "vault", "direct", kind="hard"),
        result("hello", "direct", "direct", sure=False),
    )
    save(home, "run.jsonl", run_of(*results))
    assert call("eval", "show", "run.jsonl").out == (
        "Routing · router (light) · mine.jsonl · threshold 0.6 · ready in 12 ms\n\n"
        "       requests  right  accuracy     sure  sure and wrong\n"
        "plain         1      1   100.0 %  100.0 %           0.0 %\n"
        "hard          1      0     0.0 %  100.0 %         100.0 %\n"
        "all           3      2    66.7 %   66.7 %          33.3 %\n\n"
        "Confusion: a row for each expected, a column for each given\n"
        "expected   vault  direct\n"
        "vault          1       1\n"
        "direct         ·       1\n\n"
        "route   requests  median  95 % within\n"
        "vault          2    2 ms         2 ms\n"
        "direct         1    2 ms         2 ms\n"
        "all            3    2 ms         2 ms\n\n"
        "Worst confusions\n"
        "vault taken for direct: 1\n"
        "  what do I owe  confidence 0.90, sure\n"
    )


def test_a_saved_run_is_shown_and_goes_on(home: Home, call: Call, mine: str) -> None:
    arguments = ("eval", "routing", "--light", "--set", mine, "--out", "run.jsonl")
    first = json.loads(call(*arguments, "--json").out)
    lines = (home.work / "run.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 4
    (home.work / "run.jsonl").write_text("".join(lines[:3]), encoding="utf-8")
    assert "2 of 3 cases so far" in call("eval", "show", "run.jsonl").out
    again = call(*arguments, "--json")
    assert again.err == "run.jsonl: 2 of 3 cases had been tried before.\n"
    assert json.loads(again.out)["confusion"] == first["confusion"]


def test_a_run_with_another_set_or_model_is_refused(home: Home, call: Call, mine: str) -> None:
    call("eval", "routing", "--light", "--set", mine, "--out", "run.jsonl")
    other = call("eval", "routing", "--set", mine, "--model", "offline", "--out", "run.jsonl")
    assert other.code == 1
    assert other.err.startswith("sestet: run.jsonl: holds a run of router")
    (home.work / mine).write_text(CASES[0], encoding="utf-8")
    changed = call("eval", "routing", "--light", "--set", mine, "--out", "run.jsonl")
    assert "over another set (mine.jsonl, 3 cases)" in changed.err


def test_two_runs_are_compared(home: Home, call: Call) -> None:
    for name, given in (("a.jsonl", "planner"), ("b.jsonl", "vault")):
        run = run_of(result("pay Bob", "vault", given), result("hi", "direct", "direct"))
        save(home, name, run)
    shown = call("eval", "compare", "a.jsonl", "b.jsonl").out
    assert "+50.0 points: 1 mended, 0 broken" in shown
    assert "Mended\npay Bob\n  vault: planner → vault\n" in shown
    found = json.loads(call("eval", "compare", "b.jsonl", "a.jsonl", "--json").out)
    assert (found["difference"], found["accuracy"]) == (-0.5, [1.0, 0.5])
    assert found["broken"] == [
        {"request": "pay Bob", "expected": "vault", "before": "vault", "after": "planner"}
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("routing", "--set", "gone.jsonl"), "gone.jsonl: cannot be read: No such file or directory"),
        (("routing", "--set", "notes.txt"), "notes.txt, line 1: is not JSON"),
        (("routing", "--model", "gpt"), "write offline, configured, or provider/model"),
        (("tools", "--model", "ofline/x"), "'ofline' is not under providers; did you mean 'offline'?"),
        (("tools", "--html", "gone/page.html"), "gone/page.html: there is no such directory"),
        (("tools", "--out", "run", "--html", "run"), "run: the page needs a file of its own"),
        (("compare", "notes.txt", "notes.txt"), "notes.txt: is not a saved run"),
        (("show", "gone.jsonl"), "gone.jsonl: cannot be read"),
    ],
)
def test_a_mistake_is_said_in_one_line(call: Call, arguments: tuple[str, ...], problem: str) -> None:
    done = call("eval", *arguments)
    assert done.code in (1, 2)
    assert done.out == ""
    assert problem in done.err


async def test_a_real_model_is_asked_over_http_and_what_it_cost_is_said(home: Home, mine: str) -> None:
    give = called(0, '{"agent_name": "operator", "request": "r"}', id="c1", name="transfer_to_agent")
    answers = (
        said(give, finish("tool_calls"), usage(900, 20)),
        said(text("I will remember it."), finish(), usage(900, 30)),
        refused(401, '{"error": {"message": "bad key"}}'),
    )
    arguments = ("eval", "routing", "--model", "home/tiny", "--set", mine, "--out", "run.jsonl")
    async with serve(*answers) as server:
        settings = f"providers: {{home: {{baseUrl: '{server.url}', retries: 0}}}}\n"
        (home.work / "sestet.yaml").write_text(settings, encoding="utf-8")
        done = await asyncio.to_thread(home.run, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert "2 of 3 cases were tried and are kept in run.jsonl; the same command goes on" in done.stderr

    async with serve(said(text("Hello!"), finish(), usage(800, 5))) as server:
        settings = f"providers: {{home: {{baseUrl: '{server.url}', retries: 0}}}}\n"
        (home.work / "sestet.yaml").write_text(settings, encoding="utf-8")
        done = await asyncio.to_thread(home.run, *arguments)
        assert len(server.received) == 1, "what was tried is not paid for again"
    assert done.returncode == 0
    assert re.search(r"route +requests +median +95 % within +tokens in +out +cost\n", done.stdout)
    assert re.search(r"all +3 .* 2,600 +55 ", done.stdout)
    assert "chronicler taken for direct: 1\n  remember that I like tea\n" in done.stdout


async def test_ctrl_c_stops_a_run_and_says_what_is_kept(home: Home, mine: str) -> None:
    arguments = ("eval", "routing", "--model", "home/tiny", "--set", mine, "--out", "run.jsonl")

    def stop_at_the_second() -> int:
        with home.terminal(*arguments) as terminal:
            terminal.expect("1/3")
            terminal.press("\x03")
            terminal.expect("Stopped. 1 of 3 cases were tried and are kept in run.jsonl")
            return terminal.wait()

    async with serve(said(text("Hello!"), finish()), said(text("Hm"), ending="hang")) as server:
        settings = f"providers: {{home: {{baseUrl: '{server.url}'}}}}\n"
        (home.work / "sestet.yaml").write_text(settings, encoding="utf-8")
        assert await asyncio.to_thread(stop_at_the_second) == 130
    assert len(load_run(home.work / "run.jsonl").results) == 1


def test_the_choice_of_tools_is_tried_and_each_failure_named(home: Home, call: Call) -> None:
    cases: list[tuple[str, str, dict[str, str]]] = [
        ("read notes.txt", "fs_read", {"path": "notes.txt"}),
        ("read todo.txt", "fs_read", {"path": "other.txt"}),
        ("hum a tune", "fs_list", {}),
    ]
    lines = [
        json.dumps({"request": request, "agent": "operator", "tool": tool, "arguments": arguments})
        for request, tool, arguments in cases
    ]
    (home.work / "mine.jsonl").write_text("\n".join(lines), encoding="utf-8")
    shown = call("eval", "tools", "--set", "mine.jsonl", "--html", "page.html").out
    assert "operator  fs_read         2     100.0 %         50.0 %\n" in shown
    assert 'read todo.txt\n  fs_read: path: wanted "other.txt", got "todo.txt"\n' in shown
    assert "hum a tune\n  wanted fs_list, got no call" in shown
    assert "other.txt" in (home.work / "page.html").read_text(encoding="utf-8")
    found = json.loads(call("eval", "tools", "--set", "mine.jsonl", "--json").out)
    assert (found["accuracy"], found["tool_accuracy"]) == (1 / 3, 2 / 3)
    assert found["by_tool"]["fs_read"]["n"] == 2


def test_parts_of_requests_are_tried(home: Home, call: Call) -> None:
    case = '{"request": "read notes.txt and remember the wifi code", "agents": ["operator", "chronicler"]}'
    (home.work / "mine.jsonl").write_text(case, encoding="utf-8")
    arguments = ("eval", "multipart", "--light", "--set", "mine.jsonl", "--html", "page.html")
    found = json.loads(call(*arguments, "--json").out)
    assert (found["n"], list(found["by_kind"])) == (1, ["several parts"])
    assert "several parts" in call(*arguments).out
    assert "several parts" in (home.work / "page.html").read_text(encoding="utf-8")


def drawn(run: Run, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False, markup=False)
    print_run(console, run)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_the_matrix_fits_80_columns_with_names_cut_short() -> None:
    run = run_of(*(result(name, name, name) for name in (*NAMES, "direct")))
    lines = drawn(run, 80)
    assert max(map(len, lines)) <= 80
    assert "expected    operator  navigat…     vault  librari…   planner  chronic…    direct" in lines
    assert (
        lines.count("vault              ·         ·         1         ·         ·         ·         ·") == 1
    )


def test_a_matrix_with_too_many_columns_is_left_to_the_page() -> None:
    run = run_of(*(result(str(number), f"specialist{number}", "direct") for number in range(30)))
    assert "31 columns are too many for this terminal; --html draws them." in drawn(run, 80)


def test_at_a_terminal_there_is_a_bar(home: Home, mine: str) -> None:
    with home.terminal("eval", "routing", "--light", "--set", mine) as terminal:
        terminal.expect("routing ")
        terminal.expect("Confusion")
        assert terminal.wait() == 0


class Page(HTMLParser):
    """The tags of a page, and every attribute that would load or run something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += (name for name, _ in attrs)


def test_the_page_is_whole_and_obeys_nothing_that_it_shows() -> None:
    info = RunInfo("tools", MODEL, HOSTILE, "x", 2)
    results = [
        Result(HOSTILE, HOSTILE, HOSTILE, False, HOSTILE, HOSTILE, HOSTILE),
        Result(HOSTILE, "fs_read", HOSTILE, False, HOSTILE, HOSTILE, HOSTILE),
    ]
    for run in (Run(info, results), run_of(*results)):
        page = Page(render_page(run))
        assert page.tags.count("svg") == 1
        assert not {"script", "img", "link", "a", "iframe"}.intersection(page.tags)
        assert not {"src", "href", "onerror"}.intersection(page.attributes)
        assert "\x1b" not in render_page(run)


def test_a_page_of_a_run_that_has_only_begun_can_be_read() -> None:
    assert "1 not tried yet" in render_page(run_of(cases=["a"]))


def test_the_matrix_is_a_picture_with_each_number_in_its_cell() -> None:
    page = render_page(run_of(result("a", "vault", "planner"), result("b", "vault", "vault")))
    assert "vault given to planner: 1 of 2" in page
    assert 'aria-label="Confusion matrix: 1 of 2 requests on the diagonal"' in page


def test_retrieval_is_tried_on_ones_own_set(home: Home, call: Call) -> None:
    lines = (
        '{"id": "tea", "title": "Tea", "text": "Green tea steeps for two minutes."}',
        '{"question": "steeping time", "passages": ["tea"], "kind": "words"}',
        '{"question": "lava", "passages": []}',
        '{"question": "rent of the flat", "passages": ["tea"], "kind": "\\u001b[31mred"}',
    )
    (home.work / "passages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = json.loads(call("eval", "retrieval", "--set", "passages.jsonl", "--json").out)
    assert found["recall"]["hybrid"]["words"] == {"n": 1, "at_1": 1.0, "at_5": 1.0}
    assert found["unanswered"] == {"n": 1, "shown": dict.fromkeys(found["recall"], 0.0)}
    shown = call("eval", "retrieval", "--set", "passages.jsonl")
    assert (shown.code, "\x1b[31m" in shown.out) == (0, False)
    assert "1 passages, 3 questions" in shown.out
    assert "rent of the flat" in shown.out
    assert "no such" in call("eval", "retrieval", "--set", "absent.jsonl").err.lower()
    assert not home.data.exists()
