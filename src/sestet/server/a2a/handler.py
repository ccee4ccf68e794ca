"""The requests of A2A: every transport of the kit calls these, and each reads the same detached turns."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Any, TypeVar, cast

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import apply_history_length, validate_history_length, validate_page_size
from google.protobuf.message import Message as ProtoMessage

from sestet.core.errors import PersonError
from sestet.server.a2a.callers import Callers
from sestet.server.a2a.push import Pushes
from sestet.server.a2a.tasks import ENDED, TaskUpdates, Update, read_task
from sestet.server.endpoint import Call
from sestet.server.errors import ApiError, api_error
from sestet.server.followed_turn import FollowedTurn, read_whole
from sestet.server.host import Host
from sestet.storage.callers import CallerStore, CallerTurn
from sestet.storage.session_log import Place

_log = logging.getLogger(__name__)

#: Where the context builder puts the request.
CALL = "sestet.call"
_PAGE = 50
#: Seconds that a cancelled task gets to end before its state is told.
_CANCEL_SECONDS = 5.0

_Result = TypeVar("_Result")


@contextmanager
def _told(params: ProtoMessage | None) -> Generator[None]:
    """Check a request, and turn our errors into those of the protocol; a bug tells nothing of itself."""
    if params is not None:
        validate_proto_required_fields(params)
    try:
        yield
    except A2AError:
        raise
    except Exception as error:
        facts = api_error(error).facts
        told = ". ".join(filter(None, (facts.message, facts.way_out)))
        if isinstance(error, (ApiError, PersonError)):
            raise InvalidParamsError(told) from error
        _log.error("an A2A request failed on a bug", exc_info=error)
        raise InternalError(told) from error


class SestetRequests(RequestHandler):
    """The assistant as an agent of A2A."""

    def __init__(self, host: Host, store: CallerStore, callers: Callers, pushes: Pushes) -> None:
        self._host = host
        self._store = store
        self._callers = callers
        self._pushes = pushes

    # Messages

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task:
        with _told(params):
            validate_history_length(params.configuration)
            call = _call(context)
            turn, followed = self._accept(params, call)
            if not params.configuration.return_immediately:
                await read_whole(call, followed, lambda placed: None)
            return apply_history_length(self._read(turn), params.configuration)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Task | Update]:
        with _told(params):
            validate_history_length(params.configuration)
            call = _call(context)
            turn, followed = self._accept(params, call)
            yield apply_history_length(self._read(turn), params.configuration)
            async with aclosing(self._updates(call, turn, followed)) as updates:
                async for update in updates:
                    yield update

    def _accept(self, params: SendMessageRequest, call: Call[Any, Any]) -> tuple[CallerTurn, FollowedTurn]:
        message, configuration, token = params.message, params.configuration, call.token
        text = self._callers.text_of(message)
        wants_push = configuration.HasField("task_push_notification_config")
        if wants_push:
            self._require_pushes()
            self._pushes.require_allowed(configuration.task_push_notification_config.url)
        session_id = self._callers.session_for(token, message)
        after = self._host.turns.feeds.last(session_id)
        accepted = self._host.turns.accept(session_id, text, message.message_id, caller=token.name)
        turn = self._callers.turn(token, accepted.turn_id)
        if wants_push:
            self._pushes.add(turn.turn_id, configuration.task_push_notification_config)
        if row := self._host.app.journal.turn(turn.turn_id):
            after = Place(row.number, 0)
        return turn, FollowedTurn(call, session_id, turn.turn_id, after)

    async def _updates(
        self, call: Call[Any, Any], turn: CallerTurn, followed: FollowedTurn
    ) -> AsyncGenerator[Update]:
        reader = TaskUpdates(turn.turn_id, turn.context_id)
        with call.limits.stream(call.token.name):
            async with aclosing(followed.batches()) as batches:
                async for batch in batches:
                    for update in reader.read_all(placed.event for placed in batch):
                        yield update

    # Tasks

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task:
        with _told(params):
            validate_history_length(params)
            return apply_history_length(self._read(self._find(context, params.id)), params)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        with _told(params):
            validate_history_length(params)
            size = _PAGE
            if params.HasField("page_size"):
                validate_page_size(params.page_size)
                size = params.page_size
            turns = self._store.turns(_call(context).token.id, params.context_id)
            tasks = [self._read(turn) for turn in turns]
            tasks = [task for task in tasks if _fits(task, params)]
            start = _start(params.page_token, tasks)
            page = [_listed(task, params) for task in tasks[start : start + size]]
            more = page[-1].id if start + size < len(tasks) else ""
            return ListTasksResponse(tasks=page, next_page_token=more, page_size=size, total_size=len(tasks))

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task:
        with _told(params):
            call, turn = _call(context), self._find(context, params.id)
            if self._read(turn).status.state in ENDED:
                raise TaskNotCancelableError("the task has ended")
            followed = self._follow(call, turn)
            await self._host.turns.cancel(turn.turn_id)
            with suppress(TimeoutError, ApiError):
                async with asyncio.timeout(_CANCEL_SECONDS):
                    await read_whole(call, followed, lambda placed: None)
            return self._read(turn)

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Task | Update]:
        with _told(params):
            call, turn = _call(context), self._find(context, params.id)
            task = self._read(turn)
            if task.status.state in ENDED:
                raise UnsupportedOperationError("the task has ended; ask for it instead")
            yield task
            async with aclosing(self._updates(call, turn, self._follow(call, turn))) as updates:
                async for update in updates:
                    yield update

    def _follow(self, call: Call[Any, Any], turn: CallerTurn) -> FollowedTurn:
        """A task from its beginning; one that waits for the owner from there."""
        host, message = self._host, self._host.turns.message(turn.turn_id)
        assert message is not None  # the store has found its row
        row = host.app.journal.turn(turn.turn_id)
        after = Place(row.number, 0) if row else host.turns.feeds.last(message.session_id)
        if row and row.state == "paused":
            last = max(event.seq for event in host.app.journal.events_of(turn.turn_id))
            after = Place(row.number, last)
        return FollowedTurn(call, message.session_id, turn.turn_id, after)

    def _find(self, context: ServerCallContext, task_id: str) -> CallerTurn:
        return self._callers.turn(_call(context).token, task_id)

    def _read(self, turn: CallerTurn) -> Task:
        return read_task(self._host.turns, self._host.app.journal, turn)

    # Push notifications

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        return self._push(params, context, params.task_id, lambda turn_id: self._pushes.add(turn_id, params))

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        return self._push(
            params, context, params.task_id, lambda turn_id: self._pushes.get(turn_id, params.id)
        )

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        configs = self._push(params, context, params.task_id, self._pushes.all)
        return ListTaskPushNotificationConfigsResponse(configs=configs)

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        self._push(params, context, params.task_id, lambda turn_id: self._pushes.delete(turn_id, params.id))

    def _push(
        self, params: ProtoMessage, context: ServerCallContext, task_id: str, work: Callable[[str], _Result]
    ) -> _Result:
        with _told(params):
            self._require_pushes()
            return work(self._find(context, task_id).turn_id)

    def _require_pushes(self) -> None:
        if not self._pushes.are_allowed:
            raise PushNotificationNotSupportedError

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        raise UnsupportedOperationError("the card that everybody gets is the whole card")


def _call(context: ServerCallContext) -> Call[Any, Any]:
    return cast("Call[Any, Any]", context.state[CALL])


def _fits(task: Task, params: ListTasksRequest) -> bool:
    if params.status != TaskState.TASK_STATE_UNSPECIFIED and task.status.state != params.status:
        return False
    if not params.HasField("status_timestamp_after"):
        return True
    return task.status.timestamp.ToDatetime() >= params.status_timestamp_after.ToDatetime()


def _start(page_token: str, tasks: list[Task]) -> int:
    if not page_token:
        return 0
    for number, task in enumerate(tasks, 1):
        if task.id == page_token:
            return number
    raise InvalidParamsError("the page token is not one of this list")


def _listed(task: Task, params: ListTasksRequest) -> Task:
    if not params.include_artifacts:
        task.ClearField("artifacts")
    return apply_history_length(task, params)
