"""Checks of payments: settings, extra, node, and payments whose end is not known."""

from sestet.config import Settings
from sestet.core.errors import ConfigError, PersonError, ToolError
from sestet.core.pages import page
from sestet.doctor.check import Check, read_database
from sestet.services.payments.ethereum import require_extra
from sestet.services.payments.node import Node
from sestet.services.payments.rules import read_rules
from sestet.storage.database import Database
from sestet.storage.payments import PaymentStore

_PAYMENTS = "payments"
_NODE_SECONDS = 5.0


async def check_payments(settings: Settings) -> list[Check]:
    """What a payment would need."""
    if not settings.payments.enabled:
        return [Check(_PAYMENTS, "ok", "switched off", f"if you want them: see {page('payments')}")]
    try:
        require_extra()
        rules = read_rules(settings)
    except ConfigError as error:
        return [Check(_PAYMENTS, "problem", problem, "correct the settings") for problem in error.problems]
    except PersonError as error:
        return [Check(_PAYMENTS, "problem", str(error), f"see {page('payments')}")]
    network = rules.network
    money = "test money" if network.is_test else "REAL money"
    node = Node(settings.payments.rpc_url, network, _NODE_SECONDS)
    try:
        async with node.connected():
            await node.require_chain()
        found = Check(_PAYMENTS, "ok", f"{money} on {network.title}; the node {node.shown} answers")
    except ToolError as error:
        found = Check(_PAYMENTS, "problem", str(error), "without a node, nothing is paid")
    return [found, *read_database(_in_doubt, absent=[], unreadable=[])]


def _in_doubt(database: Database) -> list[Check]:
    waiting = len(PaymentStore(database).open())
    if not waiting:
        return []
    detail = f"{waiting} payment{'' if waiting == 1 else 's'} in doubt"
    return [Check(_PAYMENTS, "warning", detail, "'sestet payments history' asks the chain about them")]
