"""``python -m bench.sandbox``: what the sandbox adds to the start of a command."""

import json
import sys
from collections.abc import Mapping

from bench.children import ChildError, scratch, start
from bench.entries import SESTET
from bench.venvs import InstallError, is_current, make_venv

#: Milliseconds that the sandbox may add.
BAR = 15.0


def measure_sandbox() -> dict[str, object]:
    """The median milliseconds of ``true``: plainly, in the sandbox, and the difference."""
    print("bench: the sandbox", file=sys.stderr, flush=True)
    try:
        if not is_current(SESTET):
            make_venv(SESTET)
        with scratch() as folder:
            result = folder / "result.json"
            start(SESTET, folder, "bench.own.sandbox", [str(folder / "workspace"), str(result)])
            return json.loads(result.read_text(encoding="utf-8"))
    except (ChildError, InstallError) as error:
        print(f"bench: the sandbox cannot be measured: {error}", file=sys.stderr)
        return {}


def draw_sandbox(figures: Mapping[str, object]) -> str:
    return "\n".join(
        [
            "| isolation | plain `true`, ms | in the sandbox, ms | `sandbox_ms`, added | bar |",
            "|---|---|---|---|---|",
            f"| {figures['isolation']} | {figures['plain_ms']:.1f} | {figures['confined_ms']:.1f} "
            f"| {figures['sandbox_ms']:.1f} | ≤ {BAR:.0f} |",
        ]
    )


if __name__ == "__main__":
    found = measure_sandbox()
    print(draw_sandbox(found) if found else "")
    sys.exit(0 if found else 1)
