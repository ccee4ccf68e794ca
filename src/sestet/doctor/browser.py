"""Checks of the navigator's browser: whether Chromium starts, and how it is confined."""

from sestet.config import Settings
from sestet.core.errors import ToolError
from sestet.doctor.check import Check
from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.chromium import BrowserPlan, Chromium
from sestet.services.browser.egress import Egress
from sestet.services.browser.program import find_chromium

_NAME = "browser"
_UNSAFE = "remove 'browser.sandbox: off' from the settings"


async def check_browser(settings: Settings) -> Check:
    """Start Chromium as the settings say, and report how it is confined."""
    wanted = settings.browser
    if not wanted.enabled:
        return Check(_NAME, "ok", "switched off", "if you want it: remove 'browser.enabled: false'")
    try:
        program = find_chromium(visible=wanted.visible)
    except ToolError as error:
        why, _, way_out = str(error).partition("; ")
        return Check(_NAME, "ok", f"{why}, so the navigator has no tools", f"if you want it: {way_out}")
    sandboxed = wanted.sandbox == "on"
    try:
        plan = BrowserPlan(program, wanted.visible, sandboxed)
        chromium = await Chromium.start(plan, Egress(AddressRules(wanted.allow)))
    except ToolError as error:
        return Check(_NAME, "problem", str(error))
    own_network = chromium.own_network
    await chromium.stop()
    name = program.rpartition("/")[2]
    if not sandboxed:
        return Check(_NAME, "problem", f"{name} runs without its own sandbox", _UNSAFE)
    guard = "the kernel gives it no other network" if own_network else "set by its options, not by the kernel"
    allowed = f"; of your own network it reaches {', '.join(wanted.allow)}" if wanted.allow else ""
    return Check(_NAME, "ok", f"{name} in its own sandbox, behind Sestet's proxy ({guard}){allowed}")
