"""Watering plants, and the state of each."""

from typing import Annotated

from sestet.core.tool import tool


@tool(risk="safe", reads=(), effect="none", recovery="pure", examples=("water the {plant}",))
async def plant_water(plant: Annotated[str, "Which plant"]) -> str:
    """Water one plant, and say so."""
    return f"Watered: {plant}"


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=("when was the {plant} last watered",),
)
async def plant_look(plant: Annotated[str, "Which plant"]) -> str:
    """Tell when one plant was last watered."""
    return f"Never watered: {plant}"
