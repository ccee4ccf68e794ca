import { useState } from "react";
import { part, post } from "../wire/api";
import { wholeEvent } from "../wire/journal";
import type { Node, Step, ToolStep, Turn } from "../state/turn";
import { Diff } from "../ui/diff";
import { Icon } from "../ui/icons";
import { Mark } from "../ui/mark";
import { Output } from "../ui/output";
import { rowKeys } from "../ui/tree";
import { Tag } from "../ui/tag";
import { duration } from "../ui/time";
import { IN_DOUBT, NUDGES, OUTCOMES, stateWord, TOOL_OUTCOMES } from "../ui/words";
import { Arguments } from "./question-card";
import "./turn.css";
import { delegations, isOver, latest, nodeTime, toolLine } from "./view";
import { WORDS } from "./words";

/** As many calls in a row are folded, unless one of them needs to be seen. */
const FOLD_FROM = 5;

export interface AgentTreeProps {
  turn: Turn;
  now: number;
  /** Shows what each agent did below its line. */
  withSteps?: boolean;
  selected?: string;
  onSelect?: (delegation: string) => void;
}

/** Who was asked by whom, live. */
export function AgentTree({ turn, now, withSteps = false, selected, onSelect }: AgentTreeProps) {
  const root = turn.nodes[0];
  if (!root) return null;
  const row = (node: Node) => (
    <TreeNode
      key={node.delegation}
      node={node}
      turn={turn}
      now={now}
      withSteps={withSteps}
      isSelected={selected === node.delegation && node.delegation !== ""}
      {...(onSelect ? { onSelect } : {})}
    />
  );
  return (
    <ul className="tree" aria-label={WORDS.delegations} onKeyDown={(event) => rowKeys(event, ".tree-pick")}>
      {row(root)}
      {delegations(turn).length > 0 && <li><ul className="tree tree-inner">{delegations(turn).map(row)}</ul></li>}
    </ul>
  );
}

interface TreeNodeProps {
  node: Node;
  turn: Turn;
  now: number;
  withSteps: boolean;
  isSelected: boolean;
  onSelect?: (delegation: string) => void;
}

function TreeNode({ node, turn, now, withSteps, isSelected, onSelect }: TreeNodeProps) {
  const outcome = node.outcome && OUTCOMES[node.outcome];
  const isGone = node.outcome === "rejected";
  const line = node.outcome && node.outcome !== "ok" && node.cause ? node.cause : describe(node);
  const canStop = node.delegation && !node.outcome && !isOver(turn);
  const content = (
    <>
      <Mark agent={node.agent} />
      <span className="tree-name">
        <b className={isGone ? "tree-gone" : ""}>{node.agent}</b>
        {outcome && <span className={outcome.tone ? `tree-outcome tag-${outcome.tone}` : "tree-outcome"}> {outcome.word}</span>}
      </span>
      <span className="tree-time num">{duration(nodeTime(node, turn, now))}</span>
      {line && <span className="tree-say" dir="auto">{line}</span>}
    </>
  );
  return (
    <li>
      <div className={isSelected ? "tree-row tree-selected" : "tree-row"}>
        {onSelect && node.delegation ? (
          <button type="button" className="tree-pick" aria-pressed={isSelected} onClick={() => onSelect(node.delegation)}>
            {content}
          </button>
        ) : (
          <div className="tree-pick">{content}</div>
        )}
        {canStop && withSteps && (
          <button
            type="button"
            className="button-icon"
            aria-label={`${WORDS.stopIt}: ${node.agent}`}
            onClick={() => void post(`/api/turns/${part(turn.id)}/delegations/${part(node.delegation)}/cancel`).catch(() => {})}
          >
            <Icon name="stop" />
          </button>
        )}
      </div>
      {withSteps && <Steps node={node} turn={turn} />}
    </li>
  );
}

function describe(node: Node): string {
  if (!node.outcome) return node.delegation ? latest(node) : "";
  const tools = node.steps.filter((step): step is ToolStep => step.kind === "tool");
  const last = tools.at(-1);
  return last ? toolLine(last) : node.request;
}

/** What an agent did, step by step. Rows of many calls fold; failed, refused and doubtful ones never do. */
export function Steps({ node, turn }: { node: Node; turn: Turn }) {
  const [isOpen, setOpen] = useState(false);
  const shown = node.steps.filter((step) => step.kind !== "question" && !(step.kind === "model" && !step.text));
  const quiet = shown.filter((step) => step.kind === "tool" && step.outcome === "ok");
  const folds = quiet.length >= FOLD_FROM && !isOpen;
  const visible = folds ? shown.filter((step) => !quiet.includes(step)) : shown;
  return (
    <div className="steps">
      {node.delegation && node.request && <p className="steps-request" dir="auto">{node.request}</p>}
      {folds && (
        <button type="button" className="steps-fold" onClick={() => setOpen(true)}>
          <Icon name="right" />{WORDS.showCalls(quiet.length)}
        </button>
      )}
      {visible.map((step) => <StepRow key={step.seq} step={step} turn={turn} />)}
      {node.streaming && <p className="steps-text" dir="auto">{node.streaming}</p>}
    </div>
  );
}

function StepRow({ step, turn }: { step: Step; turn: Turn }) {
  if (step.kind === "tool") return <ToolRow step={step} turn={turn} />;
  if (step.kind === "model") return <p className="steps-text" dir="auto">{step.text}</p>;
  if (step.kind === "note") return <Note step={step} />;
  return null;
}

export function ToolRow({ step, turn }: { step: ToolStep; turn: Turn }) {
  const state = step.outcome && stateWord(TOOL_OUTCOMES, step.outcome);
  const mustShow = step.outcome !== undefined && step.outcome !== "ok";
  const load = async () => {
    const event = await wholeEvent(turn.id, step.resultSeq);
    return event.kind === "tool_finished" ? event.text : "";
  };
  const characters = step.clipped?.["text"];
  return (
    <details className={step.outcome === "in_doubt" ? "tool tool-doubt" : "tool"} open={mustShow || undefined}>
      <summary>
        <code className="cut">{toolLine(step)}</code>
        {state ? <Tag state={state} detail={duration(step.milliseconds)} /> : <span className="tag">{WORDS.work}</span>}
      </summary>
      <div className="tool-body">
        {step.outcome === "in_doubt" && <p className="tool-doubt-word">{step.call.name} {IN_DOUBT}</p>}
        <h4>{WORDS.arguments}</h4>
        <Arguments values={step.call.arguments} />
        {step.changes && step.changes.lines.length > 0 && <><h4>{WORDS.changes}</h4><Diff changes={step.changes} /></>}
        {(step.forPerson || step.text || step.output) && <h4>{WORDS.result}</h4>}
        {step.forPerson ? (
          <p dir="auto">{step.forPerson}</p>
        ) : (
          <Output text={step.text || step.output} {...(characters ? { clipped: { characters, load } } : {})} />
        )}
      </div>
    </details>
  );
}

function Note({ step }: { step: Extract<Step, { kind: "note" }> }) {
  const { event } = step;
  if (event.kind === "model_retried") {
    return <p className="steps-note tag-warn" dir="auto"><Icon name="warning" />{event.model}: {event.text} → {event.next_model}</p>;
  }
  if (event.kind === "agent_nudged") return <p className="steps-note">{NUDGES[event.reason] ?? event.reason}</p>;
  return <p className="steps-note">{event.kind.replaceAll("_", " ")}</p>;
}
