"""Which keys lie in the environment. Their values stay there: a settings file names the variable."""

import os
from collections.abc import Iterable, Mapping


def first_set(variables: Iterable[str], environ: Mapping[str, str] | None = None) -> str:
    """The first of these variables that holds something; empty: none does."""
    environ = os.environ if environ is None else environ
    return next((name for name in variables if environ.get(name, "").strip()), "")
