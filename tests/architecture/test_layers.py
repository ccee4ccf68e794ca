"""The import contracts hold, each one finds a planted violation, and they cover everything."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sestet"

# The contracts of pyproject.toml as plain tables. Any: TOML has no types, and a wrong shape fails the test.
Contract = dict[str, Any]


def read_contracts() -> dict[str, Contract]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


CONTRACTS = read_contracts()

# Each violation: the contract that must find it, the module that gets the line, the line.
FORBIDDEN = {
    "core knows storage": ("layers", "core.agent", "import sestet.storage.database"),
    "config knows services": ("layers", "config.planted", "import sestet.services"),
    "siblings know each other": ("layers", "runtime.planted", "import sestet.orchestration"),
    "a room knows remote": ("layers", "agents.vault.planted", "import sestet.remote"),
    "an import hides in a function": ("layers", "core.planted", "def late():\n    import sestet.app"),
    "a module has no layer": ("layers", "helpers", ""),
    "what rooms share knows a room": ("rooms", "agents._shared.planted", "import sestet.agents.vault"),
    "a room knows another": ("rooms", "agents.vault.planted", "import sestet.agents.operator"),
    "a command opens the database": ("storage", "cli.planted", "import sestet.storage.database"),
    "a cycle in one layer": ("cycles", "core.agent", "import sestet.core.planted"),
    "core imports a vendor": ("vendors", "core.planted", "import typer"),
    "a room imports a vendor": ("vendors", "agents.vault.planted", "from a2a.types import Part"),
    "services import a vendor with a shared name": ("vendors", "services.planted", "import google.protobuf"),
    "storage reads yaml": ("vendors", "storage.planted", "from ruamel.yaml import YAML"),
    "the package itself imports a vendor": ("vendors", "__init__", "import rich"),
    "an adapter imports another's vendor": ("vendors", "cli.planted", "import httpx"),
}


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    """A copy of the package, beside the same settings, into which a test may plant what is forbidden."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return shutil.copytree(PACKAGE, tmp_path / "sestet", ignore=shutil.ignore_patterns("__pycache__"))


def plant(package: Path, module: str, line: str) -> None:
    """Add one line of code to a module of the package; the module is made if it does not exist."""
    path = package.joinpath(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8") if path.exists() else '"""Planted."""\n'
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}\n{line}\n", encoding="utf-8")


def run_linter(package: Path) -> str:
    """Check the contracts with the program that `make lint` runs."""
    # It looks for the package in its working directory first, so the copy wins against the installed one.
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        cwd=package.parent,
        env={"COLUMNS": "300", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def find_verdicts(output: str) -> dict[str, str]:
    """Return KEPT or BROKEN for each contract, by its id."""
    return {
        key: found[1]
        for key, contract in CONTRACTS.items()
        if (found := re.search(rf"^{re.escape(contract['name'])}.*\b(KEPT|BROKEN)\b", output, re.MULTILINE))
    }


def find_externals() -> set[str]:
    """Return the top-level names of everything that the package imports from outside the standard library."""
    graph = grimp.build_graph("sestet", include_external_packages=True, cache_dir=None)
    roots = {module.partition(".")[0] for module in graph.modules}
    return roots - set(sys.stdlib_module_names) - {"sestet"}


def test_every_contract_is_kept(copied_package: Path) -> None:
    output = run_linter(copied_package)
    assert find_verdicts(output) == dict.fromkeys(CONTRACTS, "KEPT"), output


@pytest.mark.parametrize(("contract", "module", "line"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_contract_breaks_when_what_it_forbids_is_planted(
    copied_package: Path, contract: str, module: str, line: str
) -> None:
    # Harmless alone: the second half of the cycle.
    plant(copied_package, "core.planted", "import sestet.core.agent")
    plant(copied_package, module, line)
    output = run_linter(copied_package)
    assert find_verdicts(output)[contract] == "BROKEN", output


def test_a_vendor_is_welcome_in_its_own_adapter(copied_package: Path) -> None:
    plant(copied_package, "cli.planted", "import typer, rich.console, prompt_toolkit")
    plant(copied_package, "config.planted", "from ruamel.yaml import YAML")
    plant(copied_package, "models.planted", "import openai, pydantic_ai.messages")
    plant(copied_package, "remote.planted", "import a2a.types, google.protobuf.message, httpx")
    output = run_linter(copied_package)
    assert find_verdicts(output)["vendors"] == "KEPT", output


def test_every_room_is_held_by_the_contract_of_the_rooms() -> None:
    # A pattern, so that a new room need not be listed.
    assert CONTRACTS["rooms"]["modules"] == ["sestet.agents.*"]


def test_a_new_room_is_held_by_the_contract_of_the_rooms(copied_package: Path) -> None:
    new = copied_package / "agents" / "beekeeper"
    new.mkdir()
    (new / "__init__.py").write_text('"""A room that no list names."""\n', encoding="utf-8")
    plant(copied_package, "agents.beekeeper.hives", "import sestet.agents._shared.text")
    assert find_verdicts(run_linter(copied_package))["rooms"] == "KEPT"

    plant(copied_package, "agents.beekeeper.hives", "import sestet.agents.vault")
    assert find_verdicts(run_linter(copied_package))["rooms"] == "BROKEN"


def test_everything_imported_from_outside_is_named_by_the_contract_of_the_vendors() -> None:
    externals = find_externals()
    assert externals, "the package uses vendors, so an empty answer means that nothing was looked at"
    assert externals <= set(CONTRACTS["vendors"]["forbidden_modules"])


def test_every_vendor_but_arithmetic_has_at_most_one_home() -> None:
    homes: dict[str, set[str]] = {}
    for line in CONTRACTS["vendors"]["ignore_imports"]:
        home, vendor = line.split(" -> ")
        homes.setdefault(vendor, set()).add(home.removesuffix(".**"))
    # numpy is how vectors are computed, and nothing that an adapter would replace. The training uses the
    # encoder's vendors, and does not ship.
    training = "sestet.evals.training"
    # Asking agents and answering them are two sides of one protocol, in two layers.
    both_sides = {"sestet.remote", "sestet.server.a2a"}
    shared = {
        # The HTTP client of the vendors' own libraries, of the MCP kit, and of payments, which none serves.
        "httpx2": {"sestet.models", "sestet.services.mcp", "sestet.services.payments.http_client"},
        "a2a": both_sides,
        "google": both_sides,
        "httpx": both_sides,
        # The client side with its servers, and the surface for clients.
        "mcp": {"sestet.services.mcp", "sestet.server.mcp_api", "sestet.server.mcp_server"},
        "mcp_types": {"sestet.services.mcp", "sestet.server.mcp_server"},
        "numpy": {
            "sestet.encoder",
            "sestet.models.router",
            "sestet.services.embedding",
            "sestet.services.vault.scanner",
            training,
        },
        "threadpoolctl": {"sestet.encoder", training},
    }
    assert {vendor: found for vendor, found in homes.items() if len(found) > 1} == shared
