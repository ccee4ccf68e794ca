"""Amounts and payees are read in one way or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.config import settings_from
from sestet.core.errors import ConfigError, ToolError
from sestet.services.payments.amounts import MOST, amount_of_setting, parse_amount, plain_amount
from sestet.services.payments.networks import BASE, BASE_SEPOLIA
from sestet.services.payments.payees import AddressBook, parse_address
from sestet.services.payments.rules import read_rules

ALICE = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
BOB = "0x5050A4F4b3f9338C3472dcC01A87C76A144b3c9c"
USUAL = {"alice": ALICE, "bob": BOB}


@pytest.mark.parametrize(
    "text",
    [
        *("1e3", "1E3", "-1", "+1", "NaN", "nan", "inf", "Infinity", "0.1234567", "1.0000000", "0", "0.0"),
        *(
            "0.000000",
            "",
            " ",
            ".",
            ".5",
            "5.",
            "1,5",
            "1.000,5",
            "1_000",
            "0x10",
            "5 usdc",
            "$5",
            "05",
            "00",
        ),
        *("٥", "５", "1/2", "5%", "1000000.000001", "99999999", "1 2", "½", "1.5.5", "true", "--1"),  # noqa: RUF001 - digits of other scripts
    ],
)
def test_an_amount_that_is_not_plain_digits_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="the amount"):
        parse_amount(text)


@pytest.mark.parametrize(
    ("text", "units"),
    [("5", 5_000_000), ("0.05", 50_000), ("0.000001", 1), ("1000000", MOST), ("1.50", 1_500_000)],
)
def test_a_plain_amount_is_read_in_whole_units(text: str, units: int) -> None:
    assert parse_amount(text) == units


@given(st.integers(1, MOST))
def test_what_is_shown_is_read_back_as_the_same_amount(units: int) -> None:
    assert parse_amount(plain_amount(units).replace(",", "")) == units


@given(st.text(max_size=12))
def test_no_text_is_read_as_an_amount_that_it_does_not_show(text: str) -> None:
    try:
        units = parse_amount(text)
    except ToolError:
        return
    assert 0 < units <= MOST
    assert float(text) == pytest.approx(units / 1_000_000)


@pytest.mark.parametrize(("number", "units"), [(0.1, 100_000), (5.0, 5_000_000), (0.000001, 1), (1e-7, None)])
def test_a_number_of_the_settings_is_what_the_person_wrote(number: float, units: int | None) -> None:
    assert amount_of_setting(number) == units


def test_an_address_gets_its_checksum() -> None:
    assert (
        parse_address(ALICE)
        == parse_address(ALICE.lower())
        == parse_address("0x" + ALICE[2:].upper())
        == ALICE
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALICE.replace("0E3c", "0e3c"), "wrong checksum"),
        (ALICE[:-1] + "2", "wrong checksum"),
        (ALICE.swapcase().replace("0X", "0x"), "wrong checksum"),
        (ALICE[:-1], "not an address"),
        (ALICE + "0", "not an address"),
        ("0x" + "0" * 40, "belongs to the chain"),
        ("0x" + "0" * 39 + "4", "belongs to the chain"),
        (BASE.usdc, "is the USDC contract"),
        (BASE_SEPOLIA.usdc.lower(), "is the USDC contract"),
        ("0x" + "g" * 40, "not an address"),
    ],
)
def test_an_address_that_is_wrong_or_nobodys_is_refused(text: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        AddressBook(USUAL).find(text)


@pytest.mark.parametrize("text", ["alice.eth", "bob.base.eth", "pay.alice.com", "ALICE.ETH"])
def test_a_name_of_a_registry_is_not_looked_up(text: str) -> None:
    with pytest.raises(ToolError, match="name of a registry such as ENS, which is not looked up"):
        AddressBook(USUAL).find(text)


def test_a_name_of_the_address_book_is_found_in_any_case() -> None:
    assert AddressBook(USUAL).find(" Alice ").shown == f"alice ({ALICE})"
    assert AddressBook(USUAL).find(BOB.lower()).name == "bob"


@pytest.mark.parametrize(
    "text", ["a1ice", "\u0430lice", "al1ce", "alíce", "ali-ce", "alice\u200b", "carol", "to alice"]
)
def test_a_name_that_only_looks_like_a_known_one_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="neither an address nor a name under"):
        AddressBook(USUAL).find(text)


def test_a_look_alike_is_told_the_name_that_it_resembles() -> None:
    with pytest.raises(ToolError, match="did you mean 'alice'"):
        AddressBook(USUAL).find("a1ice")


@pytest.mark.parametrize(
    ("payees", "said"),
    [
        ({"alice": ALICE, "a1ice": BOB}, "payments.payees.a1ice: looks like 'alice'"),
        ({"alice": ALICE, "Alice": BOB}, "payments.payees.Alice: looks like 'alice'"),
        ({"modern": ALICE, "modem": BOB}, "payments.payees.modem: looks like 'modern'"),
        ({"\u0430lice": ALICE}, "a name is a letter from a to z"),
        ({"alice.eth": ALICE}, "a name is a letter from a to z"),
        ({"0xalice": ALICE}, "a name is a letter from a to z"),
        ({"alice": "0x12"}, "payments.payees.alice: '0x12' is not an address"),
        ({"alice": ALICE.replace("0E3c", "0e3c")}, "wrong checksum"),
    ],
)
def test_an_address_book_that_could_mislead_is_refused(payees: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_rules(settings_from({"payments": {"payees": payees}}))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"payments": {"limits": {"perDay": 0.0000001}}},
            "payments.limits.perDay: 1e-07 has more than the 6",
        ),
        ({"payments": {"rpcUrl": "base"}}, "payments.rpcUrl: 'base' must be the address of a node"),
        ({"policy": {"budgets": [{"payee": "alice", "perDay": 1}]}}, r"policy.budgets\[0\].payee: 'alice'"),
        ({"policy": {"budgets": [{"payee": ALICE, "perDay": 1}] * 2}}, "has a budget already"),
        ({"payments": {"limits": {"perDay": -1}}}, "payments.limits.perDay"),
        ({"payments": {"network": "mainnet"}}, "payments.network"),
    ],
)
def test_a_mistake_in_the_settings_is_named(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_rules(settings_from(settings))


def test_the_test_network_is_used_unless_the_settings_name_the_main_one() -> None:
    assert read_rules(settings_from({})).network is BASE_SEPOLIA
    assert read_rules(settings_from({"payments": {"network": "base"}})).network is BASE
