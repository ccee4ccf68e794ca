import type { Label } from "../../state/event";
import { address } from "../../state/route";
import type { Turn } from "../../state/turn";
import { ToolRow } from "../../turn/agent-tree";
import { Arguments } from "../../turn/question-card";
import { Icon } from "../../ui/icons";
import { Output } from "../../ui/output";
import { count } from "../../ui/time";
import { wholeEvent } from "../../wire/journal";
import type { TraceRow } from "./rows";
import { WORDS } from "./words";

/** What a row of the trace is made of. */
export function RowDetail({ row, turn }: { row: TraceRow; turn: Turn }) {
  const { step, node } = row;
  if (!step) {
    return (
      <dl className="trace-facts">
        {node.request && <Fact name={WORDS.request}>{node.request}</Fact>}
        {node.cause && <Fact name={node.outcome ?? ""}>{node.cause}</Fact>}
        {node.text && <Fact name={WORDS.answer}><Output text={node.text} /></Fact>}
        {node.label && <Fact name={WORDS.label}>{labelWords(node.label)}</Fact>}
      </dl>
    );
  }
  if (step.kind === "tool") {
    return (
      <>
        <ToolRow step={step} turn={turn} />
        {step.label && <dl className="trace-facts"><Fact name={WORDS.label}>{labelWords(step.label)}</Fact></dl>}
      </>
    );
  }
  if (step.kind === "model") {
    const { usage, clipped } = step;
    const load = async () => {
      const event = await wholeEvent(turn.id, step.seq);
      return event.kind === "model_called" ? event.text : "";
    };
    const characters = clipped?.["text"];
    return (
      <dl className="trace-facts">
        {step.text && <Fact name={WORDS.wrote}><Output text={step.text} {...(characters ? { clipped: { characters, load } } : {})} /></Fact>}
        {step.calls.map((call) => <Fact key={call.id} name={WORDS.asked}><code className="mono">{call.name}</code><Arguments values={call.arguments} /></Fact>)}
        <Fact name={WORDS.usage}>{WORDS.usageOf(count(usage.input_tokens), count(usage.output_tokens), count(usage.cached_tokens))}</Fact>
        <Fact name={WORDS.saw}><a className="button button-small" href={address("t", turn.id, "saw", step.seq)}><Icon name="eye" />{WORDS.saw}</a></Fact>
      </dl>
    );
  }
  if (step.kind === "question") {
    const question = turn.questions.find((each) => each.approval === step.approval);
    return question ? <dl className="trace-facts"><Fact name={WORDS.arguments}><Arguments values={question.call.arguments} /></Fact><Fact name={WORDS.waits}>{question.reason}</Fact></dl> : null;
  }
  return <Output text={JSON.stringify(step.event, null, 1)} />;
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return <div><dt>{name}</dt><dd dir="auto">{children}</dd></div>;
}

function labelWords(label: Label): string {
  const kinds = [label.untrusted && WORDS.untrusted, label.private && WORDS.private].filter(Boolean).join(", ");
  return [kinds || WORDS.clean, ...label.sources].join(" · ");
}
