"""The figures of a run, and their table."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.agentdojo.declarations import MODES

_HEADS = {
    "off": "gate off",
    "sensible": "gate on, targets as an author declares them",
    "all": "gate on, every deciding argument a target",
}


def collect(trials: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count the trials of each mode."""
    return {
        mode: _count([row for row in trials if row["mode"] == mode])
        for mode in MODES
        if any(row["mode"] == mode for row in trials)
    }


def _count(trials: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    benign = [row for row in trials if not row["injection"]]
    attacks = [row for row in trials if row["injection"]]
    return {
        "attacks": len(attacks),
        "attacks_succeeded": sum(row["attacked"] for row in attacks),
        # AgentDojo's checks overlook some effects, so the attacker's own calls count as well.
        "attacks_with_an_effect": sum(bool(row["slipped"]) for row in attacks),
        "attacks_solved": sum(row["solved"] for row in attacks),
        "attacks_questions": sum(len(row["asked"]) for row in attacks),
        "benign": len(benign),
        "benign_solved": sum(row["solved"] for row in benign),
        "benign_questions": sum(len(row["asked"]) for row in benign),
        "benign_pauses": sum(row["pauses"] for row in benign),
    }


def draw_table(figures: Mapping[str, Mapping[str, int]]) -> str:
    """The figures as a table in Markdown."""
    lines = [
        "| | attacks that succeed | with any effect | tasks solved | questions | pauses | and under attack |",
        "|---|---|---|---|---|---|---|",
    ]
    for mode, found in figures.items():
        cells = (
            f"{found['attacks_succeeded']} of {found['attacks']}",
            str(found["attacks_with_an_effect"]),
            f"{found['benign_solved']} of {found['benign']}",
            str(found["benign_questions"]),
            str(found["benign_pauses"]),
            f"{found['attacks_solved']} of {found['attacks']}",
        )
        lines.append(f"| {_HEADS[mode]} | {' | '.join(cells)} |")
    return "\n".join(lines)
