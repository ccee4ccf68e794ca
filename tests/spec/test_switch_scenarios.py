"""Which settings bring which tools."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import sestet

_GRAPH = {"graph_traverse", "graph_query", "graph_path", "graph_add", "graph_remove"}
_RAG = {"rag_retrieve"}
_MEMORY = {"memory_list_observations", "memory_list_reflections"}
_BOTH_MODES = pytest.mark.parametrize("multi_agent", [True, False], ids=["tree", "single"])


@_BOTH_MODES
@pytest.mark.scenario("003-switch-graph")
async def test_graph_tools_exist_when_the_graph_is_enabled(tmp_path: Path, multi_agent: bool) -> None:
    with_graph = await _tool_names(tmp_path, multi_agent, {"graph": {"enabled": True}})
    without = await _tool_names(tmp_path, multi_agent, {"graph": {"enabled": False}})

    assert with_graph >= _GRAPH
    assert without.isdisjoint(_GRAPH)


@_BOTH_MODES
@pytest.mark.scenario("003-switch-rag")
async def test_the_retrieval_tool_exists_when_an_embedding_provider_is_set(
    tmp_path: Path, multi_agent: bool
) -> None:
    with_embedding = await _tool_names(tmp_path, multi_agent, {"embedding": {"provider": "local"}})
    without = await _tool_names(tmp_path, multi_agent, {"embedding": {"provider": "none"}})

    assert with_embedding >= _RAG
    assert without.isdisjoint(_RAG)


@_BOTH_MODES
@pytest.mark.scenario("003-switch-memory")
async def test_memory_lists_exist_when_observational_memory_is_enabled(
    tmp_path: Path, multi_agent: bool
) -> None:
    with_memory = await _tool_names(tmp_path, multi_agent, {"observationalMemory": {"enabled": True}})
    without = await _tool_names(tmp_path, multi_agent, {"observationalMemory": {"enabled": False}})

    assert with_memory >= _MEMORY
    assert without.isdisjoint(_MEMORY)


@pytest.mark.scenario("003-switch-graph")
@pytest.mark.scenario("003-switch-rag")
@pytest.mark.scenario("003-switch-memory")
async def test_all_three_are_on_by_default(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path, model=sestet.ScriptedModel([])) as app:
        assert {tool.name for tool in app.tools} >= _GRAPH | _RAG | _MEMORY


async def _tool_names(
    home: Path, multi_agent: bool, switch: Mapping[str, Mapping[str, bool | str]]
) -> set[str]:
    settings = {"agent": {"multiAgent": multi_agent}, **switch}
    async with sestet.open(settings, home=home, model=sestet.ScriptedModel([])) as app:
        return {tool.name for tool in app.tools}
