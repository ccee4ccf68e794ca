"""The vault's tools, with a real broker."""

from collections.abc import Generator
from hashlib import sha256
from pathlib import Path

import pytest

from sestet import agents
from sestet.agents.vault import crypto, secrets
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Labelled
from sestet.services.files import Files
from sestet.services.vault.vault import Vault, held_key
from tests.agents.calling import CALL, run
from tests.services.vault.cheap import CHEAP, PASSPHRASE

VALUE = b"ghp_Zz11Yy22Xx33Ww44Vv55"


@pytest.fixture
def vault(tmp_path: Path) -> Generator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    yield vault
    vault.close()


async def test_a_stored_secret_has_the_value_that_was_typed_for_this_call(vault: Vault) -> None:
    vault.hold(held_key(CALL.turn_id, "GitHub token"), VALUE)

    told = await run(secrets.secrets_store, vault, name="GitHub token", destinations=["api.github.com"])

    assert told == "Stored as vault:github-token, for https://api.github.com."
    assert VALUE.decode() not in told
    vault.bind("github-token", in_settings=True)
    assert vault.value_for_settings("github-token", "https://api.github.com") == VALUE.decode()


async def test_without_a_typed_value_nothing_is_stored(vault: Vault) -> None:
    vault.hold(held_key("another-turn", "token"), VALUE)

    with pytest.raises(ToolError, match=r"nobody has typed .* run: sestet secrets set token"):
        await run(secrets.secrets_store, vault, name="token")

    assert vault.infos() == []


async def test_a_typed_value_is_used_once(vault: Vault) -> None:
    vault.hold(held_key(CALL.turn_id, "token"), VALUE)
    await run(secrets.secrets_store, vault, name="token")

    with pytest.raises(ToolError, match="nobody has typed"):
        await run(secrets.secrets_store, vault, name="token", replace=True)


async def test_a_stored_secret_is_replaced_only_if_that_was_asked_for(vault: Vault) -> None:
    vault.store("token", b"the first value")
    vault.hold(held_key(CALL.turn_id, "token"), VALUE)

    with pytest.raises(ToolError, match="already holds 'token'"):
        await run(secrets.secrets_store, vault, name="token")


async def test_secrets_are_listed_by_reference_without_keys_and_values(vault: Vault) -> None:
    assert await run(secrets.secrets_list, vault) == "The vault holds no secrets."
    vault.store("token", VALUE, ["api.github.com"])
    vault.generate_key("letters", "ed25519")

    assert (
        await run(secrets.secrets_list, vault)
        == "The vault holds:\n- vault:token, for https://api.github.com"
    )
    told = await run(secrets.secrets_get, vault, name="vault:token")
    assert told.startswith("vault:token, for https://api.github.com. Its value cannot be shown")
    with pytest.raises(ToolError, match="is a key, not a secret"):
        await run(secrets.secrets_get, vault, name="letters")


async def test_deleting_spares_keys(vault: Vault) -> None:
    vault.store("token", VALUE)
    vault.generate_key("wallet", "secp256k1")

    assert await run(secrets.secrets_delete, vault, name="token") == "Deleted token."
    with pytest.raises(ToolError, match="is a wallet key"):
        await run(secrets.secrets_delete, vault, name="wallet")
    with pytest.raises(ToolError, match="holds nothing named 'token'"):
        await run(secrets.secrets_delete, vault, name="token")
    assert [info.name for info in vault.infos()] == ["wallet"]


async def test_a_locked_vault_says_how_the_person_unlocks_it(vault: Vault) -> None:
    vault.store("token", VALUE)
    vault.close()

    with pytest.raises(ToolError, match="/unlock"):
        await run(secrets.secrets_list, vault)


async def test_without_a_vault_there_are_no_secrets_and_no_broker(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "none")

    assert await run(secrets.secrets_list, vault) == "The vault holds no secrets."
    assert vault.broker_pid is None


@pytest.mark.parametrize(
    ("method", "risk", "recovery"),
    [
        ("GET", "safe", "pure"),
        ("head", "safe", "pure"),
        ("POST", "guarded", "unsafe"),
        ("X", "guarded", "unsafe"),
    ],
)
def test_a_request_that_may_change_something_asks(
    vault: Vault, method: str, risk: str, recovery: str
) -> None:
    tool = secrets.secrets_http_request.bind({Vault: vault})
    assert tool is not None

    declared = tool.for_call({"url": "https://a.example", "secret": "s", "method": method})

    assert (declared.risk, declared.effect, declared.recovery) == (risk, "external", recovery)


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "x-http-method", "X_Method_Override"])
def test_a_header_that_asks_for_another_method_makes_no_reading_request(vault: Vault, header: str) -> None:
    tool = secrets.secrets_http_request.bind({Vault: vault})
    assert tool is not None
    arguments = {"url": "https://a.example", "secret": "s", "headers": {header: "DELETE"}}

    assert tool.for_call(arguments).risk == "guarded"
    assert tool.for_call({**arguments, "headers": {"Accept": "text/plain"}}).risk == "safe"


async def test_an_encrypted_text_comes_back_as_a_secret(vault: Vault) -> None:
    await run(crypto.crypto_generate_key, vault, name="notes", kind="encryption")

    sealed = await run(crypto.crypto_encrypt, vault, text="meet at noon\n", key="notes")
    assert "noon" not in sealed
    told = await run(crypto.crypto_decrypt, vault, text=sealed, key="notes", name="plan")

    assert told == "Decrypted into vault:plan. 'sestet secrets show plan' shows it at a terminal."
    vault.bind("plan", ["a.example"], in_settings=True)
    assert vault.value_for_settings("plan", "https://a.example") == "meet at noon\n"


async def test_a_changed_text_is_not_decrypted(vault: Vault) -> None:
    vault.generate_key("notes", "aes256")
    sealed = await run(crypto.crypto_encrypt, vault, text="meet at noon", key="notes")
    changed = sealed[:-4] + ("AAAA" if sealed[-4:] != "AAAA" else "BBBB")

    for text in (changed, "not base64!", ""):
        with pytest.raises(ToolError, match="not encrypted with 'notes', or was changed"):
            await run(crypto.crypto_decrypt, vault, text=text, key="notes", name="plan")
    assert [info.name for info in vault.infos()] == ["notes"]


async def test_a_signature_is_valid_for_its_text_alone(vault: Vault) -> None:
    described = await run(crypto.crypto_generate_key, vault, name="letters", kind="signing")
    public = described.rpartition(" ")[2]
    signature = await run(crypto.crypto_sign, vault, text="hello", key="letters")

    async def verify(text: str, key: str, given: str = signature) -> str:
        return await run(crypto.crypto_verify, vault, text=text, signature=given, key=key)

    assert await verify("hello", "letters") == await verify("hello", public) == "valid"
    assert await verify("hello!", "letters") == await verify("hello", "00" * 32) == "not valid"
    assert await verify("hello", "letters", "zz") == "not valid"


async def test_keys_are_listed_with_their_public_halves(vault: Vault) -> None:
    assert await run(crypto.crypto_keys, vault) == "The vault holds no keys."
    info = vault.generate_key("letters", "ed25519")

    assert await run(crypto.crypto_keys, vault) == f"- letters (signing, Ed25519), public key {info.public}"


async def test_a_digest_of_a_text_and_of_a_file(tmp_path: Path) -> None:
    content = b"\x00\xff" * 100_000
    (tmp_path / "a.bin").write_bytes(content)
    files = Files(tmp_path)

    told = await run(crypto.crypto_hash, files, text="hello world")
    assert told == f"sha256: {sha256(b'hello world').hexdigest()}"
    told = await run(crypto.crypto_hash, files, path="a.bin")
    assert told == f"sha256 of a.bin: {sha256(content).hexdigest()}"
    with pytest.raises(ToolError, match="one of them"):
        await run(crypto.crypto_hash, files)
    with pytest.raises(ToolError, match=r"outside|leave|\.\."):
        await run(crypto.crypto_hash, files, path="../a.bin")


async def test_a_digest_of_a_text_leaves_no_label_and_of_a_file_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    tool = crypto.crypto_hash.bind({Files: Files(tmp_path)})
    assert tool is not None
    assert tool.function is not None

    of_text, of_file = await tool.function(text="a"), await tool.function(path="a.txt")

    assert isinstance(of_text, Labelled)
    assert isinstance(of_file, Labelled)
    assert (of_text.label, of_file.label.private) == (CLEAN, True)


def test_no_tool_of_the_room_can_change_something_unasked_and_unnamed() -> None:
    for tool in agents.room_tools("vault"):
        assert tool.effect == "none" or tool.targets, tool.name
