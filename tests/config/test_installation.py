"""An error that wants a package names the command that fits how Sestet was installed."""

import json
import sys
from pathlib import Path

import pytest

from sestet.config.installation import install_command


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pip of this Python, which is in a virtual environment of a clone and not on the PATH."""
    pip = tmp_path / "sestet/.venv/bin/pip"
    pip.parent.mkdir(parents=True)
    pip.touch(mode=0o700)
    monkeypatch.setattr(sys, "executable", str(pip.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path))
    return pip


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The metadata of a package 'sestet' that is found before the real one."""
    directory = tmp_path / "site/sestet-9.dist-info"
    directory.mkdir(parents=True)
    (directory / "METADATA").write_text("Metadata-Version: 2.1\nName: sestet\nVersion: 9\n")
    monkeypatch.setattr(sys, "path", [str(directory.parent), *sys.path])
    return directory


def test_a_sestet_from_a_wheel_names_that_wheel(installed: Path, pip: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "my wheels/sestet-9-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    (installed / "direct_url.json").write_text(json.dumps({"archive_info": {}, "url": wheel.as_uri()}))

    assert install_command("local") == f"{pip} install 'sestet[local] @ {wheel.as_uri()}'"
    assert install_command() == f"{pip} install 'sestet @ {wheel.as_uri()}'"


def test_a_wheel_that_is_gone_is_not_named(installed: Path, pip: Path) -> None:
    origin = '{"archive_info": {}, "url": "file:///nowhere/sestet-9-py3-none-any.whl"}'
    (installed / "direct_url.json").write_text(origin)

    assert install_command("local") == f"{pip} install 'sestet[local] @ file:///path/to/the.whl'"


def test_the_pip_of_a_clone_is_called_from_the_clone(installed: Path, pip: Path) -> None:
    clone = pip.parents[2].as_uri()
    (installed / "direct_url.json").write_text(json.dumps({"dir_info": {"editable": True}, "url": clone}))

    assert install_command("local") == ".venv/bin/pip install '.[local]' in the clone"
    assert install_command() == ".venv/bin/pip install . in the clone"


@pytest.mark.parametrize("origin", [None, "", "no JSON", "[]", "{}"])
def test_any_other_sestet_is_installed_in_its_clone(installed: Path, pip: Path, origin: str | None) -> None:
    if origin is not None:
        (installed / "direct_url.json").write_text(origin)

    assert install_command("local") == f"{pip} install '.[local]' in the clone"


def test_a_pip_of_this_python_that_is_on_the_path_is_called_by_its_name(
    pip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(pip.parent))

    assert install_command("local").startswith("pip install")


def test_a_python_without_pip_runs_it_as_a_module(pip: Path) -> None:
    pip.unlink()

    assert install_command("local").startswith(f"{pip.with_name('python')} -m pip install")
