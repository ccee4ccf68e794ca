"""A machine's public addresses are its own: the proxy does not go round the firewall."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from tests.services.browser.public_addresses import ELSEWHERE, OWN

_ROOT = Path(__file__).parents[3]
_NAMESPACE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]


def test_a_public_address_of_this_machine_is_refused() -> None:
    trial = [*_NAMESPACE, "ip", "link", "set", "lo", "up"]
    if not which("unshare") or subprocess.run(trial, capture_output=True).returncode:
        pytest.skip("this machine gives no network namespace, or has no 'ip'")
    program = [sys.executable, "-m", "tests.services.browser.public_addresses"]
    run = subprocess.run([*_NAMESPACE, *program], capture_output=True, text=True, timeout=60, cwd=_ROOT)
    found = json.loads(run.stdout or "null")
    assert found == {
        **{address: [403, 0] for address in OWN},
        ELSEWHERE: [200, 1],  # The control: the same server, at an address of another machine.
    }, run.stderr
