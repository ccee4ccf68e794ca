"""The work of a specialist: its calls one after another, and the answer from what they found."""

from collections.abc import Callable, Mapping

from sestet.models.offline import file_answers, file_work, line_work, memory_work, page_work
from sestet.models.offline.command_work import next_command_step
from sestet.models.offline.words import trim_request
from sestet.models.offline.work import Next, Work

_FLOWS = (
    *line_work.FLOWS,
    *file_work.FLOWS,
    *file_answers.FLOWS,
    *memory_work.FLOWS,
    *page_work.FLOWS,
)
#: What may follow a call, by its tool.
_FOLLOW_UPS: Mapping[str, Callable[[Work], Next]] = {
    "fs_read": file_work.after_reading,
    "fs_list": file_work.after_listing,
    "fs_search": file_work.after_searching,
    "fs_undo": file_work.after_undoing,
    **dict.fromkeys(file_work.CHANGES, file_work.after_changing),
    **dict.fromkeys(("browser_navigate", "browser_read"), page_work.after_opening),
    "memory_forget": memory_work.after_forgetting,
    "memory_recall": memory_work.after_recalling,
    "search_knowledge": memory_work.after_looking_up,
    "rag_retrieve": memory_work.after_looking_up,
}


def next_step(work: Work) -> Next:
    """The next calls of work that takes several, or its answer."""
    if step := next_command_step(work):
        return step
    for pattern, needed, flow in _FLOWS:
        found = pattern.fullmatch(work.request) or pattern.fullmatch(trim_request(work.request))
        if found and needed <= work.tools.keys():
            return flow(work, found)
    if work.steps:
        follow_up = _FOLLOW_UPS.get(work.last.call.name)
        return follow_up(work) if follow_up else None
    return file_work.begin_with_spaced_name(work)
