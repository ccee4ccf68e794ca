"""LangGraph: the orchestrator's node goes to a specialist's node, which has a node of tools beside it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from bench.script import LIST_TOOL, REPLY, REQUEST, SPECIALIST, Script, Seen, Stage
from bench.tree import AgentSketch, make_function


class FakeModel(BaseChatModel):
    """Follows the script."""

    script: object
    is_root: bool

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(self, *args, **kwargs):
        raise NotImplementedError

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        script, last = self.script, messages[-1]
        if script.counting:
            script.characters += sum(map(count_characters, messages))
        is_listing = isinstance(last, ToolMessage) and last.name == LIST_TOOL
        seen: Seen = "listing" if is_listing else "user"
        step = await script.next(self.is_root, seen)
        if step == "answer":
            message = AIMessage(REPLY)
        elif step == "delegate":
            arguments = {"agent_name": SPECIALIST, "request": REQUEST}
            call = {"name": "transfer_to_agent", "args": arguments, "id": script.call_id()}
            message = AIMessage("", tool_calls=[call])
        else:
            call = {"name": LIST_TOOL, "args": {"path": "."}, "id": script.call_id()}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools])


class LangGraph:
    def __init__(self, graph) -> None:
        self._graph = graph

    def new_session(self, name: str) -> list:
        return []

    async def turn(self, session: list, text: str) -> str:
        state = await self._graph.ainvoke({"messages": [*session, HumanMessage(text)]})
        session[:] = state["messages"]
        return session[-1].content


def add_specialist(graph: StateGraph, agent: AgentSketch, script: Script) -> None:
    tools = [StructuredTool.from_function(coroutine=make_function(each, script)) for each in agent.tools]
    model = FakeModel(script=script, is_root=False).bind_tools(tools)
    instruction = SystemMessage(agent.instruction)

    async def work(state: MessagesState):
        return {"messages": [await model.ainvoke([instruction, *state["messages"]])]}

    def after(state: MessagesState) -> str:
        return f"{agent.name}_tools" if state["messages"][-1].tool_calls else END

    graph.add_node(agent.name, work)
    graph.add_node(f"{agent.name}_tools", ToolNode(tools))
    graph.add_conditional_edges(agent.name, after, [f"{agent.name}_tools", END])
    graph.add_edge(f"{agent.name}_tools", agent.name)


@tool
def transfer_to_agent(agent_name: str, request: str) -> str:
    """Give a task to a specialist."""
    raise NotImplementedError


@asynccontextmanager
async def start(stage: Stage) -> AsyncGenerator[LangGraph]:
    script, root = stage.script, stage.tree.root
    names = tuple(agent.name for agent in stage.tree.specialists)
    model = FakeModel(script=script, is_root=True).bind_tools([transfer_to_agent])
    instruction = SystemMessage(root.instruction)

    async def orchestrate(state: MessagesState) -> Command[Literal[names]]:
        message = await model.ainvoke([instruction, *state["messages"]])
        call = message.tool_calls[0]
        result = ToolMessage(call["args"]["request"], tool_call_id=call["id"], name=call["name"])
        return Command(goto=call["args"]["agent_name"], update={"messages": [message, result]})

    graph = StateGraph(MessagesState)
    graph.add_node(root.name, orchestrate)
    graph.add_edge(START, root.name)
    for agent in stage.tree.specialists:
        add_specialist(graph, agent, script)
    yield LangGraph(graph.compile())


def count_characters(message) -> int:
    calls = getattr(message, "tool_calls", ())
    return len(message.content) + sum(len(str(value)) for call in calls for value in call["args"].values())
