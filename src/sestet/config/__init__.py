"""The settings and where they are read from. No other part of Sestet reads the environment."""

from sestet.config.load import Loaded, data_directory, load_settings, settings_from
from sestet.config.settings import (
    ProviderSettings,
    RemoteAgentSettings,
    Settings,
    as_mapping,
    settings_schema,
)

__all__ = [
    "Loaded",
    "ProviderSettings",
    "RemoteAgentSettings",
    "Settings",
    "as_mapping",
    "data_directory",
    "load_settings",
    "settings_from",
    "settings_schema",
]
