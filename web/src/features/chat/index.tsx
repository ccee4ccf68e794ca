import { type DragEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { go, type Route } from "../../state/route";
import { turnsOf } from "../../state/reduce";
import { beginSession, openSession, openTurn, useStore } from "../../state/store";
import type { Turn } from "../../state/turn";
import { isOver, spent, workLine } from "../../turn/view";
import { focusSoon } from "../../ui/focus";
import { Icon } from "../../ui/icons";
import { alertPerson, announce } from "../../ui/live";
import { troubleOf } from "../../ui/load";
import { Mark } from "../../ui/mark";
import { useNarrow } from "../../ui/narrow";
import { Scrim } from "../../ui/scrim";
import { money } from "../../ui/time";
import { useUploads } from "../../ui/uploads";
import { UI } from "../../ui/words";
import { WORDS as TURN_WORDS } from "../../turn/words";
import "./chat.css";
import { Composer } from "./composer";
import { Log } from "./log";
import { pump, sendAgain, useOutbox } from "./outbox";
import { Pending, Queue } from "./queue";
import { Rail } from "./rail";
import { SessionMenu } from "./session-menu";
import { TurnView } from "./turn-view";
import { Welcome } from "./welcome";
import { WORDS } from "./words";

/** At most so often a screen reader hears who works. */
const TELL_EVERY = 5000;

export function Chat({ route, onMenu }: { route: Route; onMenu: () => void }) {
  const [fresh, setFresh] = useState(() => ({ name: newSessionName(), isBegun: false }));
  const opened = route.screen === "s" ? route.rest[0] : undefined;
  // The name of a session that has begun is its own: the next new one gets another.
  if (opened === fresh.name && !fresh.isBegun) setFresh({ ...fresh, isBegun: true });
  if (!opened && fresh.isBegun) setFresh({ name: newSessionName(), isBegun: false });
  const session = opened || fresh.name;
  return <Conversation key={session} session={session} isNew={session === fresh.name} onMenu={onMenu} wanted={route.rest[1]} />;
}

interface ConversationProps {
  session: string;
  isNew: boolean;
  onMenu: () => void;
  /** A turn to show, by its id. */
  wanted: string | undefined;
}

function Conversation({ session, isNew, onMenu, wanted }: ConversationProps) {
  const state = useStore((all) => all.sessions.get(session));
  const row = useStore((all) => all.rows)?.find((each) => each.id === session);
  const isComplete = useStore((all) => all.complete.has(session)) || isNew;
  const isOpened = useStore((all) => all.opened.has(session));
  const isGone = useStore((all) => all.deleted.has(session));
  const isAway = useStore((all) => all.status === "lost");
  const turns = useMemo(() => turnsOf(state), [state]);
  const items = useOutbox(session);
  const uploads = useUploads();
  const [picked, setPicked] = useState("");
  const [railOpen, setRailOpen] = useState(() => innerWidth >= 1200);
  const [given, setGiven] = useState<{ text: string; at: number }>();
  const [sentAt, setSentAt] = useState(0);
  const [trouble, setTrouble] = useState("");
  const isNarrow = useNarrow();
  const isOverlay = innerWidth < 1200;
  const last = turns.at(-1);
  const running = last && !isOver(last) ? last : undefined;

  useEffect(() => {
    if (isNew) beginSession(session);
    else openSession(session).catch((error: unknown) => setTrouble(troubleOf(error)));
  }, [session, isNew]);
  useEffect(() => pump(session), [session, isOpened, turns, items]);
  useEffect(() => {
    if (!isAway) sendAgain(session);
  }, [session, isAway]);
  useEffect(() => {
    if (!wanted) return;
    setPicked(wanted);
    // An old turn may be before those that were fetched.
    openTurn(wanted).catch(() => {});
  }, [wanted]);
  useAnnouncements(turns);

  const askAgain = useCallback((text: string) => setGiven({ text, at: Date.now() }), []);
  const draw = useCallback(
    (turn: Turn) => {
      const cutOff = isOver(turn) ? "" : isAway ? "server" : row?.cut_off && row.turn === turn.id ? "turn" : "";
      const isSelected = turn.id === (picked || last?.id);
      return <TurnView key={turn.id} turn={turn} isSelected={isSelected} isWanted={turn.id === wanted} cutOff={cutOff} onSelect={setPicked} onAskAgain={askAgain} />;
    },
    [isAway, row?.cut_off, row?.turn, picked, last?.id, wanted, askAgain],
  );
  const onSent = () => {
    setPicked("");
    setSentAt(Date.now());
    for (const upload of uploads.uploads) if (upload.state === "ready") uploads.forget(upload.id);
    if (isNew) go(`#/s/${encodeURIComponent(session)}`);
  };
  const openRail = () => {
    setRailOpen(true);
    focusSoon(".rail-head button");
  };
  const closeRail = () => {
    setRailOpen(false);
    focusSoon(".chat-show");
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    uploads.take([...event.dataTransfer.files]);
  };
  const shown = turns.find((turn) => turn.id === picked) ?? last;
  const questions = turns.flatMap((turn) => (isOver(turn) ? [] : turn.questions.filter((each) => !each.decision)));
  return (
    <div className={railOpen && shown ? "chat chat-with-rail" : "chat"} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <main className="chat-main" aria-label={WORDS.conversation}>
        <header className="chat-bar">
          <button type="button" className="button-icon chat-tap" aria-label={UI.screens} onClick={onMenu}><Icon name="menu" /></button>
          <h1 className="cut" dir="auto">{row?.title || WORDS.untitled}</h1>
          <span className="quiet num chat-id">{session}</span>
          <span className="chat-sum num">
            {turns.length > 0 && `${spent(turns) ? `${money(spent(turns))} · ` : ""}${WORDS.turns(row?.turns ?? turns.length)}`}
          </span>
          {row && <SessionMenu row={row} />}
          {!railOpen && shown && (
            <button type="button" className="button-icon chat-show" aria-label={WORDS.showRail} onClick={openRail}><Icon name="foldRight" /></button>
          )}
        </header>
        {isGone || (trouble && turns.length === 0) ? (
          <p className="chat-gone">{isGone ? WORDS.gone : trouble}</p>
        ) : turns.length === 0 && items.length === 0 && isNew ? (
          <Welcome onPick={askAgain} />
        ) : (
          <Log session={session} turns={turns} isComplete={isComplete} draw={draw} sentAt={sentAt} wanted={wanted}>
            <Pending items={items} isBusy={running !== undefined} />
          </Log>
        )}
        <div className="chat-dock">
          {questions.length > 0 && <QuestionBar number={questions.length} turn={questions[0]?.approval ?? ""} />}
          {shown && !isOver(shown) && (
            <button type="button" className="chat-ticker" onClick={openRail}>
              <Mark agent={workLine(shown).who.split(",")[0] ?? ""} />
              <span className="cut"><b>{workLine(shown).who}</b> {workLine(shown).what}</span>
              <Icon name="up" />
            </button>
          )}
          <Queue session={session} items={items} running={running} />
          {uploads.uploads.map((upload) => (
            <p className={upload.state === "failed" ? "composer-note tag-bad" : "composer-note"} key={upload.id}>
              <Icon name={upload.state === "failed" ? "cross" : upload.state === "ready" ? "tick" : "file"} />
              <span>{upload.text}</span>
              <button type="button" className="button-icon" aria-label={WORDS.remove} onClick={() => uploads.forget(upload.id)}><Icon name="cross" /></button>
            </p>
          ))}
          <Composer
            session={session}
            running={running}
            lastSaid={last?.said ?? ""}
            given={given}
            onFiles={uploads.take}
            onSent={onSent}
          />
        </div>
      </main>
      {railOpen && shown && isOverlay && <Scrim onClose={closeRail} isClear={!isNarrow} />}
      {railOpen && shown && <Rail turn={shown} onClose={closeRail} />}
    </div>
  );
}

/** Says that a question waits, where its card is out of view. */
function QuestionBar({ number, turn }: { number: number; turn: string }) {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    const card = document.querySelector(".question");
    if (!card) return undefined;
    const observer = new IntersectionObserver(([entry]) => setVisible(entry?.isIntersecting ?? true));
    observer.observe(card);
    return () => observer.disconnect();
  }, [turn]);
  if (isVisible) return null;
  return (
    <button type="button" className="chat-questions tag-warn" onClick={() => document.querySelector(".question")?.scrollIntoView({ block: "center" })}>
      <Icon name="waits" />{WORDS.questions(number)}
    </button>
  );
}

/** A screen reader hears who works, then the answer once; a question at once. */
function useAnnouncements(turns: readonly Turn[]): void {
  const told = useRef({ turn: "", phase: "", at: 0, questions: new Set<string>(), first: true });
  useEffect(() => {
    const last = turns.at(-1);
    const memory = told.current;
    if (!last) return;
    if (memory.first && isOver(last)) {
      // What was there when the page came is no news.
      Object.assign(memory, { first: false, turn: last.id, phase: last.phase });
      return;
    }
    memory.first = false;
    for (const question of last.questions) {
      if (question.decision || memory.questions.has(question.approval)) continue;
      memory.questions.add(question.approval);
      alertPerson(TURN_WORDS.question.arrived(question.agent, question.call.name));
    }
    if (memory.turn === last.id && memory.phase === last.phase && last.phase !== "running") return;
    if (last.phase === "running") {
      const who = workLine(last).who;
      if (who && Date.now() - memory.at > TELL_EVERY) {
        memory.at = Date.now();
        announce(WORDS.works(who));
      }
    } else if (last.answer) {
      announce(`${WORDS.answered(last.answer.author)}: ${last.answer.text}`);
    } else if (last.phase === "failed") {
      announce(last.failure?.text ?? "");
    } else if (last.phase === "cancelled") {
      announce(WORDS.stoppedByYou);
    }
    memory.turn = last.id;
    memory.phase = last.phase;
  }, [turns]);
}

/** A name for a session that begins with its first message, in the form of the terminal's. */
function newSessionName(): string {
  const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const random = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0"));
  return `${day}-${random.join("")}`;
}
