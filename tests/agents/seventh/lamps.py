"""Lighting lamps, and the state of each."""

from typing import Annotated

from sestet.core.tool import tool


@tool(risk="safe", reads=(), effect="none", recovery="pure", examples=("light the lamp of the {tower}",))
async def lamp_light(tower: Annotated[str, "Which lighthouse"]) -> str:
    """Light the lamp of one lighthouse, and say so."""
    return f"Lit: {tower}"


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=("is the lamp of the {tower} lit",),
)
async def lamp_look(tower: Annotated[str, "Which lighthouse"]) -> str:
    """Tell whether the lamp of one lighthouse is lit."""
    return f"Never lit: {tower}"
