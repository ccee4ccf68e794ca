/** A turn as the page draws it: made from its events alone, by `step`. */
import type { Changes, Effects, Event, Label, Stamp, ToolCall, ToolFinished, Usage } from "./event";

export type Phase = "running" | "paused" | "finished" | "failed" | "cancelled";
export type Outcome = Extract<Event, { kind: "delegation_finished" }>["outcome"];

export interface ModelStep {
  kind: "model";
  seq: number;
  at: number;
  model: string;
  text: string;
  calls: readonly ToolCall[];
  usage: Usage;
  milliseconds: number;
  free: boolean;
  clipped: Stamp["clipped"];
}

export interface ToolStep {
  kind: "tool";
  seq: number;
  at: number;
  call: ToolCall;
  targets: readonly string[];
  changes: Changes | undefined;
  /** What it prints while it runs. */
  output: string;
  outcome: ToolFinished["outcome"] | undefined;
  /** The event that has the whole result. */
  resultSeq: number;
  text: string;
  milliseconds: number;
  label: Label | undefined;
  forPerson: string;
  clipped: Stamp["clipped"];
}

export interface QuestionStep {
  kind: "question";
  seq: number;
  approval: string;
}

export interface NoteStep {
  kind: "note";
  seq: number;
  at: number;
  event: Event;
}

export type Step = ModelStep | ToolStep | QuestionStep | NoteStep;

/** An agent's part in a turn: the orchestrator's, or one delegation. */
export interface Node {
  /** Empty for the orchestrator. */
  delegation: string;
  agent: string;
  request: string;
  reply: boolean;
  round: number;
  seq: number;
  at: number;
  endedAt: number | undefined;
  outcome: Outcome | undefined;
  cause: string;
  denied: boolean;
  text: string;
  label: Label | undefined;
  steps: readonly Step[];
  /** The text that the model is writing now. */
  streaming: string;
  usage: Usage;
  /** When it waited for a person: from, until; open while it waits. */
  waits: readonly (readonly [number, number | undefined])[];
}

export interface Question {
  approval: string;
  delegation: string;
  agent: string;
  seq: number;
  at: number;
  call: ToolCall;
  reason: string;
  sources: readonly string[];
  expiresAt: number;
  changes: Changes | undefined;
  decision: "approve" | "deny" | undefined;
  scope: "once" | "session" | "always" | undefined;
}

export interface Answer {
  author: string;
  text: string;
  label: Label;
  cutShort: string;
  unsupported: readonly string[];
  clipped: Stamp["clipped"];
  seq: number;
}

export interface Turn {
  id: string;
  session: string;
  number: number;
  phase: Phase;
  at: number;
  lastAt: number;
  said: string;
  mine: boolean;
  /** The orchestrator first, then the delegations as they began. */
  nodes: readonly Node[];
  questions: readonly Question[];
  recalled: { ids: readonly string[]; text: string } | undefined;
  routed: { agent: string; confidence: number } | undefined;
  answer: Answer | undefined;
  failure: { text: string; cause: string; detail: string } | undefined;
  effects: Effects | undefined;
  usage: Usage;
  milliseconds: number;
  /** Words that the person added while it ran. */
  added: readonly string[];
  /** When a pause or a crash ended and the turn went on. */
  resumedAt: readonly number[];
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, nano_dollars: 0, cached_tokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    nano_dollars: one.nano_dollars + other.nano_dollars,
    cached_tokens: one.cached_tokens + other.cached_tokens,
  };
}

export function turnNumber(place: string): number {
  return Number(place.slice(0, place.indexOf(".")));
}

export function emptyTurn(event: Event): Turn {
  return {
    id: event.turn,
    session: event.session,
    number: turnNumber(event.place),
    phase: "running",
    at: event.at,
    lastAt: event.at,
    said: "",
    mine: true,
    nodes: [newNode("", "orchestrator", event)],
    questions: [],
    recalled: undefined,
    routed: undefined,
    answer: undefined,
    failure: undefined,
    effects: undefined,
    usage: NO_USAGE,
    milliseconds: 0,
    added: [],
    resumedAt: [],
  };
}

export function newNode(delegation: string, agent: string, event: Event): Node {
  return {
    delegation,
    agent,
    request: "",
    reply: false,
    round: 0,
    seq: event.seq,
    at: event.at,
    endedAt: undefined,
    outcome: undefined,
    cause: "",
    denied: false,
    text: "",
    label: undefined,
    steps: [],
    streaming: "",
    usage: NO_USAGE,
    waits: [],
  };
}
