/** One event more: how each kind changes the turn. Nothing is changed in place, so that React sees what did. */
import type { Event, ToolCalled, ToolFinished } from "./event";
import { addUsage, newNode, type Node, type Step, type ToolStep, type Turn } from "./turn";

export function step(turn: Turn, event: Event): Turn {
  return apply(event.at > turn.lastAt ? { ...turn, lastAt: event.at } : turn, event);
}

function apply(turn: Turn, event: Event): Turn {
  switch (event.kind) {
    case "turn_started":
      return { ...turn, said: event.text, mine: event.mine, at: event.at };
    case "memory_recalled":
      return { ...turn, recalled: { ids: event.ids, text: event.text } };
    case "request_routed":
      return { ...turn, routed: { agent: event.agent, confidence: event.confidence } };
    case "text_streamed":
      return onNode(turn, event, (node) => ({ ...node, streaming: node.streaming + event.text }));
    case "model_called":
      return onNode(turn, event, (node) => ({
        ...node,
        agent: node.delegation ? node.agent : event.author,
        streaming: "",
        usage: addUsage(node.usage, event.usage),
        steps: [
          ...node.steps,
          {
            kind: "model",
            seq: event.seq,
            at: event.at,
            model: event.model,
            text: event.text,
            calls: event.calls,
            usage: event.usage,
            milliseconds: event.milliseconds,
            free: event.free,
            clipped: event.clipped,
          },
        ],
      }));
    case "delegation_started":
      return {
        ...turn,
        nodes: [
          ...turn.nodes,
          {
            ...newNode(event.delegation, event.agent, event),
            request: event.request,
            reply: event.reply,
            round: event.round,
          },
        ],
      };
    case "delegation_finished":
      return onNode(turn, event, (node) => ({
        ...node,
        outcome: event.outcome,
        endedAt: event.outcome === "paused" ? undefined : event.at,
        cause: event.for_person || event.cause,
        denied: event.denied,
        text: event.text,
        label: event.label,
        streaming: "",
        waits: event.outcome === "paused" ? begunWait(node.waits, event.at) : endedWait(node.waits, event.at),
      }));
    case "tool_called":
      return onNode(turn, event, (node) => ({ ...node, steps: [...node.steps, calledTool(event)] }));
    case "output_streamed":
      return onNode(turn, event, (node) => ({
        ...node,
        steps: node.steps.map((each) =>
          each.kind === "tool" && each.call.id === event.call_id && !each.outcome
            ? { ...each, output: each.output + event.text }
            : each,
        ),
      }));
    case "tool_finished":
      return onNode(turn, event, (node) => ({ ...node, steps: finishedTool(node.steps, event) }));
    case "approval_requested":
      return asked(turn, event);
    case "approval_decided":
      return {
        ...turn,
        questions: turn.questions.map((each) =>
          each.approval === event.approval_id ? { ...each, decision: event.decision, scope: event.scope } : each,
        ),
      };
    case "turn_finished":
      return ended(
        {
          ...turn,
          phase: "finished",
          usage: event.usage,
          milliseconds: event.milliseconds,
          effects: event.effects,
          answer: {
            author: event.author,
            text: event.text,
            label: event.label,
            cutShort: event.cut_short,
            unsupported: event.unsupported,
            clipped: event.clipped,
            seq: event.seq,
          },
        },
        event.at,
      );
    case "turn_failed":
      return ended(
        {
          ...turn,
          phase: "failed",
          usage: event.usage,
          milliseconds: event.milliseconds,
          effects: event.effects,
          failure: { text: event.text, cause: event.cause, detail: event.detail },
        },
        event.at,
      );
    case "turn_cancelled":
      return ended(
        {
          ...turn,
          phase: "cancelled",
          usage: event.usage,
          milliseconds: event.milliseconds,
          effects: event.effects,
        },
        event.at,
      );
    case "turn_paused":
      return {
        ...turn,
        phase: "paused",
        effects: event.effects,
        nodes: turn.nodes.map((node) => (node.delegation ? node : { ...node, waits: begunWait(node.waits, event.at) })),
      };
    case "turn_steered":
      return { ...turn, added: [...turn.added, event.text] };
    case "turn_resumed":
      return {
        ...turn,
        phase: "running",
        answer: undefined,
        failure: undefined,
        resumedAt: [...turn.resumedAt, event.at],
        nodes: turn.nodes.map((node) =>
          node.outcome === "paused" || !node.delegation
            ? { ...node, outcome: undefined, streaming: "", waits: endedWait(node.waits, event.at) }
            : { ...node, streaming: "" },
        ),
      };
    default:
      return onNode(turn, event, (node) => ({
        ...node,
        steps: [...node.steps, { kind: "note", seq: (event as Event).seq, at: (event as Event).at, event }],
      }));
  }
}

function onNode(turn: Turn, event: Event, change: (node: Node) => Node): Turn {
  const known = turn.nodes.some((node) => node.delegation === event.delegation);
  const nodes = known ? turn.nodes : [...turn.nodes, newNode(event.delegation, event.author, event)];
  return { ...turn, nodes: nodes.map((node) => (node.delegation === event.delegation ? change(node) : node)) };
}

type Waits = Node["waits"];

function begunWait(waits: Waits, at: number): Waits {
  const last = waits.at(-1);
  return last && last[1] === undefined ? waits : [...waits, [at, undefined]];
}

function endedWait(waits: Waits, at: number): Waits {
  return waits.map((wait) => (wait[1] === undefined ? ([wait[0], at] as const) : wait));
}

function calledTool(event: ToolCalled): ToolStep {
  return {
    kind: "tool",
    seq: event.seq,
    at: event.at,
    call: event.call,
    targets: event.targets,
    changes: event.changes,
    output: "",
    outcome: undefined,
    resultSeq: 0,
    text: "",
    milliseconds: 0,
    label: undefined,
    forPerson: "",
    clipped: undefined,
  };
}

function finishedTool(steps: readonly Step[], event: ToolFinished): readonly Step[] {
  const result = {
    outcome: event.outcome,
    resultSeq: event.seq,
    text: event.text,
    milliseconds: event.milliseconds,
    label: event.label,
    forPerson: event.for_person,
    clipped: event.clipped,
    output: "",
  };
  let last = -1;
  steps.forEach((each, index) => {
    if (each.kind === "tool" && each.call.id === event.call.id && !each.outcome) last = index;
  });
  if (last >= 0) return steps.map((each, index) => (index === last ? { ...(each as ToolStep), ...result } : each));
  // A guard answered the call before the tool could run.
  const refused: ToolStep = {
    kind: "tool",
    seq: event.seq,
    at: event.at,
    call: event.call,
    targets: [],
    changes: undefined,
    ...result,
  };
  return [...steps, refused];
}

function asked(turn: Turn, event: Extract<Event, { kind: "approval_requested" }>): Turn {
  const shown = onNode(turn, event, (node) => ({
    ...node,
    steps: [...node.steps, { kind: "question", seq: event.seq, approval: event.approval_id }],
  }));
  const node = shown.nodes.find((each) => each.delegation === event.delegation);
  return {
    ...shown,
    questions: [
      ...shown.questions.filter((each) => each.approval !== event.approval_id),
      {
        approval: event.approval_id,
        delegation: event.delegation,
        agent: node?.agent ?? event.author,
        seq: event.seq,
        at: event.at,
        call: event.call,
        reason: event.reason,
        sources: event.sources,
        expiresAt: event.expires_at,
        changes: event.changes,
        decision: undefined,
        scope: undefined,
      },
    ],
  };
}

function ended(turn: Turn, at: number): Turn {
  return {
    ...turn,
    nodes: turn.nodes.map((node) => ({
      ...node,
      endedAt: node.endedAt ?? at,
      // A text that was being written when the turn was stopped stays, as what there is of it.
      text: node.text || (turn.phase === "cancelled" ? node.streaming : node.text),
      streaming: "",
      waits: endedWait(node.waits, at),
    })),
  };
}
