"""The settings and where they are read from. No other part of Sestet reads the environment."""

from sestet.config.load import (
    Loaded,
    config_directory,
    data_directory,
    find_workspace,
    load_settings,
    settings_from,
)
from sestet.config.settings import (
    ProviderSettings,
    RemoteAgentSettings,
    Settings,
    as_mapping,
    settings_schema,
)
from sestet.config.trust import Workspace

__all__ = [
    "Loaded",
    "ProviderSettings",
    "RemoteAgentSettings",
    "Settings",
    "Workspace",
    "as_mapping",
    "config_directory",
    "data_directory",
    "find_workspace",
    "load_settings",
    "settings_from",
    "settings_schema",
]
