/** The rows of a trace: every agent, model call and tool call of a turn, with when it began and how long it took. */
import type { Node, Step, Turn } from "../../state/turn";
import { endOf, toolLine } from "../../turn/view";
import { OUTCOMES, stateWord, TOOL_OUTCOMES, type StateWord } from "../../ui/words";

export interface TraceRow {
  id: string;
  level: number;
  agent: string;
  name: string;
  kind: "agent" | "model" | "tool" | "note";
  start: number;
  end: number;
  /** Waiting for a person is striped, and is not work. */
  waits: readonly (readonly [number, number])[];
  nanoDollars: number;
  tokens: number;
  state: StateWord | undefined;
  isFailed: boolean;
  node: Node;
  step: Step | undefined;
}

/** The orchestrator first; below it, in the order of time, its calls and each agent that it asked, with that agent's calls. */
export function traceRows(turn: Turn, now: number): TraceRow[] {
  const groups = turn.nodes.flatMap((node) => {
    const [own, calls] = [agentRow(turn, node, now), node.steps.flatMap((step) => stepRow(turn, node, step, now))];
    return node.delegation ? [[own, ...calls]] : [[own], ...calls.map((call) => [call])];
  });
  const startOf = ([first]: readonly TraceRow[]) => (first?.id === "root" ? Number.NEGATIVE_INFINITY : (first?.start ?? 0));
  return groups.toSorted((a, b) => startOf(a) - startOf(b)).flat();
}

function agentRow(turn: Turn, node: Node, now: number): TraceRow {
  const end = node.endedAt ?? endOf(turn, now);
  return {
    id: node.delegation || "root",
    level: node.delegation ? 1 : 0,
    agent: node.agent,
    name: node.agent,
    kind: "agent",
    start: node.at,
    end,
    waits: node.waits.map(([from, until]) => [from, until ?? end] as const),
    nanoDollars: node.usage.nano_dollars,
    tokens: node.usage.input_tokens + node.usage.output_tokens,
    state: node.outcome && stateWord(OUTCOMES, node.outcome),
    isFailed: node.outcome !== undefined && node.outcome !== "ok" && node.outcome !== "paused",
    node,
    step: undefined,
  };
}

function stepRow(turn: Turn, node: Node, step: Step, now: number): TraceRow[] {
  const base = { level: node.delegation ? 2 : 1, agent: node.agent, waits: [], nanoDollars: 0, tokens: 0, state: undefined, isFailed: false, node, step };
  const id = `${node.delegation || "root"}.${step.seq}`;
  if (step.kind === "model") {
    const { usage } = step;
    // The event is written when the reply is whole.
    return [{ ...base, id, name: step.model, kind: "model", start: step.at - step.milliseconds / 1000, end: step.at, nanoDollars: usage.nano_dollars, tokens: usage.input_tokens + usage.output_tokens }];
  }
  if (step.kind === "tool") {
    const end = step.outcome ? step.at + step.milliseconds / 1000 : endOf(turn, now);
    const state = step.outcome && stateWord(TOOL_OUTCOMES, step.outcome);
    return [{ ...base, id, name: toolLine(step), kind: "tool", start: step.at, end, state, isFailed: step.outcome !== undefined && step.outcome !== "ok" }];
  }
  if (step.kind === "question") {
    const question = turn.questions.find((each) => each.approval === step.approval);
    const until = node.waits.find(([from]) => question && from >= question.at)?.[1] ?? endOf(turn, now);
    if (!question) return [];
    return [{ ...base, id, name: question.call.name, kind: "tool", start: question.at, end: until, waits: [[question.at, until]], state: question.decision ? stateWord(TOOL_OUTCOMES, question.decision === "approve" ? "ok" : "denied") : stateWord(OUTCOMES, "paused") }];
  }
  return [{ ...base, id, name: step.event.kind.replaceAll("_", " "), kind: "note", start: step.at, end: step.at }];
}

/** Where a person would look first. Agents are sums of their calls, so only calls count. */
export function landmarks(rows: readonly TraceRow[]): { slowest: TraceRow | undefined; dearest: TraceRow | undefined; failed: TraceRow | undefined } {
  const calls = rows.filter((row) => row.kind === "model" || (row.kind === "tool" && !row.waits.length));
  return {
    slowest: largest(calls, (row) => row.end - row.start),
    dearest: largest(calls, (row) => row.nanoDollars),
    failed: rows.find((row) => row.isFailed),
  };
}

function largest(rows: readonly TraceRow[], size: (row: TraceRow) => number): TraceRow | undefined {
  return rows.filter((row) => size(row) > 0).toSorted((a, b) => size(b) - size(a))[0];
}
