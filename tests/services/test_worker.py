"""The worker: it runs while there is work, only logs failures, and stops on close."""

import asyncio
import logging
import time

import pytest

from sestet.services.worker import Worker


class Work:
    """A number of pieces of work; records each step and the end of the work."""

    def __init__(self, pieces: int = 0) -> None:
        self.pieces = pieces
        self.done = 0
        self.idle = asyncio.Event()

    async def step(self) -> bool:
        if not self.pieces:
            self.idle.set()
            return False
        self.pieces -= 1
        self.done += 1
        return True


async def test_a_worker_does_all_there_is_and_waits_to_be_woken() -> None:
    work = Work(3)
    worker = Worker("work", work.step)

    worker.wake()
    await work.idle.wait()
    assert work.done == 3

    work.pieces = 2
    work.idle.clear()
    worker.wake()
    await work.idle.wait()
    await worker.close()
    assert work.done == 5


async def test_a_worker_that_was_not_woken_does_nothing() -> None:
    work = Work(1)
    worker = Worker("work", work.step)

    await worker.close()
    worker.wake()
    await asyncio.sleep(0)

    assert work.done == 0


async def test_what_is_added_during_a_step_is_done_after_it() -> None:
    steps: list[int] = []
    second = asyncio.Event()

    async def step() -> bool:
        steps.append(len(steps))
        if len(steps) == 1:
            worker.wake()
        else:
            second.set()
        return False

    worker = Worker("work", step)
    worker.wake()

    await second.wait()
    await worker.close()


async def test_others_are_heard_between_two_steps() -> None:
    work = Work(1_000)
    worker = Worker("work", work.step)
    worker.wake()

    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert 0 < work.done < 1_000
    await worker.close()
    assert work.done < 1_000


async def test_closing_lets_the_present_step_finish() -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    finished: list[bool] = []

    async def step() -> bool:
        started.set()
        await go_on.wait()
        finished.append(True)
        return True

    worker = Worker("work", step)
    worker.wake()
    await started.wait()
    closing = asyncio.create_task(worker.close())
    await asyncio.sleep(0)
    go_on.set()
    await closing

    assert finished == [True]


async def test_closing_does_not_wait_for_ever() -> None:
    started = asyncio.Event()
    ended: list[str] = []

    async def step() -> bool:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        return True

    worker = Worker("work", step, grace=0.01)
    worker.wake()
    await started.wait()
    await worker.close()

    assert ended == ["cancelled"]


async def test_a_failure_is_logged_once_tried_again_and_raised_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcomes = [OSError("no disk"), OSError("no disk"), OSError("no disk"), True, OSError("again"), False]
    done = asyncio.Event()

    async def step() -> bool:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        if not outcomes:
            done.set()
        return outcome

    worker = Worker("the work", step, pause=0.001)
    with caplog.at_level(logging.WARNING):
        worker.wake()
        await done.wait()
    await worker.close()

    assert [record.getMessage() for record in caplog.records] == [
        "the work: no disk; will try again",
        "the work: again; will try again",
    ]


async def test_closing_ends_the_rest_after_a_failure() -> None:
    failed = asyncio.Event()

    async def step() -> bool:
        failed.set()
        raise OSError("no disk")

    worker = Worker("work", step, pause=3_600.0, longest_pause=3_600.0, grace=3_600.0)
    worker.wake()
    await failed.wait()

    await worker.close()


async def test_a_worker_with_a_small_share_of_the_cpu_leaves_the_rest_to_others() -> None:
    class Busy(Work):
        async def step(self) -> bool:
            until = time.process_time() + 0.003
            while time.process_time() < until:
                pass
            return await super().step()

    modest, greedy = Busy(60), Busy(60)
    workers = [Worker("modest", modest.step, cpu_share=0.05), Worker("greedy", greedy.step)]
    for worker in workers:
        worker.wake()
    await greedy.idle.wait()
    assert modest.done < greedy.done / 2
    for worker in workers:
        await worker.close()
