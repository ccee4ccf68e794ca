// Written by `make docs` from core/event.py. Do not edit.

/** What every event has: its place in the session, its turn, its agent and its time. */
export interface Stamp {
  place: string;
  session: string;
  turn: string;
  seq: number;
  author: string;
  delegation: string;
  at: number;
  /** Texts that were cut, with the number of characters that they have in all. */
  clipped?: Record<string, number>;
}

export interface Label {
  untrusted: boolean;
  private: boolean;
  sources: readonly string[];
  only_private: number;
}

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  id: string;
  malformed: string;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  nano_dollars: number;
  cached_tokens: number;
}

export interface Seen {
  prompt?: string;
  follows?: boolean;
  parts?: readonly SeenPart[];
}

export interface SeenPart {
  turns?: readonly number[];
  memory?: boolean;
  request?: boolean;
  reply?: number;
  id?: string;
  clip?: number;
  role?: "" | "memory" | "user" | "assistant" | "tool";
  name?: string;
  text?: string;
  said_at?: string;
  calls?: readonly ToolCall[];
  failed?: boolean;
}

export type Found = readonly [name: string, text: string, kind: string];

export interface Changes {
  lines: readonly DiffLine[];
  left_out: number;
  basis: string;
}

export type DiffLine = readonly [mark: string, text: string];

export interface Effects {
  changed: readonly string[];
  sent: readonly string[];
  paid: readonly string[];
  failed: readonly string[];
  in_doubt: readonly string[];
}

export interface TurnStarted extends Stamp {
  kind: "turn_started";
  text: string;
  label: Label;
  mine: boolean;
  said_at: string;
  agent: string;
  caller: string;
}

export interface TurnSteered extends Stamp {
  kind: "turn_steered";
  text: string;
  mine: boolean;
  key: string;
}

export interface MemoryRecalled extends Stamp {
  kind: "memory_recalled";
  text: string;
  ids: readonly string[];
  label: Label;
}

export interface RequestRouted extends Stamp {
  kind: "request_routed";
  agent: string;
  confidence: number;
}

export interface TextStreamed extends Stamp {
  kind: "text_streamed";
  text: string;
}

export interface ModelCalled extends Stamp {
  kind: "model_called";
  model: string;
  text: string;
  calls: readonly ToolCall[];
  usage: Usage;
  milliseconds: number;
  calls_left_out: number;
  estimated_tokens: number;
  free: boolean;
  steered: number;
  seen: Seen;
}

export interface PriceUnknown extends Stamp {
  kind: "price_unknown";
  model: string;
  limits: readonly ("limits.dollars" | "limits.dollarsPerDay")[];
}

export interface ModelRetried extends Stamp {
  kind: "model_retried";
  model: string;
  failure: "rate_limit" | "transient" | "timeout" | "context_too_long" | "bad_request" | "unknown_model" | "auth" | "quota" | "content_filter" | "other";
  text: string;
  wait: number;
  next_model: string;
}

export interface AgentNudged extends Stamp {
  kind: "agent_nudged";
  reason: "silence" | "announced";
}

export interface DelegationStarted extends Stamp {
  kind: "delegation_started";
  agent: string;
  request: string;
  reply: boolean;
  round: number;
  call_id: string;
}

export interface DelegationFinished extends Stamp {
  kind: "delegation_finished";
  agent: string;
  outcome: "ok" | "rejected" | "failed" | "timeout" | "over_budget" | "loop" | "empty" | "cancelled" | "paused";
  text: string;
  cause: string;
  usage: Usage;
  milliseconds: number;
  label: Label;
  ended_with_turn: boolean;
  for_person: string;
  denied: boolean;
  found: readonly Found[];
}

export interface ToolCalled extends Stamp {
  kind: "tool_called";
  call: ToolCall;
  effect?: "none" | "store" | "local" | "external" | "money";
  targets: readonly string[];
  recovery: "pure" | "keyed" | "probe" | "unsafe";
  changes?: Changes;
}

export interface OutputStreamed extends Stamp {
  kind: "output_streamed";
  call_id: string;
  text: string;
}

export interface ToolFinished extends Stamp {
  kind: "tool_finished";
  call: ToolCall;
  outcome: "ok" | "error" | "refused" | "denied" | "in_doubt";
  text: string;
  milliseconds: number;
  label: Label;
  for_person: string;
  citations: readonly string[];
  mistake: boolean;
  found: readonly Found[];
  no_effect: boolean;
}

export interface ApprovalRequested extends Stamp {
  kind: "approval_requested";
  approval_id: string;
  call: ToolCall;
  reason: string;
  sources: readonly string[];
  expires_at: number;
  changes?: Changes;
}

export interface ApprovalDecided extends Stamp {
  kind: "approval_decided";
  approval_id: string;
  decision: "approve" | "deny";
  scope: "once" | "session" | "always";
}

export interface TurnFinished extends Stamp {
  kind: "turn_finished";
  text: string;
  usage: Usage;
  milliseconds: number;
  label: Label;
  cut_short: string;
  effects?: Effects;
  unsupported: readonly ("changed" | "sent" | "paid")[];
}

export interface TurnFailed extends Stamp {
  kind: "turn_failed";
  cause: string;
  text: string;
  label: Label;
  detail: string;
  usage: Usage;
  milliseconds: number;
  effects?: Effects;
}

export interface TurnCancelled extends Stamp {
  kind: "turn_cancelled";
  effects?: Effects;
  usage: Usage;
  milliseconds: number;
}

export interface TurnPaused extends Stamp {
  kind: "turn_paused";
  waiting_for: readonly string[];
  effects?: Effects;
}

export interface TurnResumed extends Stamp {
  kind: "turn_resumed";
}

export type Event =
  TurnStarted |
  TurnSteered |
  MemoryRecalled |
  RequestRouted |
  TextStreamed |
  ModelCalled |
  PriceUnknown |
  ModelRetried |
  AgentNudged |
  DelegationStarted |
  DelegationFinished |
  ToolCalled |
  OutputStreamed |
  ToolFinished |
  ApprovalRequested |
  ApprovalDecided |
  TurnFinished |
  TurnFailed |
  TurnCancelled |
  TurnPaused |
  TurnResumed;
