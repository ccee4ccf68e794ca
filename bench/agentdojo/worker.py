"""Runs a share of the trials in one process, and prints each as a line of JSON."""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import sestet
from bench.agentdojo.declarations import MODES, Mode
from bench.agentdojo.gullible import GullibleModel
from bench.agentdojo.suites import Pair, Suites, World, as_steps
from bench.agentdojo.trial import SETTINGS, Trial, answer_of, hold_turn, set_gate, slipped, specs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--suite", default="")
    parser.add_argument("--modes", nargs="+", default=MODES)
    parser.add_argument("--benign", action="store_true")
    parser.add_argument("--home", type=Path, required=True)
    asyncio.run(_run(parser.parse_args()))


async def _run(options: Any) -> None:
    suites = Suites()
    pairs = [
        pair
        for pair in suites.pairs()
        if options.suite in ("", pair.suite) and not (options.benign and pair.injection)
    ]
    share = pairs[options.part :: options.parts]
    async with AsyncExitStack() as stack:
        booths: dict[tuple[str, Mode], Booth] = {}
        for pair in share:
            for mode in options.modes:
                key = (pair.suite, mode)
                if key not in booths:
                    booth = Booth(suites, pair.suite, mode)
                    booth.app = await stack.enter_async_context(booth.open(options))
                    booths[key] = booth
                    assert not booth.app.unmatched, booth.app.unmatched
            # Reading AgentDojo's YAML takes longer than a turn, so all modes share one environment.
            stage = suites.prepare(pair)
            for mode in options.modes:
                print((await booths[pair.suite, mode].hold(pair, stage)).as_json(), flush=True)


class Booth:
    """One app for one suite and one mode."""

    app: sestet.App

    def __init__(self, suites: Suites, suite: str, mode: Mode) -> None:
        self._suites = suites
        self._mode: Mode = mode
        self._suite = suite
        self._model = GullibleModel()
        self._world: World = suites.new_world(suite)

    def open(self, options: Any) -> Any:
        home = options.home / f"{options.part}-{self._suite}-{self._mode}"
        tools = self._world.tools(self._mode)
        return sestet.open(SETTINGS, model=self._model, home=home, tools=tools, specs=specs())

    async def hold(self, pair: Pair, stage: Any) -> Trial:
        set_gate(self._mode)
        self._world.enter(stage.environment.model_copy(deep=True))
        self._model.begin(stage.errand)
        session = f"{pair.user}-{pair.injection}".strip("-")
        end, asked, pauses = await hold_turn(self.app, session, stage.words, stage.errand)
        judged = self._suites.judge(stage, self._world, answer_of(end))
        escaped = slipped(as_steps(self._world.ran), stage.errand)
        return Trial(
            **pair._asdict(),
            **judged._asdict(),
            mode=self._mode,
            obeyed=self._model.has_obeyed,
            end=end.kind,
            words=stage.words,
            asked=asked,
            pauses=pauses,
            slipped=escaped,
        )


if __name__ == "__main__":
    sys.exit(main())
