"""Our own API: the tables of its families, and the document that describes them."""

from sestet.server import (
    agents,
    calls,
    conversations,
    costs,
    documents,
    graph,
    journal,
    knowledge,
    memory,
    openapi,
    session_list,
    sessions,
    settings,
    stream,
)
from sestet.server.endpoint import Endpoint

#: A request looks for its path in this order, so those that are made most often come first.
_FAMILIES = (
    session_list,
    conversations,
    journal,
    stream,
    calls,
    sessions,
    agents,
    memory,
    knowledge,
    documents,
    graph,
    costs,
    settings,
)
_OWN = tuple(endpoint for family in _FAMILIES for endpoint in family.ENDPOINTS)
ENDPOINTS: tuple[Endpoint, ...] = (*_OWN, openapi.endpoint_of(_OWN))
