"""Tools that encrypt, sign and hash; the keys never leave the vault."""

import asyncio
from typing import Annotated, Literal

from sestet.agents._shared.opened_vault import ask_vault
from sestet.agents._shared.text import given
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled
from sestet.core.tool import tool
from sestet.services.files import Files
from sestet.services.vault.entries import KeyKind
from sestet.services.vault.vault import Vault

_NAME_LENGTH = 64
_KINDS: dict[str, KeyKind] = {"encryption": "aes256", "signing": "ed25519"}
_USES = {"aes256": "encryption, AES-256-GCM", "ed25519": "signing, Ed25519", "secp256k1": "wallet, secp256k1"}

KeyName = Annotated[str, "The name of the key"]
Algorithm = Literal["sha256", "sha512", "sha1", "md5", "sha3_256", "blake2b"]


async def _is_generated(vault: Vault, /, name: str, kind: str) -> str | None:
    infos = await ask_vault(vault, vault.infos)
    return next((_described(info.name, info.kind, info.public) for info in infos if info.name == name), None)


@tool(
    risk="safe",
    reads=(),
    effect="local",
    targets=("name",),
    recovery="probe",
    probe=_is_generated,
    examples=(
        "generate a new {kind} key called {name}",
        "make a {kind} key called {name}",
        "generate a {kind} key called {name}",
        "generate a {kind} key named {name}",
        "create a {kind} key called {name}",
        "create a {kind} key named {name}",
    ),
)
async def crypto_generate_key(
    vault: Vault,
    /,
    name: KeyName,
    kind: Annotated[Literal["encryption", "signing"], "What it is for"],
) -> str:
    """Make a key that stays in the vault. A signing key has a public half, which the answer tells."""
    name = given(name, "name", _NAME_LENGTH)
    info = await ask_vault(vault, lambda: vault.generate_key(name, _KINDS[kind]))
    return _described(info.name, info.kind, info.public)


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "which keys are in the vault",
        "list the keys in the vault",
        "show the keys in the vault",
        "which signing keys do i have",
        "which encryption keys do i have",
        "show my public keys",
    ),
)
async def crypto_keys(vault: Vault, /) -> str:
    """List the keys in the vault, with the public half of each signing key."""
    infos = await ask_vault(vault, vault.infos) if vault.exists() else []
    keys = [info for info in infos if info.kind != "secret"]
    if not keys:
        return "The vault holds no keys."
    return "\n".join(_described(info.name, info.kind, info.public) for info in keys)


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "encrypt {text} with the key {key}",
        "encrypt the text {text} with the key {key}",
        "encrypt {text} with {key}",
        "encrypt the note {text} with {key}",
        "encrypt the note {text} with the key {key}",
        "encrypt the message {text} with {key}",
    ),
)
async def crypto_encrypt(
    vault: Vault,
    /,
    text: Annotated[str, "The text, exactly as it is to come back"],
    key: Annotated[str, "The name of an encryption key"],
) -> str:
    """Encrypt a text with a key of the vault. The answer can be decrypted with the same key alone."""
    return await ask_vault(vault, lambda: vault.encrypt(key, text))


async def _is_decrypted(vault: Vault, /, text: str, key: str, name: str) -> str | None:
    infos = await ask_vault(vault, vault.infos)
    return next((_decrypted(info.reference) for info in infos if info.name == name), None)


@tool(
    risk="safe",
    reads=(),
    effect="local",
    targets=("name",),
    recovery="probe",
    probe=_is_decrypted,
    examples=(
        "decrypt {text} with the key {key} as {name}",
        "decrypt {text} with {key} as {name}",
        "decrypt {text} with the key {key} into {name}",
        "decrypt {text} with {key} into {name}",
        "decrypt the text {text} with {key} as {name}",
        "decrypt the text {text} with {key} into {name}",
    ),
)
async def crypto_decrypt(
    vault: Vault,
    /,
    text: Annotated[str, "The encrypted text, whole"],
    key: Annotated[str, "The name of the key that it was encrypted with"],
    name: Annotated[str, "The name under which the vault keeps the decrypted text"],
) -> str:
    """Decrypt a text into a new secret of the vault. You get its reference; the person can read it."""
    name = given(name, "name", _NAME_LENGTH)
    info = await ask_vault(vault, lambda: vault.decrypt(key, "".join(text.split()), name))
    return _decrypted(info.reference)


@tool(
    risk="guarded",
    caution="a signature speaks for you to everybody who has your public key",
    standing="sign ANY text with {key}",
    reads=(),
    effect="none",
    targets=("key",),
    recovery="pure",
    examples=(
        "sign {text} with the key {key}",
        "sign the message {text} with the key {key}",
        "sign the message {text} with {key}",
        "sign the text {text} with {key}",
        "sign {text} with {key}",
        "sign the text {text} with the key {key}",
    ),
)
async def crypto_sign(
    vault: Vault,
    /,
    text: Annotated[str, "The text, exactly"],
    key: Annotated[str, "The name of a signing key"],
) -> str:
    """Sign a text with a key of the vault (Ed25519). The answer is the signature in hexadecimal."""
    return await ask_vault(vault, lambda: vault.sign(key, text))


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "verify the signature {signature} of {text} with the key {key}",
        "verify the signature {signature} of {text} with {key}",
        "check the signature {signature} of {text} with the key {key}",
        "is {signature} a valid signature of {text} by {key}",
        "check the signature {signature} of {text} with {key}",
        "verify that {signature} signs {text} with {key}",
    ),
)
async def crypto_verify(
    vault: Vault,
    /,
    text: Annotated[str, "The signed text, exactly"],
    signature: Annotated[str, "The signature in hexadecimal"],
    key: Annotated[str, "The name of a signing key of the vault, or a public key in hexadecimal"],
) -> str:
    """Check an Ed25519 signature of a text: valid or not valid."""

    def is_valid() -> bool:
        public = key.strip().removeprefix("0x")
        if len(public) != 64 or not all(sign in "0123456789abcdefABCDEF" for sign in public):
            public = vault.info(key).public
        return vault.verify(text, signature, public)

    return "valid" if await ask_vault(vault, is_valid) else "not valid"


@tool(
    risk="safe",
    # A digest carries no text; of a file it is private all the same.
    reads=("private",),
    effect="none",
    recovery="pure",
    examples=(
        "what is the sha256 of {text}",
        "the sha256 of {text}",
        "compute the sha256 of {text}",
        "hash {text} with {algorithm}",
        "what is the sha256 hash of {text}",
        "what is the sha256 of the file {path}",
        "the sha256 of the file {path}",
        "hash the file {path} with {algorithm}",
        "the checksum of the file {path}",
    ),
)
async def crypto_hash(
    files: Files,
    /,
    text: Annotated[str, "The text, exactly; empty if a file is meant"] = "",
    path: Annotated[str, "A file of the workspace"] = "",
    algorithm: Annotated[Algorithm, "How; sha1 and md5 only compare old checksums"] = "sha256",
) -> Labelled:
    """Compute the digest of a text or of a file, in hexadecimal."""
    if bool(text) == bool(path):
        raise ToolError("give 'text' or 'path', one of them")
    # Loaded on use: every start loads this module.
    import hashlib

    digest = hashlib.new(algorithm, usedforsecurity=False)
    if text:
        digest.update(text.encode("utf-8", "surrogatepass"))
        return Labelled(f"{algorithm}: {digest.hexdigest()}", CLEAN)
    await asyncio.to_thread(files.feed, path, digest.update)
    return Labelled(f"{algorithm} of {path}: {digest.hexdigest()}", Label(private=True, sources=(path,)))


def _described(name: str, kind: str, public: str) -> str:
    return f"- {name} ({_USES[kind]})" + (f", public key {public}" if public else "")


def _decrypted(reference: str) -> str:
    name = reference.partition(":")[2]
    return f"Decrypted into {reference}. 'sestet secrets show {name}' shows it at a terminal."
