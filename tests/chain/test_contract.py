"""The code of the contract that the payment tests use."""

import shutil
import subprocess

import pytest

from tests.chain.local_chain import HERE


@pytest.mark.slow
def test_the_code_on_the_chain_is_that_of_the_source() -> None:
    node = shutil.which("node")
    if node is None or not (HERE / "node_modules/solc").is_dir():
        pytest.skip("no compiler: 'make setup' installs it where npm is found")
    made = subprocess.run([node, "compile.js"], cwd=HERE, check=True, capture_output=True, text=True)

    assert made.stdout == (HERE / "usdc.hex").read_text(), "write it anew: node compile.js > usdc.hex"
