"""Settings for the whole suite."""

from pathlib import Path

import pytest
from hypothesis import settings

#: Folders whose tests try one thing in many ways. They are slow and bear the name of the battery:
#: `make test` leaves them out, `make test-faults` runs one battery, `make test-slow` runs them all.
BATTERIES = {
    "services/browser": "browser",
    "cli/processes": "processes",
    "containment": "containment",
    "faults": "faults",
    "page": "page",
    "services/sandbox": "sandbox",
}

_TESTS = Path(__file__).parent

# Speed is measured by the bench; a slow machine must not fail a test.
settings.register_profile("sestet", deadline=None)
settings.load_profile("sestet")


# First, so that the marks exist when `-m` chooses by them.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for folder, battery in BATTERIES.items():
        for item in items:
            if item.path.is_relative_to(_TESTS / folder):
                item.add_marker(battery)
                item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests read files and start programs from the root of the repository."""
    if Path.cwd() != item.config.rootpath:
        pytest.fail(f"an earlier test of this process left the working directory in {Path.cwd()}")
