"""A chain for all tests of a worker, and for each test a wallet of its own."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.chain.local_chain import Chain, TestSigner, running_chain
from tests.services.payments.world import World


@pytest.fixture(scope="session")
def chain() -> Iterator[Chain]:
    with running_chain() as chain:
        yield chain


@pytest.fixture
def world(chain: Chain, tmp_path: Path) -> Generator[World]:
    """A funded wallet and an empty database."""
    world = World(chain, TestSigner(os.urandom(32)), tmp_path)
    chain.fund(world.wallet)
    yield world
    world.close()
