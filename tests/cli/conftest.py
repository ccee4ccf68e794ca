"""A person's world for each test of the command line."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from sestet.cli import assistant, main
from tests.cli.program import Home


class Done(NamedTuple):
    code: int | str | None
    out: str
    err: str


Call: TypeAlias = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The program called in this process, for the many cases that need no process of their own."""
    monkeypatch.chdir(home.work)
    for name, value in home.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(logging, "raiseExceptions", logging.raiseExceptions)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["sestet", *arguments])
        # In a process of its own, a command has said nothing yet.
        monkeypatch.setattr(assistant, "_warned", set[str]())
        home.accept_work()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Done(left.value.code, said.out, said.err)

    return call
