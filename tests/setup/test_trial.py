"""Set-up as a service: a page can try a choice without a terminal."""

from pathlib import Path

import pytest

from sestet.config import load_settings
from sestet.config.vendors import OFFLINE
from sestet.setup.choices import Choice
from sestet.setup.trial import attempt


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))


async def test_a_choice_that_works_is_written_and_says_what_happened(tmp_path: Path) -> None:
    file = tmp_path / "sestet.yaml"

    trial = await attempt(file, Choice(OFFLINE, "", "built in"))

    assert (trial.problem, trial.delegations, trial.tools) == ("", ["operator"], ["fs_list"])
    assert load_settings(file).settings.agent.provider == OFFLINE


async def test_a_choice_that_fails_is_not_written_and_gives_the_bare_reason(tmp_path: Path) -> None:
    file = tmp_path / "sestet.yaml"
    nowhere = Choice("mine", "small", "here", entry={"baseUrl": "http://127.0.0.1:9/v1"})

    trial = await attempt(file, nowhere)

    assert trial.problem.startswith("The model failed: 'mine' at http://127.0.0.1:9/v1")
    assert not file.exists()
