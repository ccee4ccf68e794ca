"""A real chain on this machine: anvil with a USDC contract at the address of the real one."""

import json
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from eth_abi.abi import encode
from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

from sestet.services.payments.networks import BASE_SEPOLIA, Network
from sestet.services.vault.entries import EntryInfo, KeyKind
from sestet.services.vault.signing import Signature

HERE = Path(__file__).parent
USDC = 1_000_000
ETHER = 10**18
PATIENCE = 60.0


class Transfer(NamedTuple):
    payer: str
    payee: str
    amount: int


class Chain:
    """A running chain. Its methods block."""

    def __init__(self, url: str, network: Network = BASE_SEPOLIA) -> None:
        self.url = url
        self.network = network

    def ask(self, method: str, *parameters: object) -> Any:  # Any: decoded JSON that a test looks into
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310 - loopback
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as response:
            answer = json.load(response)
        assert "error" not in answer, answer
        return answer["result"]

    def put_contract(self) -> None:
        code = (HERE / "usdc.hex").read_text().strip()
        self.ask("anvil_setCode", self.network.usdc, f"0x{code}")

    def fund(self, wallet: str, usdc: int = 100 * USDC, ether: int = ETHER) -> None:
        self.ask("anvil_setBalance", wallet, hex(ether))
        if usdc:
            self.execute("mint(address,uint256)", ("address", "uint256"), (wallet, usdc))

    def block(self, account: str) -> None:
        """Freeze an account, as the issuer of USDC can."""
        self.execute("setBlocked(address,bool)", ("address", "bool"), (account, True))

    def execute(self, function: str, types: tuple[str, ...], values: tuple[object, ...]) -> None:
        data = keccak(function.encode())[:4] + encode(types, values)
        sender = self.ask("eth_accounts")[0]
        sent = self.ask(
            "eth_sendTransaction", {"from": sender, "to": self.network.usdc, "data": f"0x{data.hex()}"}
        )
        self.wait_for(sent)

    def wait_for(self, transaction: str) -> Any:  # Any: decoded JSON that a test looks into
        give_up = time.monotonic() + PATIENCE
        while (receipt := self.ask("eth_getTransactionReceipt", transaction)) is None:
            assert time.monotonic() < give_up, "the chain makes no block"
            time.sleep(0.01)
        return receipt

    def balance(self, account: str) -> int:
        data = keccak(b"balanceOf(address)")[:4] + encode(("address",), (account,))
        call = {"to": self.network.usdc, "data": f"0x{data.hex()}"}
        return int(self.ask("eth_call", call, "latest"), 16)

    def transfers_from(self, wallet: str) -> list[Transfer]:
        """Every movement of money out of a wallet, as the chain recorded it."""
        topic = f"0x{keccak(b'Transfer(address,address,uint256)').hex()}"
        logs = self.ask(
            "eth_getLogs",
            {
                "address": self.network.usdc,
                "fromBlock": "0x0",
                "toBlock": "latest",
                "topics": [topic, f"0x{wallet[2:].lower():0>64}"],
            },
        )
        return [Transfer(wallet, f"0x{log['topics'][2][-40:]}", int(log["data"], 16)) for log in logs]

    def transactions_of(self, wallet: str) -> int:
        return int(self.ask("eth_getTransactionCount", wallet, "latest"), 16)

    def pass_time(self, seconds: int) -> None:
        self.ask("evm_increaseTime", hex(seconds))
        self.ask("evm_mine")


@contextmanager
def running_chain(*, at_once: bool = True) -> Generator[Chain]:
    """A chain on a free port, which ends with the block. ``at_once``: no transaction waits for a block."""
    programs = list((HERE / "node_modules/@foundry-rs").glob("anvil-*/bin/anvil"))
    if not programs:
        pytest.skip("no local chain: 'make setup' installs it where npm is found")
    options = ["--port", "0", "--chain-id", str(BASE_SEPOLIA.chain_id)]
    # Blocks also without transactions, so that the chain's clock goes on. Base has one in two seconds.
    options += ["--block-time", "1", "--mixed-mining"] if at_once else ["--block-time", "2"]
    with tempfile.NamedTemporaryFile("w") as written:
        process = subprocess.Popen([str(programs[0]), *options], stdout=written)
        log = Path(written.name)
        try:
            chain = Chain(_address_in(log))
            chain.put_contract()
            yield chain
        finally:
            process.kill()
            process.wait()


def _address_in(log: Path) -> str:
    """The address that the chain prints when it listens. It logs on, so a pipe would fill up."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if found := re.search(r"Listening on (\S+)", log.read_text()):
            return f"http://{found[1]}"
        time.sleep(0.02)
    raise AssertionError("the chain did not start")


class TestSigner:
    """Holds one key in this process, where a real one is in the vault's broker."""

    __test__ = False

    def __init__(self, secret: bytes) -> None:
        self._key = PrivateKey(secret)
        self.signed: list[bytes] = []

    @property
    def address(self) -> str:
        return self._key.public_key.to_checksum_address()

    def has_key(self, name: str) -> bool:
        return name == "wallet"

    def public_key(self, name: str) -> bytes:
        return b"\x04" + self._key.public_key.to_bytes()

    def generate_key(self, name: str, kind: KeyKind) -> EntryInfo:
        raise AssertionError("it has its key already")

    def sign_digest(self, name: str, digest: bytes) -> Signature:
        self.signed.append(digest)
        signature = self._key.sign_msg_hash(digest)
        return Signature(signature.r, signature.s)
