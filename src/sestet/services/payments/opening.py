"""Opens payments with the owner's settings."""

from sestet.config import Settings
from sestet.core.errors import PersonError
from sestet.services.payments.ethereum import require_extra
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node
from sestet.services.payments.payments import Payments
from sestet.services.payments.rules import read_rules
from sestet.services.payments.wallet import Wallet
from sestet.services.vault.signing import Signer
from sestet.storage.database import Database
from sestet.storage.payments import PaymentStore


def open_payments(settings: Settings, database: Database, signer: Signer) -> Payments:
    """Payments of these settings; raise if they are switched off, wrong, or lack their extra."""
    if not settings.payments.enabled:
        raise PersonError("payments are switched off; set payments.enabled to true in the settings")
    require_extra()
    rules = read_rules(settings)
    ledger = Ledger(PaymentStore(database), rules)
    node = Node(settings.payments.rpc_url, rules.network)
    return Payments(ledger, node, Wallet(signer), database.path)
