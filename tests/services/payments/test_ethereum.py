"""The libraries below payments must not change the process that loads them."""

import subprocess
import sys

LOADS_EVERYTHING = """
import sys
limit = sys.getrecursionlimit()
from sestet.services.payments.ethereum import (
    Authorization, Transaction, address_of_key, authorization_digest, transaction_digest,
)
from sestet.services.payments.networks import BASE_SEPOLIA
wallet = address_of_key(b"\\x04" + bytes(range(64)))
authorization_digest(BASE_SEPOLIA, Authorization(wallet, wallet, 1, 1, bytes(32)))
transaction_digest(Transaction(84532, 0, wallet, "0x", 1, 1, 1))
import x402.http.utils
print("py_ecc" in sys.modules, sys.getrecursionlimit() == limit)
"""


def test_loading_the_libraries_leaves_the_recursion_limit_as_it_was() -> None:
    # py_ecc raises it, and then deeply nested JSON of any server would crash the process.
    done = subprocess.run(
        [sys.executable, "-c", LOADS_EVERYTHING], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True\n"
