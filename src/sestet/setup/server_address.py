"""Finds the model server at an address as people write it: without ``http://``, with or without ``/v1``."""

import re

from sestet.config import ProviderSettings
from sestet.core.errors import ModelError, PersonError
from sestet.core.masking import mask_address
from sestet.models.model_list import list_models
from sestet.models.provider import Endpoint, is_address
from sestet.models.servers import OTHER, ServedModel, Server, is_own, look_at

#: The ends of addresses that people copy from examples of requests.
_REQUEST_PATH = re.compile(r"/(chat/completions|completions|models)/?$")
_VERSION = re.compile(r"/v\d\w*$")


class KeyWantedError(PersonError):
    """The server answers only to a request with a key, or does not accept the one it got."""

    def __init__(self, text: str, address: str) -> None:
        super().__init__(text)
        #: With its scheme, so that the key goes nowhere else.
        self.address = address


def find_server(written: str, key: str = "") -> Server:
    """The server at this address, with its models; an error says why there is none."""
    problems: list[ModelError] = []
    for address in _addresses(written, has_key=bool(key)):
        if (server := look_at(address, key)) is not None:
            return server
        for base in _base_urls(address):
            endpoint = Endpoint(OTHER.id, "", ProviderSettings(base_url=base, api_key=key))
            try:
                names = list_models(endpoint)
            except ModelError as error:
                if error.kind == "auth":
                    says = "does not accept the key" if key else "wants a key"
                    raise KeyWantedError(f"the server at {mask_address(base)} {says}", base) from None
                problems.append(error)
            else:
                return Server(OTHER, base, tuple(map(ServedModel, names)), base)
    shown = mask_address(written.strip())
    if all(error.kind in ("transient", "timeout") for error in problems):
        raise PersonError(f"no model server answers at {shown}: is it running, and is the address right?")
    raise PersonError(
        f"no model server answers at {shown}: something runs there, but it does not list models "
        "as OpenAI's protocol has it"
    )


def _addresses(written: str, *, has_key: bool) -> list[str]:
    """The address with its scheme. Without one, a machine far away is asked over https, and without a key
    over http as well."""
    text = _REQUEST_PATH.sub("", written.strip()).rstrip("/")
    plain, secure = f"http://{text}", f"https://{text}"
    if "://" in text:
        addresses = [text]
    elif is_own(plain):
        addresses = [plain]
    else:
        addresses = [secure] if has_key else [secure, plain]
    if not all(map(is_address, addresses)) or not re.fullmatch(r"[!-~]+", text):
        raise PersonError(
            f"no model server answers at {mask_address(written.strip())}: that is not an address; "
            "write it as http://127.0.0.1:8080"
        )
    return addresses


def _base_urls(address: str) -> list[str]:
    """Where the protocol may begin: at the address itself, or at ``/v1`` below it."""
    return [address] if _VERSION.search(address) else [f"{address}/v1", address]
