"""The wallet: its address, and signatures by its key, which stays in the vault's broker process."""

import asyncio

from sestet.core.errors import PersonError
from sestet.services.payments.ethereum import Signature, address_of_key, complete_signature
from sestet.services.vault.signing import Signer

#: The name of the wallet's key in the vault.
KEY = "wallet"


class Wallet:
    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self._address = ""

    async def address(self) -> str:
        """The address; raise if there is no wallet yet."""
        if not self._address:
            if not await asyncio.to_thread(self._signer.has_key, KEY):
                raise PersonError("there is no wallet yet; 'sestet payments wallet create' makes one")
            self._address = address_of_key(await asyncio.to_thread(self._signer.public_key, KEY))
        return self._address

    async def create(self) -> str:
        """Make a key inside the vault; raise if there is a wallet. Returns the address."""
        if await asyncio.to_thread(self._signer.has_key, KEY):
            raise PersonError(f"there is a wallet already: {await self.address()}")
        await asyncio.to_thread(self._signer.generate_key, KEY, "secp256k1")
        return await self.address()

    async def sign(self, digest: bytes) -> Signature:
        """Sign 32 bytes; raise if the answer is no signature of this wallet."""
        signed = await asyncio.to_thread(self._signer.sign_digest, KEY, digest)
        return complete_signature(signed.r, signed.s, digest, await self.address())
