import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from shutil import copyfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.errors import VaultError
from sestet.core.record import replace
from sestet.services.vault.contents import decode
from sestet.services.vault.open_vault import OpenVault, new_entry
from sestet.services.vault.sources import Cost
from sestet.services.vault.vault_file import VaultFile, seal_contents
from tests.services.vault.cheap import (
    CHEAP,
    OUTER,
    PASSPHRASE,
    make_vault,
    make_vault_with_keyring,
    open_with_outer,
)

#: A file that the first version has written, with the value b"s3cretvalue" of 'token'.
FIRST_VERSION = Path(__file__).with_name("first_version.vault")


def _reopen(path: Path, passphrase: bytes = PASSPHRASE) -> OpenVault:
    return OpenVault.unlock(VaultFile(path), passphrase)


def test_a_secret_comes_back_after_the_vault_was_closed(tmp_path: Path) -> None:
    make_vault(tmp_path / "v", token=b"s3cret\x00value")

    assert _reopen(tmp_path / "v").get("token").content == b"s3cret\x00value"


def test_the_file_holds_no_value_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    make_vault(tmp_path / "v", token=b"s3cretvalue")

    for file in (tmp_path / "v", tmp_path / "v.old"):
        assert b"s3cretvalue" not in file.read_bytes()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_wrong_passphrase_is_told_and_changes_nothing(tmp_path: Path) -> None:
    make_vault(tmp_path / "v", token=b"s3cretvalue")
    before = (tmp_path / "v").read_bytes()

    with pytest.raises(VaultError, match="not the passphrase"):
        _reopen(tmp_path / "v", b"wrong horse")

    assert (tmp_path / "v").read_bytes() == before


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    make_vault_with_keyring(tmp_path / "v", token=b"s3cretvalue")
    content = (tmp_path / "v").read_bytes()
    for position in range(len(content)):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[position] ^= 1 << bit
            with pytest.raises(VaultError, match="cannot be used"):
                decode(bytes(flipped), tmp_path / "v")


def test_a_file_cut_at_any_length_is_noticed(tmp_path: Path) -> None:
    make_vault_with_keyring(tmp_path / "v", token=b"s3cretvalue")
    content = (tmp_path / "v").read_bytes()
    for length in range(len(content)):
        with pytest.raises(VaultError, match="cannot be used"):
            decode(content[:length], tmp_path / "v")


def test_no_flipped_byte_with_a_new_checksum_opens_as_another_vault(tmp_path: Path) -> None:
    """The checksum is for accidents; against a forger stands the seal, which needs the key."""
    vault = make_vault_with_keyring(tmp_path / "v", one=b"first value", two=b"second value")
    expected = vault.entries
    content = (tmp_path / "v").read_bytes()[:-65]
    altered = tmp_path / "altered"
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 1
        altered.write_bytes(bytes(flipped) + sha256(bytes(flipped)).hexdigest().encode() + b"\n")
        for unlock in (_reopen, open_with_outer):
            try:
                opened = unlock(altered)
            except VaultError:
                continue
            assert opened is None or opened.entries == expected, position


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_an_error_for_a_person(content: bytes) -> None:
    with pytest.raises(VaultError):
        decode(b"SESTET-VAULT 1\n" + content, Path("v"))


def test_an_entry_cannot_take_the_place_of_another(tmp_path: Path) -> None:
    make_vault(tmp_path / "v", bank=b"bank value", wiki=b"wiki value")
    lines = (tmp_path / "v").read_bytes().split(b"\n")
    body = json.loads(lines[1])
    body["entries"][0]["sealed"], body["entries"][1]["sealed"] = (
        body["entries"][1]["sealed"],
        body["entries"][0]["sealed"],
    )
    _write_forged(tmp_path / "v", body)

    with pytest.raises(VaultError, match="without its key has changed it"):
        _reopen(tmp_path / "v")


def test_an_entry_cannot_be_removed_without_the_key(tmp_path: Path) -> None:
    make_vault(tmp_path / "v", bank=b"bank value", wiki=b"wiki value")
    body = json.loads((tmp_path / "v").read_bytes().split(b"\n")[1])
    del body["entries"][0]
    _write_forged(tmp_path / "v", body)

    with pytest.raises(VaultError, match="without its key has changed it"):
        _reopen(tmp_path / "v")


def test_a_cost_that_would_take_all_memory_is_not_tried(tmp_path: Path) -> None:
    make_vault(tmp_path / "v")
    body = json.loads((tmp_path / "v").read_bytes().split(b"\n")[1])
    body["slots"][0]["cost"] = {"memory_kib": 2**40, "passes": 3, "lanes": 4}
    _write_forged(tmp_path / "v", body)

    with pytest.raises(VaultError, match="not the passphrase"):
        _reopen(tmp_path / "v")


def _write_forged(path: Path, body: object) -> None:
    content = b"SESTET-VAULT 1\n" + json.dumps(body, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(content + sha256(content).hexdigest().encode() + b"\n")


def test_an_open_vault_refuses_an_older_version_of_its_file(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", token=b"first value")
    older = (tmp_path / "v").read_bytes()
    vault.put("token", new_entry("secret", b"second value"), replace_existing=True)
    (tmp_path / "v").write_bytes(older)

    with pytest.raises(VaultError, match="older version"):
        vault.get("token")


def test_a_changed_passphrase_leaves_the_entries_sealed_as_they_were(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", token=b"s3cretvalue")
    sealed = VaultFile(tmp_path / "v").read().entries

    vault.change_passphrase(PASSPHRASE, b"another", CHEAP)

    assert VaultFile(tmp_path / "v").read().entries == sealed
    assert _reopen(tmp_path / "v", b"another").get("token").content == b"s3cretvalue"
    with pytest.raises(VaultError, match="not the passphrase"):
        _reopen(tmp_path / "v")
    # The kept version would still open with the old passphrase.
    assert not (tmp_path / "v.old").exists()


def test_a_file_of_the_first_version_opens(tmp_path: Path) -> None:
    copyfile(FIRST_VERSION, tmp_path / "v")

    assert _reopen(tmp_path / "v").get("token").content == b"s3cretvalue"


def test_the_key_of_the_keyring_opens_the_vault_beside_the_passphrase(tmp_path: Path) -> None:
    make_vault_with_keyring(tmp_path / "v", token=b"s3cretvalue")

    opened = open_with_outer(tmp_path / "v")
    assert opened is not None
    assert opened.entries == _reopen(tmp_path / "v").entries


def test_a_changed_passphrase_leaves_the_keyring_as_it_was(tmp_path: Path) -> None:
    make_vault_with_keyring(tmp_path / "v").change_passphrase(PASSPHRASE, b"another", CHEAP)

    assert open_with_outer(tmp_path / "v") is not None
    assert _reopen(tmp_path / "v", b"another").contents.passphrase_slots


def test_a_removed_keyring_opens_no_version_of_the_file_any_more(tmp_path: Path) -> None:
    vault = make_vault_with_keyring(tmp_path / "v", token=b"s3cretvalue")

    assert vault.remove_keyring()

    assert open_with_outer(tmp_path / "v") is None
    assert not (tmp_path / "v.old").exists()
    assert _reopen(tmp_path / "v").get("token").content == b"s3cretvalue"
    assert not vault.remove_keyring()


def test_a_second_keyring_takes_the_place_of_the_first(tmp_path: Path) -> None:
    vault = make_vault_with_keyring(tmp_path / "v")

    assert vault.add_keyring("second", bytes(32)) == "slot"

    assert open_with_outer(tmp_path / "v") is None
    assert [type(slot).__name__ for slot in vault.contents.slots] == ["PassphraseSlot", "KeyringSlot"]


def test_a_vault_without_a_passphrase_is_never_written(tmp_path: Path) -> None:
    contents = make_vault_with_keyring(tmp_path / "v").contents

    with pytest.raises(VaultError, match="keeps a passphrase"):
        seal_contents(replace(contents, slots=contents.slots[1:]), OUTER)


def test_no_keyring_opens_an_exported_file(tmp_path: Path) -> None:
    make_vault_with_keyring(tmp_path / "v").export(tmp_path / "copy", PASSPHRASE, CHEAP)

    assert VaultFile(tmp_path / "copy").read().keyring_slot is None


def test_the_slot_of_another_vault_does_not_open_this_one(tmp_path: Path) -> None:
    """The same key in two vaults: a slot is bound to its own."""
    make_vault_with_keyring(tmp_path / "v", bank=b"bank value")
    make_vault_with_keyring(tmp_path / "w", wiki=b"wiki value")
    body, other = (json.loads((tmp_path / name).read_bytes().split(b"\n")[1]) for name in ("v", "w"))
    body["slots"][1] = other["slots"][1]
    _write_forged(tmp_path / "v", body)

    assert open_with_outer(tmp_path / "v") is None


def test_the_passphrase_is_changed_only_by_somebody_who_knows_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v")

    with pytest.raises(VaultError, match="nothing was changed"):
        vault.change_passphrase(b"wrong", b"another", CHEAP)


def test_a_deleted_secret_is_in_no_file_any_more(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", token=b"s3cretvalue", other=b"other value")

    vault.delete("token")

    assert not (tmp_path / "v.old").exists()
    assert list(_reopen(tmp_path / "v").entries) == ["other"]


def test_two_processes_see_what_the_other_one_wrote(tmp_path: Path) -> None:
    first = make_vault(tmp_path / "v", token=b"s3cretvalue")
    second = _reopen(tmp_path / "v")

    first.put("more", new_entry("secret", b"more value"))
    second.put("most", new_entry("secret", b"most value"))

    assert sorted(first.entries) == sorted(second.entries) == ["more", "most", "token"]


def test_an_exported_file_opens_with_its_own_passphrase_and_comes_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", token=b"s3cretvalue")
    vault.generate("signing", "ed25519")

    assert vault.export(tmp_path / "copy", b"for the copy", CHEAP) == 2

    other = make_vault(tmp_path / "w")
    assert sorted(other.import_from(tmp_path / "copy", b"for the copy", replace_existing=False)) == [
        "signing",
        "token",
    ]
    assert other.entries == vault.entries
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600
    with pytest.raises(VaultError, match="exists already"):
        vault.export(tmp_path / "copy", b"again", CHEAP)


def test_an_import_that_would_replace_an_entry_changes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", alpha=b"exported value", token=b"exported value")
    vault.export(tmp_path / "copy", PASSPHRASE, CHEAP)
    other = make_vault(tmp_path / "w", token=b"kept value")

    with pytest.raises(VaultError, match="already holds 'token'"):
        other.import_from(tmp_path / "copy", PASSPHRASE, replace_existing=False)

    assert list(other.entries) == ["token"]
    assert other.get("token").content == b"kept value"


def test_a_vault_behind_a_link_is_not_opened(tmp_path: Path) -> None:
    make_vault(tmp_path / "v")
    (tmp_path / "link").symlink_to(tmp_path / "v")

    with pytest.raises(VaultError, match="cannot be read"):
        VaultFile(tmp_path / "link").read()


def test_the_usual_cost_is_within_the_bounds() -> None:
    assert Cost().is_sane
    assert not Cost(memory_kib=4).is_sane


#: Every call of the system through which a write of the file goes.
_CALLS = ("open", "write", "fsync", "close", "link", "rename", "unlink")


@pytest.mark.slow
@pytest.mark.parametrize("keep_old", [True, False])
def test_a_kill_at_any_moment_of_a_write_leaves_the_old_or_the_new_version(
    tmp_path: Path, keep_old: bool
) -> None:
    path = tmp_path / "v"
    make_vault_with_keyring(path, token=b"first value").put("more", new_entry("secret", b"more value"))
    seen: set[bytes] = set()
    moment = 0
    while True:
        moment += 1
        child = os.fork()
        if not child:
            _write_until(path, moment, keep_old=keep_old)
        _, status = os.waitpid(child, 0)
        value = _reopen(path).get("token").content
        assert value in (b"first value", b"second value")
        by_keyring = open_with_outer(path)
        assert by_keyring is not None
        assert by_keyring.get("token").content == value
        if (tmp_path / "v.old").exists():
            assert _reopen(tmp_path / "v.old").get("token").content in (b"first value", b"second value")
        seen.add(value)
        if not os.WIFSIGNALED(status):
            break
        # Start again from the old version.
        _reopen(path).put("token", new_entry("secret", b"first value"), replace_existing=True)
    assert moment > 8
    assert seen == {b"first value", b"second value"}
    assert sorted(file.name for file in tmp_path.iterdir() if file.suffix in (".new", ".kept")) == []


def _write_until(path: Path, moment: int, *, keep_old: bool) -> None:
    """In a child: write, and die by SIGKILL at the given call of the system, half way through a write."""
    left = moment

    def dying(name: str) -> None:
        real = getattr(os, name)

        def call(*given: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if not left:
                if name == "write":
                    real(given[0], memoryview(given[1])[:50])  # pyright: ignore[reportArgumentType] - bytes
                os.kill(os.getpid(), 9)
            return real(*given, **named)

        setattr(os, name, call)

    try:
        vault = _reopen(path)
        for name in _CALLS:
            dying(name)
        entry = new_entry("secret", b"second value")
        if keep_old:
            vault.put("token", entry, replace_existing=True)
        else:
            vault.put("token", entry, replace_existing=True)
            vault.delete("more")
        os._exit(0)
    except BaseException:
        os._exit(1)
