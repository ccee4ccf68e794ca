"""Tells callers how their tasks go, at the hosts that the owner allows and at no others."""

import asyncio
import logging
from collections.abc import Sequence
from uuid import uuid4

import httpx
from a2a.types import TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict

from sestet.core.event import END_OF_TURN, Event, TurnStarted
from sestet.server.a2a.tasks import TaskUpdates, Update
from sestet.services.sessions import is_callers
from sestet.storage.callers import CallerStore

_log = logging.getLogger(__name__)

#: Targets of one task, and characters of one.
_MOST = 4
_LONGEST = 4_000
_SECONDS = 10.0
_TRIES = 3
_TOLD = (TurnStarted, *END_OF_TURN)


class Pushes:
    """The places that want to be told, and the telling. Only beginnings, pauses and ends are told."""

    def __init__(self, store: CallerStore, hosts: Sequence[str]) -> None:
        self._store = store
        self._hosts = frozenset(host.strip().lower() for host in hosts)
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def are_allowed(self) -> bool:
        return bool(self._hosts)

    def add(self, turn_id: str, config: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
        self.require_allowed(config.url)
        kept = TaskPushNotificationConfig()
        kept.CopyFrom(config)
        kept.task_id, kept.id = turn_id, config.id or uuid4().hex
        data = kept.SerializeToString()
        known = self.all(turn_id)
        if len(data) > _LONGEST or (len(known) >= _MOST and kept.id not in {each.id for each in known}):
            raise InvalidParamsError(f"a task has at most {_MOST} targets of at most {_LONGEST:,} bytes")
        self._store.set_target(turn_id, kept.id, data)
        return kept

    def require_allowed(self, url: str) -> None:
        """Raise if the owner has not allowed the host of an address."""
        try:
            address = httpx.URL(url)
        except httpx.InvalidURL:
            address = httpx.URL("")
        place = address.netloc.decode("ascii", "replace").lower()
        if address.scheme not in ("http", "https") or address.userinfo or place not in self._hosts:
            raise InvalidParamsError("the owner of this assistant does not allow this host to be told")

    def all(self, turn_id: str) -> list[TaskPushNotificationConfig]:
        return [TaskPushNotificationConfig.FromString(data) for data in self._store.targets(turn_id)]

    def get(self, turn_id: str, target_id: str) -> TaskPushNotificationConfig:
        for config in self.all(turn_id):
            if config.id == target_id:
                return config
        raise TaskNotFoundError("there is no such target")

    def delete(self, turn_id: str, target_id: str) -> None:
        self._store.delete_target(turn_id, target_id)

    def notice(self, event: Event) -> None:
        """Called with each event of every turn."""
        if not isinstance(event, _TOLD) or not is_callers(event.stamp.session_id) or not self.are_allowed:
            return
        turn_id = event.stamp.turn_id
        targets = self.all(turn_id)
        if targets:
            updates = TaskUpdates(turn_id, self._store.context_of(event.stamp.session_id)).read(event)
            task = asyncio.create_task(self._tell(targets, updates), name=f"tell of {turn_id}")
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        """Stop telling; a notification is lost if its host does not take it in time."""
        for task in self._sending:
            task.cancel()
        if self._sending:
            await asyncio.wait(self._sending)

    async def _tell(self, targets: Sequence[TaskPushNotificationConfig], updates: Sequence[Update]) -> None:
        async with httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=_SECONDS) as client:
            for target in targets:
                for update in updates:
                    await self._post(client, target, update)

    async def _post(
        self, client: httpx.AsyncClient, target: TaskPushNotificationConfig, update: Update
    ) -> None:
        headers = {"x-a2a-notification-token": target.token} if target.token else {}
        if target.authentication.scheme and target.authentication.credentials:
            headers["authorization"] = f"{target.authentication.scheme} {target.authentication.credentials}"
        try:
            # The owner may have taken a host off the list since.
            self.require_allowed(target.url)
            for attempt in range(_TRIES):
                if attempt:
                    await asyncio.sleep(attempt)
                try:
                    # The status alone matters, so the answer is not read: it may have any size.
                    body = MessageToDict(to_stream_response(update))
                    async with client.stream("POST", target.url, json=body, headers=headers) as response:
                        if response.is_success:
                            return
                except httpx.TransportError:
                    continue
            _log.warning("a caller's task %s could not be told of at its host", target.task_id)
        except (InvalidParamsError, httpx.HTTPError, ValueError):
            _log.warning("a caller's task %s is not told of: its target cannot be used", target.task_id)
