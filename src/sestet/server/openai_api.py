"""The surface for clients of OpenAI: chat completions, responses, and the list of models."""

from sestet.server import openai_chat, openai_responses
from sestet.server.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (*openai_chat.ENDPOINTS, *openai_responses.ENDPOINTS)
