"""The embedded router: who owns a request, without asking a language model."""

from sestet.core.agent import DIRECT
from sestet.models.router.classifiers import Evidence
from sestet.models.router.router import Explanation, Route, Router, open_router
from sestet.models.router.splitting import Part
from sestet.models.router.weights import Example

__all__ = ["DIRECT", "Evidence", "Example", "Explanation", "Part", "Route", "Router", "open_router"]
