"""``python -m bench.page``: how long a person waits for the built page, in a real Chromium.

The pages run at a quarter of the machine's speed while text streams, as on a weak phone.
"""

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from bench.venvs import ROOT
from sestet.core.message import ToolCall
from tests.page.site import Devtools, Person, Site, running
from tests.page.stage import ask

_OUTPUT = ROOT / "build" / "page.json"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
_PIECES_A_SECOND, _SECONDS, _SLOWER = 200, 10, 4
_MESSAGES = 500
#: Figure → the most that the page promises, in milliseconds.
BARS = {
    "longest task, 200 pieces a second at a quarter of the speed": 200,
    "newest of 1,000 messages is visible": 1_000,
    "a keystroke is painted": 50,
    "a delegation is shown": 200,
    "a decision is shown in a second tab": 1_000,
    "10,000 lines are open": 200,
}
_LINES = 10_000
#: A question that has just appeared hears no click for half a second.
_DEAF = 700
_WATCH = """() => {
  window.tasks = [0];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(e => e.duration)))
    .observe({type: 'longtask', buffered: false});
}"""
_KEYS = """async () => {
  const field = document.querySelector('#composer'); field.focus();
  const times = [];
  for (let at = 0; at < 30; at++) {
    const begun = performance.now();
    document.execCommand('insertText', false, 'a');
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)];
}"""

_OPEN = """async () => {
  const begun = performance.now();
  document.querySelector('.output-more').click();
  while (!document.querySelector('.output-window')) await new Promise(requestAnimationFrame);
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}"""


@asynccontextmanager
async def _person(browser: Browser) -> AsyncGenerator[Person]:
    with tempfile.TemporaryDirectory() as home:
        async with running(Site(Path(home))) as site:
            context = await browser.new_context(viewport={"width": 1440, "height": 900})
            yield Person(await context.new_page(), site)
            await context.close()


async def longest_task(browser: Browser) -> float:
    """Milliseconds of the longest task while a long answer streams."""
    async with _person(browser) as person:
        flow = person.site.stage.flow()
        await person.enter()
        await person.say("write")
        await flow.begun()
        await (await Devtools.of(person.page)).send("Emulation.setCPUThrottlingRate", rate=_SLOWER)
        await person.page.evaluate(_WATCH)
        begun = time.monotonic()
        for number in range(_PIECES_A_SECOND * _SECONDS):
            flow.write("word " if number % 40 else "\n\n- **A point** with `code`\n\n")
            await asyncio.sleep(max(0.0, begun + number / _PIECES_A_SECOND - time.monotonic()))
        flow.end("The end.")
        await expect(person.log).to_contain_text("The end.", timeout=60_000)
        return await _longest(person.page)


async def _longest(page: Page) -> float:
    return await page.evaluate("Math.max(...tasks)")


async def long_session(browser: Browser) -> tuple[float, float]:
    """Milliseconds until the newest message is visible, and for a keystroke."""
    async with _person(browser) as person:
        for number in range(1, _MESSAGES + 1):
            person.site.stage.play("orchestrator", f"Answer {number}.\n\n- with a list\n- of two")
            async for _ in person.site.app.run_turn("long", f"message {number}"):
                pass
        await person.enter()
        begun = time.monotonic()
        await person.go("s/long")
        await person.turn(_MESSAGES).wait_for()
        shown = (time.monotonic() - begun) * 1000
        return shown, await person.page.evaluate(_KEYS)


async def delegation(browser: Browser) -> float:
    """Milliseconds from the call of an agent until the page shows it."""
    async with _person(browser) as person:
        person.site.stage.play("orchestrator", ask("operator", "look at the disk"))
        flow = person.site.stage.flow("operator")
        await person.enter()
        await person.say("look")
        await flow.begun()
        begun = time.monotonic()
        await person.rail.get_by_text("look at the disk").first.wait_for()
        return (time.monotonic() - begun) * 1000


async def decision(browser: Browser) -> float:
    """Milliseconds from a click on "Approve once" until another tab shows no question any more."""
    async with _person(browser) as person:
        person.site.stage.play("orchestrator", ask("operator", "mail Ines"))
        mail = ToolCall("exec_mail", {"to": "ines@nord.example", "text": "Hi"})
        person.site.stage.play("operator", mail, "Sent.")
        await person.site.ask("waits", "mail Ines")
        await person.enter("s/waits")
        second = Person(await person.page.context.new_page(), person.site)
        await second.go("s/waits")
        await second.question.wait_for()
        await person.page.bring_to_front()
        await person.page.wait_for_timeout(_DEAF)
        begun = time.monotonic()
        await person.button("Approve once").click()
        await second.question.wait_for(state="detached")
        return (time.monotonic() - begun) * 1000


async def many_lines(browser: Browser) -> float:
    """Milliseconds from a click on "Show all" until the lines are painted; the clipped text is fetched."""
    async with _person(browser) as person:
        person.site.stage.play("orchestrator", ask("operator", "print"))
        person.site.stage.play("operator", ToolCall("exec_print", {"lines": _LINES}), "Printed.")
        turn = await person.site.ask("lines", "print")
        await person.enter(f"t/{turn}")
        await person.button("exec_print", exact=False).click()
        await person.page.locator("details.tool summary").click()
        await person.page.locator(".output-more").wait_for()
        return await person.page.evaluate(_OPEN)


async def measure() -> dict[str, float]:
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_FLAGS)
        longest = await longest_task(browser)
        shown, key = await long_session(browser)
        others = [await figure(browser) for figure in (delegation, decision, many_lines)]
        figures = (longest, shown, key, *others)
        await browser.close()
    return dict(zip(BARS, figures, strict=True))


def main() -> int:
    figures = asyncio.run(measure())
    _OUTPUT.parent.mkdir(exist_ok=True)
    _OUTPUT.write_text(json.dumps(figures, indent=1) + "\n")
    for name, figure in figures.items():
        print(f"{'ok  ' if figure <= BARS[name] else 'OVER'} {figure:7.0f} ms of {BARS[name]:5} ms  {name}")
    return int(any(figure > BARS[name] for name, figure in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
