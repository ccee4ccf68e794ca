"""The kit's own client of A2A, which drives a real server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types import Message, Part, Role, SendMessageConfiguration, SendMessageRequest, Task, TaskState
from a2a.utils.constants import TransportProtocol

from tests.server.served import Served

DONE = TaskState.TASK_STATE_COMPLETED
WAITS = TaskState.TASK_STATE_AUTH_REQUIRED
ON: dict[str, object] = {"a2a": {"server": {"enabled": True}}}


@asynccontextmanager
async def a2a_client(
    served: Served, token: str, binding: str = "JSONRPC", *, streaming: bool = True
) -> AsyncGenerator[Client]:
    """A client that has read the card, and shows this token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as connection:
        card = await A2ACardResolver(connection, served.url).get_agent_card()
        config = ClientConfig(
            streaming=streaming,
            httpx_client=connection,
            supported_protocol_bindings=[TransportProtocol(binding)],
            use_client_preference=True,
        )
        yield ClientFactory(config).create(card)


def message(
    text: str, *, message_id: str = "", context_id: str = "", task_id: str = ""
) -> SendMessageRequest:
    made = Message(role=Role.ROLE_USER, message_id=message_id or uuid4().hex, parts=[Part(text=text)])
    made.context_id, made.task_id = context_id, task_id
    return SendMessageRequest(message=made, configuration=SendMessageConfiguration())


async def ask(client: Client, request: SendMessageRequest) -> Task:
    """The task of a message, put together from everything that the server sends."""
    task = Task()
    async for reply in client.send_message(request):
        if reply.HasField("task"):
            task.CopyFrom(reply.task)
        elif reply.HasField("status_update"):
            task.status.CopyFrom(reply.status_update.status)
        elif reply.HasField("artifact_update"):
            update = reply.artifact_update
            if not update.append:
                del task.artifacts[:]
            task.artifacts.append(update.artifact)
    return task


def answer_of(task: Task) -> str:
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)
