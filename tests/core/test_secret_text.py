"""Secrets in a text are recognised, and ordinary sentences about secrets are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.secret_text import find_secret

_WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("my wifi password is hunter2", "a password"),
        ("My password for the router at home is correcthorse", "a password"),
        ("the passphrase: open sesame", "a password"),
        ("password=Tr0ub4dor&3", "a password"),
        ("my bank card PIN, it is 7731", "a PIN"),
        ("the password, which is hunter2", "a password"),
        ("the admin password changed to 'blue horse'", "a password"),
        ("hunter2 is my wifi password", "a password"),
        ("mein Passwort lautet Sommer2024", "a password"),
        ("mon mot de passe est soleil", "a password"),
        ("mi contraseña es girasol", "a password"),
        ("我的密码是abc123", "a password"),
        ("postgres://anna:geheim@db.example/main", "a password"),
        ("my PIN is 4711", "a PIN"),
        ("the PIN for my card is 0815", "a PIN"),
        ("pin code 123456", "a PIN"),
        ("the CVV is 123", "a card's check number"),
        ("my api key is a1b2c3d4e5f6", "a key"),
        ("the access token for GitLab: Zm9vYmFyMTIz", "a key"),
        (f"use sk-proj-{'a1' * 12} for it", "a key"),
        ("AKIAIOSFODNN7EXAMPLE", "a key"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "a private key"),
        (f"my seed phrase is {_WORDS}", "a recovery phrase"),
        (f"recovery words: {_WORDS.replace(' ', ', ')}", "a recovery phrase"),
        ("my card is 4111 1111 1111 1111", "a card number"),
        ("Visa 4111-1111-1111-1111, valid until 12/29", "a card number"),
        ("amex 378282246310005", "a card number"),
    ],
)
def test_a_secret_is_recognised(text: str, kind: str) -> None:
    assert find_secret(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "my password manager is KeePass",
        "the wifi is called Fjord",
        "my password is too short",
        "my password is in the vault",
        "the password was changed in May",
        "I forgot my password",
        "I hate passwords: they expire every month and nobody knows why",
        "remember that I need a new password for the bank",
        "this is my password policy",
        "the gate code of the cabin is 4471",
        "my wifi code is 1234",
        "the pin of the brooch is bent",
        "I was born in 1984",
        "my phone number is +49 151 23456789",
        "my order number is 4111 1111 1111 1112",
        "my IBAN is DE89 3704 0044 0532 0130 00",
        "my secret is that I snore",
        "the secret of good tea is hot water",
        "the key is under the mat",
        "the API key is stored in the environment",
        "the token ring network from 1995",
        "the access token is only valid for 60 minutes",
        "commit 3f785c9ab2 broke the build",
        "the recovery phrase is in the safe",
        "our passcode policy is being reviewed",
        "at 10:30 I meet Bob: password rotation",
        "http://localhost:8080/path",
        "set password=$DB_PASSWORD, password: <yours> or password: ********",
    ],
)
def test_an_ordinary_sentence_holds_no_secret(text: str) -> None:
    assert find_secret(text) is None


@given(st.text(max_size=500))
def test_any_text_can_be_read(text: str) -> None:
    find_secret(text)


@pytest.mark.parametrize(
    "piece", ["password ", "a ", "4", "pin is ", "is is ", "seed phrase ", "://a:", "eyJ"]
)
def test_a_long_text_is_read_quickly(piece: str) -> None:
    """A pattern that tries every part of a text again and again would take minutes here."""
    find_secret(piece * (8_000 // len(piece)))
