"""The bank and the training: the weights belong to them, and the wheel and the run time do without them."""

import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from sestet.evals.training import hash_bank, read_bank
from sestet.evals.training.report import PAGE, weights_name
from sestet.models.router import DIRECT, Example
from sestet.models.router.weights import read_weights

ROOT = Path(__file__).parents[2]


def test_the_weights_were_learned_from_the_bank_as_it_is() -> None:
    assert read_weights().header["bank"] == hash_bank(read_bank()), "the bank has changed: run `make router`"


def test_the_figures_on_the_page_are_those_of_the_weights() -> None:
    assert f"`{weights_name()}`" in PAGE.read_text(encoding="utf-8"), (
        "the weights have changed: run `make router`"
    )


def test_every_learned_owner_has_a_bank() -> None:
    bank = read_bank()
    for agent in read_weights().header["agents"]:
        assert sum(example.agent == agent for example in bank) >= 60, agent


def test_a_file_is_an_owner_and_a_heading_is_no_request(tmp_path: Path) -> None:
    (tmp_path / "direct.txt").write_text("hello\n", encoding="utf-8")
    (tmp_path / "postman.txt").write_text("# letters\n\n  answer the letter \n", encoding="utf-8")
    assert read_bank(tmp_path) == (
        Example("answer the letter", "postman", "letters"),
        Example("hello", DIRECT),
    )


def test_the_wheel_has_the_sets_and_the_weights_but_neither_bank_nor_training() -> None:
    files = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {"sestet/evals/sets/routing.jsonl", "sestet/evals/trial.py"} <= files
    assert "sestet/models/router/weights.bin" in files
    assert [file for file in files if file.startswith("sestet/evals/training")] == []


@pytest.mark.parametrize("command", [["route", "hello"], ["ask", "hello"]], ids=["route", "ask"])
def test_neither_routing_nor_an_answer_reads_anything_of_the_evals(
    command: list[str], tmp_path: Path
) -> None:
    script = """
import os, sys
def watch(event, arguments):
    if event == "open" and "sestet/evals" in str(arguments[0]):
        os.write(2, f"READ {arguments[0]}\\n".encode())
sys.addaudithook(watch)
from sestet.cli import main
main()
"""
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "READ" not in done.stderr
    assert not any("evals" in line for line in done.stderr.splitlines())
