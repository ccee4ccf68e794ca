"""The check of the embedded router: which variant answers."""

from sestet.agents import default_specs
from sestet.cli.health.check import Check
from sestet.models.router import open_router

_WAY_OUT = "for the full one: pip install '.[router]' in the clone"


def check_router() -> Check:
    """Routes one word, so that weights that cannot be read are seen here first."""
    try:
        router = open_router(default_specs())
        router.route("hello")
    except (OSError, ValueError, KeyError) as error:
        return Check("router", "problem", f"its weights cannot be read: {error}", "install Sestet again")
    detail = f"{router.variant}, sure from {router.threshold:.1%} on"
    if router.missing:
        return Check("router", "ok", f"the light variant ({detail}): {router.missing}", _WAY_OUT)
    return Check("router", "ok", detail)
