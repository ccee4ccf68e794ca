"""Checks of the models that the settings name: their server, their context, their tool calls."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import aclosing

from sestet import app
from sestet.config import Settings
from sestet.core.errors import ModelError, PersonError
from sestet.core.masking import mask_address
from sestet.core.message import UserMessage
from sestet.core.model import ModelReply, ModelRequest
from sestet.core.pages import page
from sestet.core.record import replace
from sestet.core.schema import object_schema
from sestet.core.tool import Tool
from sestet.core.words import duration
from sestet.doctor.check import Check
from sestet.models.choice import named_models
from sestet.models.servers import (
    ENOUGH_CONTEXT,
    Server,
    find_servers,
    is_own,
    look_at,
    usual_kind,
    usual_places,
)
from sestet.models.vendor import VendorModel

_SERVER, _CONTEXT, _TOOLS, _PRICE = "model server", "model context", "tool calls", "price limit"
_EXPLAINED = f"{page('models')} explains each failure"
#: A model may have to be loaded first.
_PATIENCE = 120.0
_QUOTED = 80
_NO_TOOLS = "choose a model that can call tools: 'sestet setup' tries one before it is used"
_CLOCK = Tool(
    "clock_read",
    "Read the clock of a city.",
    object_schema({"city": {"type": "string", "description": "The city"}}, ("city",)),
)
_QUESTION = ModelRequest(
    "doctor",
    "You answer by calling tools.",
    (UserMessage("What time is it in Paris? Call clock_read."),),
    (_CLOCK,),
)


async def check_servers(settings: Settings, *, probe: bool) -> list[Check]:
    """Check a server of the person's own wholly, and a vendor's model only with ``probe``: it costs money."""
    named = dict.fromkeys((each.provider, each.model) for each in named_models(settings))
    known = [(provider, model) for provider, model in named if provider in settings.providers and model]
    if not known:
        return await asyncio.to_thread(lambda: list(_unused()))
    checks: list[Check] = []
    for provider, model in known:
        address = settings.providers[provider].base_url
        if is_own(address):
            checks += await _check_own(settings, provider, model)
        elif probe:
            checks.append(await _check_tools(settings, provider, model))
        else:
            detail = f"{provider}/{model} was not asked, since its vendor charges for it"
            checks.append(Check(_TOOLS, "ok", detail, "'sestet doctor --probe' asks it"))
    return checks


async def check_prices(settings: Settings) -> list[Check]:
    """Whether the limits in dollars hold: they cannot count calls whose price is unknown."""
    limits = settings.limits
    in_dollars = {"limits.dollars": limits.dollars, "limits.dollarsPerDay": limits.dollars_per_day}
    names = " and ".join(name for name, dollars in in_dollars.items() if dollars)
    if not names:
        return []
    named = dict.fromkeys((each.provider, each.model) for each in named_models(settings))
    checks: list[Check] = []
    for provider, model in named:
        if provider in settings.providers and model:
            vendor = VendorModel(provider, settings.providers[provider], model)
            checks.append(await _check_price(vendor, names))
    return checks


async def _check_price(model: VendorModel, limits: str) -> Check:
    try:
        known = await asyncio.to_thread(model.has_price)
        await model.close()
    except ModelError as error:
        return Check(_PRICE, "problem", str(error), _EXPLAINED)
    if known:
        return Check(_PRICE, "ok", f"the price of {model.name} is known, so it counts towards {limits}")
    detail = f"the price of {model.name} is unknown, so its calls do not count towards {limits}"
    way_out = f"set its price ({page('limit-your-spending')}), or limits.tokens, which holds for every model"
    return Check(_PRICE, "warning", detail, way_out)


def _unused() -> Iterator[Check]:
    """Servers that run here while the built-in model answers."""
    for server in find_servers(usual_places()):
        yield Check(_SERVER, "ok", f"{_described(server)}; not used", "'sestet setup' lets you use it")


async def _check_own(settings: Settings, provider: str, model: str) -> list[Check]:
    address, key = settings.providers[provider].base_url, settings.providers[provider].api_key
    server = await asyncio.to_thread(look_at, address, key)
    if server is None:
        detail = f"no model server answers at {mask_address(address)}"
        command = usual_kind(address).start
        start = f"start it ({command})" if command else "start it"
        way_out = f"{start} and let it load, or correct providers.{provider}.baseUrl and apiKey"
        return [Check(_SERVER, "problem", detail, way_out)]
    if server.find(model) is None:
        names = ", ".join(each.name for each in server.models) or "none"
        detail = f"{_described(server)}, but not '{model}'; it has: {names}"
        way_out = f"{server.kind.fetch.format(model=model)}, or 'sestet setup' to choose another"
        return [Check(_SERVER, "problem", detail, way_out)]
    tools = await _check_tools(settings, provider, model, server)
    # Ask again: some servers say how much a model reads only after a call has loaded it.
    server = await asyncio.to_thread(look_at, address, key) or server
    return [Check(_SERVER, "ok", _described(server)), _check_context(server, provider, model), tools]


def _check_context(server: Server, provider: str, model: str) -> Check:
    context = server.context_of(model)
    if context is None:
        detail = f"{server.kind.name} does not say how much {provider}/{model} reads"
        return Check(_CONTEXT, "ok", detail, f"it should be {ENOUGH_CONTEXT:,} tokens or more")
    detail = f"{provider}/{model} reads {context:,} tokens"
    if server.lacks_context(model):
        detail += f", and work with tools needs {ENOUGH_CONTEXT:,}"
        return Check(_CONTEXT, "warning", detail, server.more_context(model))
    return Check(_CONTEXT, "ok", detail)


async def _check_tools(settings: Settings, provider: str, model: str, server: Server | None = None) -> Check:
    """One real request with one tool, on the same path as the requests of a turn."""
    alone = replace(settings.agent, provider=provider, model=model, fallback=())
    settings = replace(settings, agent=alone, agents={}, a2a=replace(settings.a2a, enabled=False))
    name = f"{provider}/{model}"
    try:
        reply = await _ask(settings)
    except TimeoutError:
        detail = f"{name} did not answer within {duration(_PATIENCE)}"
        return Check(_TOOLS, "problem", detail, "take a smaller model, or ask again once it is loaded")
    except (ModelError, PersonError) as error:
        return Check(_TOOLS, "problem", str(error), _EXPLAINED)
    if any(call.name == _CLOCK.name for call in reply.calls):
        return Check(_TOOLS, "ok", f"{name} calls tools")
    said = " ".join(reply.text.split())[:_QUOTED]
    detail = f"{name} answered without calling the tool that it was given: {said}"
    return Check(_TOOLS, "problem", detail, server.kind.tool_calls if server else _NO_TOOLS)


async def _ask(settings: Settings) -> ModelReply:
    with tempfile.TemporaryDirectory() as home:
        async with app.open(settings, home=home) as opened:
            try:
                async with asyncio.timeout(_PATIENCE), aclosing(opened.model.stream(_QUESTION)) as items:
                    *_, reply = [item async for item in items]
            except (ModelError, TimeoutError) as error:
                # Raised outside: leaving app.open with an error does not close its connections.
                reply = error
    if isinstance(reply, Exception):
        raise reply
    assert isinstance(reply, ModelReply)  # the last item of every stream
    return reply


def _described(server: Server) -> str:
    number = len(server.models)
    models = f"{number} model{'' if number == 1 else 's'}"
    return f"{server.kind.name} at {mask_address(server.root)} with {models}"
