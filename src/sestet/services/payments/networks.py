"""The two networks on which USDC moves, with the facts that nobody else may choose."""

from sestet.core.record import Record


class Network(Record):
    """A chain with its USDC contract. The last two names are part of each signature."""

    name: str
    title: str
    chain_id: int
    usdc: str
    #: A public node, which limits how often it answers.
    rpc_url: str
    explorer: str
    #: Money of the test network is worth nothing.
    is_test: bool
    token_name: str
    token_version: str = "2"  # noqa: S105 - of a coin

    @property
    def x402_names(self) -> tuple[str, str]:
        """What x402 calls it, in its second and in its first version."""
        return f"eip155:{self.chain_id}", self.name


BASE = Network(
    "base",
    "Base",
    8453,
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "https://mainnet.base.org",
    "https://basescan.org",
    False,
    "USD Coin",
)
BASE_SEPOLIA = Network(
    "base-sepolia",
    "Base Sepolia (test network)",
    84532,
    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "https://sepolia.base.org",
    "https://sepolia.basescan.org",
    True,
    "USDC",
)
NETWORKS = {network.name: network for network in (BASE, BASE_SEPOLIA)}
