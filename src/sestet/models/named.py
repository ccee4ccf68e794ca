"""How the settings name a model."""

from typing import NamedTuple

#: The id of the built-in model: a name that `agent.provider` may have without an entry under `providers`.
OFFLINE = "offline"
#: The id of the models in this process, from files of this machine; it needs no entry either.
LOCAL = "local"


class NamedModel(NamedTuple):
    """A model in the words of the settings, with the settings that name it."""

    provider: str
    model: str
    provider_key: str
    model_key: str
