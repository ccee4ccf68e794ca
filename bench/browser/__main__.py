"""``python -m bench.browser``: tokens, memory and start of the navigator's browser, against Playwright."""

import argparse
import json
import sys
from pathlib import Path
from statistics import median

from bench.browser.children import Outcome, run_child
from bench.browser.figures import Bar, PageFigures, draw, page_bars, token_counter, words_kept
from bench.browser.pages import HUGE, PAGES, fetch_pages
from bench.browser.server import SavedSites
from bench.children import ChildError
from bench.entries import Entry
from bench.venvs import ROOT, InstallError, find_python, is_current, make_venv

_OUTPUT = ROOT / "build" / "browser.json"
_PLAYWRIGHT = Entry("playwright", "bench.peers.playwright_pages", "playwright", ("playwright==1.65.2",))
_SHELL = Path("/usr/lib/chromium/chromium-headless-shell")
_FULL = Path("/usr/lib/chromium/chromium")
_ROUNDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.browser", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the JSON instead of the tables")
    parser.add_argument(
        "--output", type=Path, default=_OUTPUT, metavar="FILE", help="default: build/browser.json"
    )
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N", help="starts of each browser")
    options = parser.parse_args()
    try:
        if not _SHELL.exists():
            raise InstallError(
                "chromium-headless-shell is missing: sudo apt-get install chromium-headless-shell"
            )
        contents = fetch_pages()
        if not is_current(_PLAYWRIGHT):
            print("browser: installing Playwright", file=sys.stderr, flush=True)
            make_venv(_PLAYWRIGHT)
        sites = SavedSites(contents)
        try:
            pages, huge = _read_pages(sites.port, contents)
            bars, costs = _start_browsers(sites.port, options.rounds)
        finally:
            sites.close()
    except (InstallError, ChildError) as error:
        print(f"browser: cannot be measured: {error}", file=sys.stderr)
        return 1
    bars = [*page_bars(pages), *bars, huge]
    figures = {
        "pages": [page._asdict() for page in pages],
        "bars": [bar._asdict() for bar in bars],
        "costs": costs,
    }
    text = json.dumps(figures, indent=2)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(f"{text}\n", encoding="utf-8")
    print(text if options.json else draw(pages, bars, costs))
    return 0 if all(bar.is_met for bar in bars) else 1


def _own(port: int, mode: str, *hosts: str) -> Outcome:
    return run_child(sys.executable, "bench.browser.own", [str(port), mode, *hosts])


def _peer(port: int, mode: str, program: Path, *hosts: str) -> Outcome:
    arguments = [str(port), mode, str(program), *hosts]
    return run_child(str(find_python(_PLAYWRIGHT)), _PLAYWRIGHT.module, arguments)


def _read_pages(port: int, contents: dict[str, bytes]) -> tuple[list[PageFigures], Bar]:
    hosts = [page.served_as for page in PAGES]
    print("browser: reading the pages", file=sys.stderr, flush=True)
    own = _own(port, "read", *hosts, HUGE).pages
    print("browser: reading them with Playwright", file=sys.stderr, flush=True)
    peer = _peer(port, "read", _SHELL, *hosts).pages
    count = token_counter()
    found: list[PageFigures] = []
    for page in PAGES:
        read = own[page.served_as]
        tokens = count(read["text"])
        html = contents[page.served_as].decode(errors="replace")
        kept = words_kept(read["inner"], read["options"], read["text"])
        ratios = tokens / count(peer[page.served_as]), tokens / count(html)
        found.append(PageFigures(page.host, page.about, tokens, *ratios, kept, read["seconds"]))
    return found, Bar("characters of a 5 MB page, read or searched", own[HUGE]["longest"], 12_000)


def _start_browsers(port: int, rounds: int) -> tuple[list[Bar], dict[str, str]]:
    """The time to the first reading and the memory then, Python included. In turns: machines are busy."""
    program = _FULL if _FULL.exists() else _SHELL
    host = PAGES[0].served_as
    own: list[Outcome] = []
    peer: list[Outcome] = []
    for number in range(rounds):
        print(f"browser: start {number + 1} of {rounds}", file=sys.stderr, flush=True)
        own.append(_own(port, "start", host))
        peer.append(_peer(port, "start", program, host))
    seconds = [median(each.seconds for each in group) for group in (own, peer)]
    memory = [median(each.pss_mb for each in group) for group in (own, peer)]
    bars = [Bar("start to the first page read / Playwright", seconds[0] / seconds[1], 0.6)]
    if all(memory):
        bars.append(Bar("memory with one page / Playwright", memory[0] / memory[1], 0.5))
    peer_name = f"Playwright with {program.name}"
    costs = {
        "start to the first page read": f"{seconds[0]:.2f} s; {peer_name} {seconds[1]:.2f} s",
        "memory with one page (PSS)": f"{memory[0]:.0f} MB; {peer_name} {memory[1]:.0f} MB",
    }
    return bars, costs


if __name__ == "__main__":
    sys.exit(main())
