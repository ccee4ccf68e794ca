/** What the page shows of a turn, beyond what its events say one by one. */
import type { Bar } from "../ui/score";
import { counted } from "../ui/time";
import { OUTCOMES } from "../ui/words";
import type { Node, Step, Turn } from "../state/turn";
import { WORDS } from "./words";

/** The agents that were given something, as they began. */
export function delegations(turn: Turn): readonly Node[] {
  return turn.nodes.filter((node) => node.delegation);
}

export function isOver(turn: Turn): boolean {
  return turn.phase !== "running" && turn.phase !== "paused";
}

/** Seconds since 1970 at which a turn ended, or now. */
export function endOf(turn: Turn, now: number): number {
  return isOver(turn) || turn.phase === "paused" ? turn.lastAt : Math.max(now, turn.lastAt);
}

/** Milliseconds that a turn has taken; waiting for a person is not work. */
export function workTime(turn: Turn, now: number): number {
  if (turn.milliseconds) return turn.milliseconds;
  const end = endOf(turn, now);
  return Math.max(0, (end - turn.at) * 1000 - waitTime(turn.nodes[0], end));
}

export function nodeTime(node: Node, turn: Turn, now: number): number {
  const end = node.endedAt ?? endOf(turn, now);
  return Math.max(0, (end - node.at) * 1000 - waitTime(node, end));
}

function waitTime(node: Node | undefined, end: number): number {
  return (node?.waits ?? []).reduce((sum, [from, until]) => sum + Math.max(0, (until ?? end) - from), 0) * 1000;
}

export function scoreOf(turn: Turn, now: number): { bars: Bar[]; barlines: number[]; span: readonly [number, number] } {
  const until = endOf(turn, now);
  const bars = delegations(turn).map((node) => ({
    agent: node.agent,
    start: node.at,
    end: node.endedAt ?? (isOver(turn) ? until : null),
    outcome: node.outcome ?? "",
    waits: node.waits.map(([from, to]) => [from, to ?? null] as const),
  }));
  const decisions = (turn.nodes[0]?.steps ?? []).filter((step) => step.kind === "model" && step.calls.length > 0);
  const barlines = decisions.map((step) => (step.kind === "model" ? step.at : turn.at));
  // Some room at the end, for what is written behind the last bar.
  const length = Math.max(until - turn.at, 0.001);
  return { bars, barlines, span: [turn.at, turn.at + length * 1.06] };
}

/** The agent whose text is, or will be, the answer; undefined while nobody writes one. */
export function answerOf(turn: Turn): { author: string; text: string } | undefined {
  if (turn.answer) return { author: turn.answer.author, text: turn.answer.text };
  if (turn.phase === "failed" || turn.phase === "paused") return undefined;
  const atWork = delegations(turn).filter((node) => !node.outcome);
  const only = atWork.length === 1 && atWork[0]?.reply ? atWork[0] : undefined;
  const writer = only ?? (atWork.length ? undefined : (delegations(turn).at(-1)?.reply ? lastReply(turn) : undefined) ?? turn.nodes[0]);
  const text = writer && written(writer);
  return text ? { author: writer.agent, text } : undefined;
}

function lastReply(turn: Turn): Node | undefined {
  const last = delegations(turn).at(-1);
  return last?.outcome === "ok" || turn.phase === "cancelled" ? last : undefined;
}

function written(node: Node): string {
  if (node.streaming) return node.streaming;
  const last = node.steps.at(-1);
  return last?.kind === "model" && !last.calls.length ? last.text : node.text;
}

/** The one line of a turn: who works on what, or how the delegations ended. */
export function workLine(turn: Turn): { who: string; what: string; rest: string } {
  const all = delegations(turn);
  const waiting = all.find((node) => node.outcome === "paused");
  const atWork = all.filter((node) => !node.outcome);
  const ends = summary(all);
  if (turn.phase === "paused") return { who: waiting?.agent ?? "orchestrator", what: OUTCOMES.paused.word, rest: ends };
  if (turn.phase === "running" && atWork.length === 1) {
    return { who: atWork[0]?.agent ?? "", what: latest(atWork[0]), rest: ends };
  }
  if (turn.phase === "running" && atWork.length) {
    return { who: atWork.map((node) => node.agent).join(", "), what: WORDS.work, rest: ends };
  }
  if (turn.phase === "running") return { who: turn.nodes[0]?.agent ?? "", what: WORDS.thinks, rest: ends };
  return { who: "", what: "", rest: ends };
}

/** What an agent does now, in a few words. */
export function latest(node: Node | undefined): string {
  const step = node?.steps.at(-1);
  if (!node || node.outcome) return "";
  if (node.streaming) return WORDS.writes;
  if (step?.kind === "tool" && !step.outcome) return toolLine(step);
  return WORDS.thinks;
}

export function toolLine(step: Extract<Step, { kind: "tool" }>): string {
  const target = step.targets[0] ?? firstText(step.call.arguments);
  // The targets of some tools begin with the tool's name.
  return target.startsWith(step.call.name) ? target : `${step.call.name} ${target}`.trim();
}

function firstText(args: Record<string, unknown>): string {
  const found = Object.values(args).find((value) => typeof value === "string" && value);
  return typeof found === "string" ? found.slice(0, 120) : "";
}

function summary(nodes: readonly Node[]): string {
  const groups = new Map<string, number>();
  for (const node of nodes) {
    if (node.outcome && node.outcome !== "paused") groups.set(node.outcome, (groups.get(node.outcome) ?? 0) + 1);
  }
  return [...groups].map(([outcome, number]) => `${number} ${OUTCOMES[outcome as keyof typeof OUTCOMES].word}`).join(", ");
}

export interface CostRow {
  agent: string;
  tokens: number;
  nanoDollars: number;
  /** Without a price: the calls cost nothing, as on this machine, or nobody knows what they cost. */
  isFree: boolean;
}

/** Tokens and price by agent, in the order in which they began; the parts add up to the turn's. */
export function costsOf(turn: Turn): CostRow[] {
  const rows = new Map<string, CostRow>();
  for (const node of turn.nodes) {
    const row = rows.get(node.agent) ?? { agent: node.agent, tokens: 0, nanoDollars: 0, isFree: true };
    const { input_tokens, output_tokens, nano_dollars } = node.usage;
    rows.set(node.agent, {
      agent: node.agent,
      tokens: row.tokens + input_tokens + output_tokens,
      nanoDollars: row.nanoDollars + nano_dollars,
      isFree: row.isFree && node.steps.every((step) => step.kind !== "model" || step.free),
    });
  }
  return [...rows.values()];
}

export function spent(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + turn.nodes.reduce((own, node) => own + node.usage.nano_dollars, 0), 0);
}

/** Calls that were cut off and may have taken effect. */
export function inDoubt(turn: Turn): readonly string[] {
  return turn.effects?.in_doubt ?? [];
}

export function roundsUsed(turn: Turn): string {
  const rounds = Math.max(0, ...delegations(turn).map((node) => node.round));
  return rounds ? counted(rounds, "round") : "";
}
