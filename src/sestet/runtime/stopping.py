"""Ends the task of a turn, and tells its end from an error."""

import asyncio


def is_stopped_by(error: BaseException, task: "asyncio.Task[object] | None") -> bool:
    """Whether an error must end ``task``, in which it was caught, instead of becoming a failed result."""
    if isinstance(error, asyncio.CancelledError):
        # The awaited thing may have been cancelled, and not this task; then this task goes on.
        return task is None or task.cancelling() > 0
    if isinstance(error, GeneratorExit):
        # A library raised it, unless Python throws the task away: then another task runs, or none.
        return task is None or _running_task() is not task
    return isinstance(error, KeyboardInterrupt)


def _running_task() -> "asyncio.Task[object] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:
        # No event loop runs.
        return None


async def stop(task: asyncio.Task[None]) -> None:
    """Cancel the task and wait for its end, even while this task is cancelled itself."""
    cancelled: asyncio.CancelledError | None = None
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
