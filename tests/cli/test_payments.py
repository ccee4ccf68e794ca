"""``sestet payments``: a wallet in the vault, a payment after an approval, and what is told about them."""

import json
from collections.abc import Iterator

import pytest

from tests.chain.local_chain import Chain, running_chain
from tests.cli.conftest import Call
from tests.cli.program import Home

ALICE = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running_chain() as chain:
        yield chain


def settle_in(home: Home, node: str) -> dict[str, str]:
    """Write the settings and a passphrase; returns the variable that names its file."""
    settings = f"payments:\n  enabled: true\n  rpcUrl: {node}\n  payees: {{alice: '{ALICE}'}}\n"
    (home.work / "sestet.yaml").write_text(settings)
    passphrase = home.directory / "passphrase"
    passphrase.write_text("correct horse battery staple\n")
    passphrase.chmod(0o600)
    return {"SESTET_PASSPHRASE_FILE": str(passphrase)}


@pytest.mark.slow
def test_a_wallet_is_made_and_pays_after_an_approval(home: Home, chain: Chain) -> None:
    extra = settle_in(home, chain.url)
    made = home.run("payments", "wallet", "create", "--json", extra=extra)
    assert made.returncode == 0, made.stderr
    wallet = json.loads(made.stdout)["wallet"]
    assert home.run("payments", "wallet", extra=extra).stdout == f"{wallet} on Base Sepolia (test network)\n"
    again = home.run("payments", "wallet", "create", extra=extra)
    assert (again.returncode, f"there is a wallet already: {wallet}" in again.stderr) == (1, True)

    chain.fund(wallet)
    balance = json.loads(home.run("payments", "balance", "--json", extra=extra).stdout)
    assert (balance["usdc"], balance["wei"]) == ("100", str(10**18))

    before = chain.balance(ALICE)
    asked = home.run("ask", "--wait-for-approval", "send 0.05 usdc to alice for tea", extra=extra)
    assert asked.returncode == 3, asked.stderr
    (question,) = json.loads(home.run("approvals", "--json", extra=extra).stdout)
    done = home.run("approvals", "approve", question["id"], extra=extra)
    assert done.returncode == 0, done.stderr
    assert chain.balance(ALICE) - before == 50_000

    (paid,) = json.loads(home.run("payments", "history", "--json", extra=extra).stdout)
    assert (paid["state"], paid["amount"], paid["payeeName"], paid["purpose"]) == (
        *("settled", "0.05"),
        *("alice", "tea"),
    )
    history = home.run("payments", "history", extra=extra).stdout
    assert f"0.05 USDC to alice ({ALICE}) on Base Sepolia (test network): paid" in history
    assert f"https://sepolia.basescan.org/tx/{paid['transaction']}" in history
    limits = home.run("payments", "limits", "alice", extra=extra).stdout
    assert "5 USDC, of which 4.95 USDC are left" in limits
    assert "of which 1.95 USDC are left to 'alice'" in limits
    report = home.run("doctor", extra=extra).stdout
    assert "test money on Base Sepolia (test network)" in report


def test_without_the_setting_every_command_says_how_to_switch_payments_on(call: Call) -> None:
    for words in (("wallet",), ("balance",), ("limits",), ("history",)):
        done = call("payments", *words)
        assert done.code == 1
        assert "payments are switched off; set payments.enabled to true" in done.err


def test_history_and_limits_need_neither_a_wallet_nor_a_node(home: Home, call: Call) -> None:
    settle_in(home, "http://127.0.0.1:9")
    assert "nothing was paid yet" in call("payments", "history").err
    assert json.loads(call("payments", "history", "--json").out) == []
    assert "one payment       1 USDC" in call("payments", "limits").out
    wrong = call("payments", "limits", "alcie")
    assert (wrong.code, "did you mean 'alice'" in wrong.err) == (1, True)


def test_the_doctor_says_that_the_node_does_not_answer(home: Home, call: Call) -> None:
    settle_in(home, "http://127.0.0.1:9")
    report = call("doctor").out
    assert "the node http://127.0.0.1:9 cannot be reached" in report


def test_a_mistake_in_the_address_book_is_named_at_the_start(home: Home, call: Call) -> None:
    settings = "payments: {enabled: true, payees: {alice: '0x12', bob.eth: '0x13'}}\n"
    (home.work / "sestet.yaml").write_text(settings)
    for words in (("payments", "limits"), ("ask", "hello")):
        done = call(*words)
        assert done.code == 2, done.err
        assert "payments.payees.alice: '0x12' is not an address" in done.err
        assert "payments.payees.bob.eth: a name is a letter from a to z" in done.err
