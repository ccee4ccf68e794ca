"""The embedded router: who owns a request, without asking a language model."""

from sestet.models.router.bank import DIRECT, Example
from sestet.models.router.parts import Part
from sestet.models.router.router import Explanation, Route, Router, open_router
from sestet.models.router.words import Evidence

__all__ = ["DIRECT", "Evidence", "Example", "Explanation", "Part", "Route", "Router", "open_router"]
