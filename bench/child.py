"""Runs inside the virtual environment of one contestant, measures one figure, and writes it to a file.

``python -m bench.child <module> <figure> <tree> <home> <result>``
"""

import asyncio
import gc
import importlib
import json
import sys

from bench.process import read_cpu_ms, read_rss_kb
from bench.script import Script, Stage
from bench.tree import read_tree


def main() -> None:
    module, figure, tree, home, result = sys.argv[1:]
    raw = asyncio.run(_measure(module, figure, Stage(read_tree(tree), Script(), home)))
    with open(result, "w", encoding="utf-8") as file:
        json.dump(raw, file)


async def _measure(module: str, figure: str, stage: Stage) -> dict[str, float]:
    contestant = importlib.import_module(module)
    async with contestant.start(stage) as started:
        if figure == "ready":
            used = read_cpu_ms()
            gc.collect()
            return {"ready_ms": used, "rss_kb": read_rss_kb()}
        # Imported late, so that the figure "ready" does not include it.
        from bench.measure import FIGURES

        return await FIGURES[figure](started, stage.script)


if __name__ == "__main__":
    main()
