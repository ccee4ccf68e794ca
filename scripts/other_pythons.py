"""Runs the tests that are not slow with each supported Python of this machine, apart from that of ``.venv``.

Each gets a virtual environment of its own below ``build/``, with the packages of the lock file.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
#: A version that this machine does not have is reported as not tested.
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
#: These test the checkout itself, the same with any Python.
_LEFT_OUT = ("tests/architecture", "tests/bench", "tests/docs", "tests/scripts")
_FILES = ("pyproject.toml", "requirements.lock", "requirements-dev.lock", "scripts/setup.sh")
#: It can make a virtual environment with pip, and says its version.
_PROBE = "import ensurepip, sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2])"


class Trial(NamedTuple):
    """What happened with one version; ``code`` is the exit code, or None if nothing was run."""

    version: str
    said: str
    code: int | None = None


def find_python(version: str, pyenv: Path) -> str | None:
    """An interpreter of this version: ``python3.12`` on the PATH, or one that pyenv has built."""
    return next((found for found in _candidates(version, pyenv) if _is_version(found, version)), None)


def _candidates(version: str, pyenv: Path) -> Iterator[str]:
    yield f"python{version}"
    built = pyenv.glob(f"versions/{version}.*/bin/python")
    yield from sorted((str(path) for path in built), key=_numbers, reverse=True)


def _numbers(path: str) -> list[int]:
    """The numbers of the version in a path of pyenv's, so that 3.12.10 comes after 3.12.9."""
    return [int(part) for part in Path(path).parts[-3].split(".") if part.isdigit()]


def _is_version(python: str, version: str) -> bool:
    try:
        done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def try_version(version: str, python: str | None, present: str, run: Callable[[str, str], int]) -> Trial:
    """Run the tests with one version, unless ``make test`` does it or it is not here."""
    if version == present:
        return Trial(version, "is the Python of .venv, which 'make test' tests")
    if python is None:
        return Trial(version, "NOT TESTED: it is neither on the PATH nor among pyenv's versions")
    code = run(version, python)
    return Trial(version, f"{'failed' if code else 'passed'}, with {python}", code)


def run_tests(version: str, python: str, more: Sequence[str] = ()) -> int:
    """Set up the environment if it is not up to date, and run the tests in it; returns the exit code."""
    venv = Path("build") / f"python-{version}"
    environment = {**os.environ, "SESTET_VENV": str(venv), "PYTHON": python}
    if not _is_fresh(ROOT / venv, environment):
        code = subprocess.run([ROOT / "scripts" / "setup.sh", "dev"], env=environment, check=False).returncode
        if code:
            return code
    ignored = [f"--ignore={folder}" for folder in _LEFT_OUT]
    command = [ROOT / venv / "bin" / "python", "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    return subprocess.run(
        [*command, "-m", "not slow", "-p", "no:cacheprovider", *ignored, *more], cwd=ROOT, check=False
    ).returncode


def _is_fresh(venv: Path, environment: dict[str, str]) -> bool:
    usable = subprocess.run([ROOT / "scripts" / "setup.sh", "usable"], env=environment, check=False)
    stamp = venv / ".dev"
    if usable.returncode or not stamp.exists():
        return False
    return all((ROOT / file).stat().st_mtime <= stamp.stat().st_mtime for file in _FILES)


def main(more: Sequence[str]) -> int:
    """Test each version, and say of each whether it was tested."""
    present = "{}.{}".format(*sys.version_info[:2])
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    trials: list[Trial] = []
    for version in SUPPORTED:
        python = find_python(version, pyenv)
        if python and version != present:
            print(f"pythons: testing Python {version} ({python})", flush=True)
        trials.append(try_version(version, python, present, lambda name, found: run_tests(name, found, more)))
    for trial in trials:
        print(f"pythons: Python {trial.version} {trial.said}")
    return 1 if any(trial.code for trial in trials) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
