import { memo, useState } from "react";
import { address } from "../../state/route";
import type { Turn } from "../../state/turn";
import { AgentTree } from "../../turn/agent-tree";
import { useNow } from "../../turn/now";
import { QuestionCard } from "../../turn/question-card";
import { answerOf, delegations, inDoubt, isOver, scoreOf, spent, workLine, workTime } from "../../turn/view";
import { CopyButton } from "../../ui/copy-button";
import { Icon } from "../../ui/icons";
import { Mark } from "../../ui/mark";
import { Markdown } from "../../ui/markdown";
import { Score } from "../../ui/score";
import { duration, money, percent } from "../../ui/time";
import { IN_DOUBT } from "../../ui/words";
import { part, post } from "../../wire/api";
import { wholeEvent } from "../../wire/journal";
import { WORDS } from "./words";

interface TurnViewProps {
  turn: Turn;
  isSelected: boolean;
  /** The one that a search or a link led to. */
  isWanted: boolean;
  /** Its process is gone, or the server is away. */
  cutOff: "" | "turn" | "server";
  onSelect: (turn: string) => void;
  onAskAgain: (text: string) => void;
}

/** One message and what came of it. Only a changed turn is drawn again. */
export const TurnView = memo(function TurnView({ turn, isSelected, isWanted, cutOff, onSelect, onAskAgain }: TurnViewProps) {
  const answer = answerOf(turn);
  const untrusted = turn.answer?.label.untrusted ?? true;
  const doubts = inDoubt(turn);
  const open = turn.questions.filter((question) => !question.decision || !isOver(turn));
  return (
    <article className={isWanted ? "turn turn-wanted" : "turn"} data-turn={turn.id} aria-label={WORDS.turn(turn.number)} onFocus={() => isSelected || onSelect(turn.id)} onClick={() => isSelected || onSelect(turn.id)}>
      <div className="turn-said" dir="auto">{turn.said}</div>
      {turn.added.map((text, at) => <div key={at} className="turn-said turn-added" dir="auto">{text}</div>)}
      {turn.recalled && <Recalled ids={turn.recalled.ids} />}
      {turn.routed && (
        <p className="turn-quiet">{WORDS.routed(turn.routed.agent, percent(turn.routed.confidence))}</p>
      )}
      {needsWorkLine(turn) && <Work turn={turn} />}
      {doubts.length > 0 && <Doubts calls={doubts} />}
      {open.map((question) => <QuestionCard key={question.approval} question={question} />)}
      {turn.resumedAt.length > 0 && !isOver(turn) && <p className="turn-quiet">{WORDS.resumed}</p>}
      {answer && (
        <div className="turn-by"><Mark agent={answer.author} /><span>{answer.author}</span></div>
      )}
      {answer && (
        <div className="turn-answer">
          {turn.answer?.clipped ? <ClippedAnswer turn={turn} untrusted={untrusted} /> : <Markdown text={answer.text} untrusted={untrusted} complete={isOver(turn)} />}
        </div>
      )}
      {turn.phase === "failed" && turn.failure && (
        <div className="trouble turn-trouble">
          <p className="turn-trouble-head"><Icon name="cross" /><b dir="auto">{turn.failure.text}</b></p>
          {turn.failure.detail && !turn.failure.text.includes(turn.failure.detail) && <p className="quiet" dir="auto">{turn.failure.detail}</p>}
          <button type="button" className="button button-small" onClick={() => onAskAgain(turn.said)}>{WORDS.askAgain}</button>
        </div>
      )}
      {turn.phase === "cancelled" && (
        <p className="turn-quiet"><Icon name="stop" />{WORDS.stoppedByYou}{answer ? `. ${WORDS.incomplete}` : ""}</p>
      )}
      {cutOff && !isOver(turn) && <CutOff turn={turn} kind={cutOff} />}
      {turn.answer?.cutShort && <p className="turn-quiet tag-warn"><Icon name="warning" />{WORDS.cutShort(turn.answer.cutShort)}</p>}
      {turn.answer && turn.answer.unsupported.length > 0 && (
        <p className="turn-quiet tag-warn"><Icon name="warning" />{WORDS.unsupported(turn.answer.unsupported.join(", "))}</p>
      )}
      {isOver(turn) && <End turn={turn} onAskAgain={onAskAgain} />}
      {doubts.length > 0 && isOver(turn) && <Doubts calls={doubts} />}
    </article>
  );
});

/** Once a turn is over, its score below the answer tells who worked; what went wrong is still told in words. */
function needsWorkLine(turn: Turn): boolean {
  if (!isOver(turn)) return turn.phase === "running" || delegations(turn).length > 0;
  return delegations(turn).some((node) => node.outcome !== "ok");
}

function Recalled({ ids }: { ids: readonly string[] }) {
  return (
    <p className="turn-recalled">
      <Icon name="recall" />{WORDS.recalled}
      {ids.map((id) => <a key={id} href={address("memory", id)}>{id}</a>)}
    </p>
  );
}

/** While agents work, one line of fixed height shows the latest step; opened, it is the tree. */
function Work({ turn }: { turn: Turn }) {
  const [isOpen, setOpen] = useState(false);
  const now = useNow(turn.phase === "running");
  const line = workLine(turn);
  return (
    <div className="work">
      <button type="button" className="work-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="work-score"><Score {...scoreOf(turn, now)} width={120} /></span>
        <span className="work-now cut">
          {line.who && <b>{line.who}</b>} {line.what}
          {line.rest && <span className="quiet">{line.who ? " · " : ""}{line.rest}</span>}
        </span>
        <span className="quiet num">{duration(workTime(turn, now))}</span>
        <Icon name={isOpen ? "down" : "right"} />
      </button>
      {isOpen && <div className="work-tree"><AgentTree turn={turn} now={now} withSteps /></div>}
    </div>
  );
}

function Doubts({ calls }: { calls: readonly string[] }) {
  return (
    <div className="trouble turn-doubt" role="note">
      {calls.map((call) => <p key={call}><Icon name="warning" /><span><b dir="auto">{call}</b> {IN_DOUBT}</span></p>)}
    </div>
  );
}

function CutOff({ turn, kind }: { turn: Turn; kind: "turn" | "server" }) {
  const [busy, setBusy] = useState(false);
  if (kind === "server") return <p className="turn-quiet tag-warn"><Icon name="warning" />{WORDS.serverAway}</p>;
  const act = (what: string) => {
    setBusy(true);
    post(`/api/turns/${part(turn.id)}/${what}`).catch(() => setBusy(false));
  };
  return (
    <div className="trouble turn-trouble">
      <p className="turn-trouble-head"><Icon name="warning" /><b>{WORDS.cutOff}</b></p>
      <p>{WORDS.cutOffWhy}</p>
      <p className="turn-buttons">
        <button type="button" className="button button-small" disabled={busy} onClick={() => act("resume")}>{WORDS.goOn}</button>
        <button type="button" className="button button-small" disabled={busy} onClick={() => act("abandon")}>{WORDS.giveUp}</button>
      </p>
    </div>
  );
}

/** A long answer comes cut; the whole takes its place on demand. */
function ClippedAnswer({ turn, untrusted }: { turn: Turn; untrusted: boolean }) {
  const [whole, setWhole] = useState("");
  const [isLost, setLost] = useState(false);
  const load = () => {
    setLost(false);
    wholeAnswer(turn).then(setWhole, () => setLost(true));
  };
  return (
    <>
      <Markdown text={whole || (turn.answer?.text ?? "")} untrusted={untrusted} complete />
      {!whole && <button type="button" className="button button-small turn-whole" onClick={load}>{WORDS.wholeAnswer}</button>}
      {isLost && <p className="turn-quiet tag-warn" role="alert"><Icon name="warning" />{WORDS.wholeFailed}</p>}
    </>
  );
}

/** What a turn took and did, from the journal alone. */
function End({ turn, onAskAgain }: { turn: Turn; onAskAgain: (text: string) => void }) {
  const cost = spent([turn]);
  const label = turn.answer?.label;
  return (
    <>
      <Done turn={turn} />
      <footer className="turn-end">
        <a href={address("t", turn.id)} className="turn-score" aria-label={`${WORDS.trace}: ${WORDS.turn(turn.number)}`}>
          <Score {...scoreOf(turn, turn.lastAt)} width={120} />
        </a>
        <span className="num">{duration(turn.milliseconds)}{cost > 0 ? ` · ${money(cost)}` : ""}</span>
        {label && (label.untrusted || label.private) && (
          <span className="turn-label" title={label.sources.join("\n")}>
            <Icon name="shield" />{label.untrusted ? WORDS.readElsewhere : WORDS.readPrivate}
          </span>
        )}
        <span className="turn-acts">
          {turn.answer && <CopyButton text={() => wholeAnswer(turn)} label={WORDS.copyAnswer} />}
          <button type="button" className="button-icon" aria-label={WORDS.askAgain} title={WORDS.askAgain} onClick={() => onAskAgain(turn.said)}>
            <Icon name="again" />
          </button>
        </span>
      </footer>
    </>
  );
}

async function wholeAnswer(turn: Turn): Promise<string> {
  if (!turn.answer?.clipped) return turn.answer?.text ?? "";
  const event = await wholeEvent(turn.id, turn.answer.seq);
  return event.kind === "turn_finished" ? event.text : "";
}

function Done({ turn }: { turn: Turn }) {
  const kinds = ["changed", "sent", "paid", "failed"] as const;
  const done = kinds.filter((kind) => (turn.effects?.[kind].length ?? 0) > 0);
  if (!done.length) return null;
  return (
    <ul className="turn-done">
      {done.map((kind) => (
        <li key={kind} dir="auto"><span className="quiet">{WORDS.effects[kind]}</span> {turn.effects?.[kind].join(", ")}</li>
      ))}
    </ul>
  );
}
