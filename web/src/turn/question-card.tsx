import { useEffect, useRef, useState } from "react";
import { ApiError, part, post } from "../wire/api";
import { refresh, useStore } from "../state/store";
import type { Question } from "../state/turn";
import { Diff } from "../ui/diff";
import { Icon } from "../ui/icons";
import { troubleOf } from "../ui/load";
import { Exact } from "../ui/invisible";
import { Mark } from "../ui/mark";
import { Menu } from "../ui/menu";
import { moment } from "../ui/time";
import { SCOPES } from "../ui/words";
import "./question.css";
import { WORDS } from "./words";

const W = WORDS.question;
/** Milliseconds in which a fresh card hears no click: it may have appeared under the pointer. */
const DEAF = 500;

type Scope = "once" | "session" | "always";

/** The call that waits, and what a decision covers. The card stands where the call would. */
export function QuestionCard({ question }: { question: Question }) {
  const decided = useRef<HTMLParagraphElement>(null);
  const [acted, setActed] = useState(false);
  useEffect(() => {
    if (acted && question.decision) decided.current?.focus();
  }, [acted, question.decision]);
  if (question.decision) {
    return (
      <p className="question-decided" tabIndex={-1} ref={decided}>
        <Icon name={question.decision === "approve" ? "tick" : "cross"} />
        {question.decision === "approve" ? W.approved : W.denied} <code className="mono">{question.call.name}</code>
        {question.scope && question.scope !== "once" ? ` ${SCOPES[question.scope]}` : ""}
      </p>
    );
  }
  return <OpenCard question={question} onActed={() => setActed(true)} />;
}

function OpenCard({ question, onActed }: { question: Question; onActed: () => void }) {
  const waiting = useStore((state) => state.waiting).find((each) => each.id === question.approval);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [isDeaf, setDeaf] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setDeaf(false), DEAF);
    return () => clearTimeout(timer);
  }, []);
  const decide = async (decision: "approve" | "deny", scope: Scope = "once") => {
    if (isDeaf || busy) return;
    setBusy(true);
    setTrouble("");
    onActed();
    try {
      await post(`/api/approvals/${part(question.approval)}`, { decision, scope });
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) setTrouble(W.already);
      else setTrouble(troubleOf(error));
      setBusy(false);
    }
    void refresh();
  };
  const pattern = waiting?.pattern ?? {};
  const bound = Object.entries(pattern).map(([name, value]) => `${name}=${shown(value)}`).join(", ");
  const covers = W.covers(question.call.name, bound);
  return (
    <section className="question" aria-label={`${question.agent} ${W.wants} ${question.call.name}`}>
      <header className="question-head">
        <Mark agent={question.agent} />
        <span>
          {question.agent} {W.wants} <code className="mono">{question.call.name}</code>
        </span>
        <span className="tag question-until num">
          {question.expiresAt ? W.until(moment(question.expiresAt)) : W.noEnd}
        </span>
      </header>
      <dl className="question-facts">
        <dt>{W.call}</dt>
        <dd><Arguments values={question.call.arguments} targets={Object.keys(pattern)} /></dd>
        {question.changes && question.changes.lines.length > 0 && (
          <>
            <dt>{W.changes}</dt>
            <dd><Diff changes={question.changes} /></dd>
          </>
        )}
        <dt>{W.why}</dt>
        <dd dir="auto" className="question-why">{question.reason}</dd>
        {question.sources.length > 0 && (
          <>
            <dt>{W.read}</dt>
            <dd className="question-sources">
              {question.sources.map((source) => (
                <span className="chip" key={source} dir="auto"><Exact text={source} /></span>
              ))}
            </dd>
          </>
        )}
      </dl>
      {trouble && <p className="question-trouble" role="alert">{trouble}</p>}
      <footer className="question-foot">
        <button type="button" className="button" disabled={busy} onClick={() => void decide("deny")}>
          <Icon name="cross" />{W.deny}
        </button>
        <button type="button" className="button" disabled={busy} onClick={() => void decide("approve")}>
          <Icon name="tick" />{W.once}
        </button>
        <Menu
          buttonClass="question-longer"
          items={[
            { label: W.session, note: covers, onSelect: () => void decide("approve", "session") },
            { label: W.always, note: covers, onSelect: () => void decide("approve", "always") },
          ]}
        >
          {W.longer}
          <Icon name="down" />
        </Menu>
      </footer>
    </section>
  );
}

/** Every argument, character by character; those that choose a receiver are marked. */
export function Arguments({ values, targets = [] }: { values: Record<string, unknown>; targets?: readonly string[] }) {
  const all = Object.keys(values);
  const names = [...all.filter((name) => targets.includes(name)), ...all.filter((name) => !targets.includes(name))];
  if (!names.length) return <span className="quiet">{W.noArguments}</span>;
  return (
    <div className="question-arguments mono">
      {names.map((name) => (
        <div key={name}>
          {name} ={" "}
          {targets.includes(name) ? <b><Exact text={shown(values[name])} /></b> : <Exact text={shown(values[name])} />}
        </div>
      ))}
    </div>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, null, 1);
}
