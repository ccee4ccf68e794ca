/**
 * Messages on their way: shown at once, kept over a reload, sent with a key so that a repeated one is one turn. Messages
 * written during a turn wait here, where they can still be changed; they go one after the other when a turn finishes.
 */
import { useSyncExternalStore } from "react";
import { currentState } from "../../state/store";
import { turnsOf } from "../../state/reduce";
import { troubleOf } from "../../ui/load";
import { ApiError, part, post } from "../../wire/api";

export interface Outgoing {
  key: string;
  text: string;
  mine: boolean;
  /**
   * `waiting` for the turn before it, `held` after that one did not finish, `away`: the server was not reached, `failed`: it
   * did not take the message.
   */
  state: "waiting" | "held" | "sending" | "sent" | "away" | "failed";
  /** It was written while a turn was under way. */
  behind: boolean;
  turn: string;
  trouble: string;
}

const PREFIX = "sestet.outbox.";
/** Milliseconds until a message that did not reach the server is sent again. */
const AGAIN = 3000;
/** Nothing is done with a message in one of these states until it changes. */
const STILL: ReadonlySet<Outgoing["state"]> = new Set(["sending", "sent", "away", "failed"]);
const NONE: readonly Outgoing[] = [];
const boxes = new Map<string, readonly Outgoing[]>();
const listeners = new Set<() => void>();

export function useOutbox(session: string): readonly Outgoing[] {
  return useSyncExternalStore(subscribe, () => outbox(session));
}

export function outbox(session: string): readonly Outgoing[] {
  const known = boxes.get(session);
  if (known) return known;
  const stored = restore(session);
  boxes.set(session, stored);
  return stored;
}

/** Send a message, or let it wait if a turn is under way. */
export function enqueue(session: string, text: string, mine: boolean): void {
  const item: Outgoing = { key: crypto.randomUUID?.() ?? fallbackKey(), text, mine, state: "waiting", behind: false, turn: "", trouble: "" };
  write(session, [...outbox(session), item]);
  pump(session);
}

export function change(session: string, key: string, values: Partial<Outgoing>): void {
  write(session, outbox(session).map((item) => (item.key === key ? { ...item, ...values } : item)));
}

export function drop(session: string, key: string): void {
  write(session, outbox(session).filter((item) => item.key !== key));
}

/** Send a message that was held or not taken: it no longer stands behind the turn before it. */
export function sendNow(session: string, key: string): void {
  change(session, key, { state: "waiting", behind: false, trouble: "" });
  pump(session);
}

/** Send what did not reach the server: its key makes a repeated message one turn. */
export function sendAgain(session: string): void {
  const items = outbox(session);
  if (!items.some((item) => item.state === "away")) return;
  write(session, items.map((item) => (item.state === "away" ? { ...item, state: "waiting" as const } : item)));
  pump(session);
}

/** Give a waiting message to the turn that runs. If that has just ended, the message waits on and goes by itself. */
export async function addToTurn(session: string, item: Outgoing, turn: string): Promise<void> {
  try {
    await post(`/api/turns/${part(turn)}/steer`, { text: item.text, key: item.key, mine: item.mine });
    drop(session, item.key);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) change(session, item.key, { trouble: String(error) });
    pump(session);
  }
}

/** Bring the outbox in step with the session: forget what has begun, send what may go, hold what may not. */
export function pump(session: string): void {
  // Before the turns of the session are here, nobody knows whether one is under way.
  if (!currentState().opened.has(session)) return;
  const known = currentState().sessions.get(session);
  const turns = turnsOf(known);
  const begun = outbox(session).filter((item) => item.turn && known?.recorded.has(item.turn));
  if (begun.length) write(session, outbox(session).filter((item) => !begun.includes(item)));
  const items = outbox(session);
  const [next, last] = [items[0], turns.at(-1)];
  if (!next || STILL.has(next.state)) return;
  if (last && (last.phase === "running" || last.phase === "paused")) {
    const isNew = (item: Outgoing) => item.state === "waiting" && !item.behind;
    if (items.some(isNew)) write(session, items.map((item) => (isNew(item) ? { ...item, behind: true } : item)));
    return;
  }
  if (next.state === "held") return;
  if (next.behind && last && last.phase !== "finished") {
    write(session, items.map((item) => ({ ...item, state: "held" as const })));
    return;
  }
  void sendItem(session, next);
}

async function sendItem(session: string, item: Outgoing): Promise<void> {
  change(session, item.key, { state: "sending", trouble: "" });
  try {
    const accepted = await post<{ turn: string }>(`/api/sessions/${part(session)}/messages`, {
      text: item.text,
      key: item.key,
      mine: item.mine,
    });
    change(session, item.key, { state: "sent", turn: accepted.turn });
    pump(session);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 0 || error.status === 401)) {
      change(session, item.key, { state: "away" });
      // After a 401 the person signs in, and the page begins anew.
      if (error.status === 0) setTimeout(() => sendAgain(session), AGAIN);
      return;
    }
    change(session, item.key, { state: "failed", trouble: troubleOf(error) });
  }
}

function write(session: string, items: readonly Outgoing[]): void {
  boxes.set(session, items);
  try {
    if (items.length) localStorage.setItem(PREFIX + session, JSON.stringify(items));
    else localStorage.removeItem(PREFIX + session);
  } catch {
    // Storage is full or off: the messages last as long as this page.
  }
  for (const listener of listeners) listener();
}

function restore(session: string): readonly Outgoing[] {
  try {
    const stored = JSON.parse(localStorage.getItem(PREFIX + session) ?? "[]") as Outgoing[];
    // Whether a message that was on its way arrived is unknown; its key makes sending it again harmless.
    return stored.map((item) => (item.state === "sending" || item.state === "away" ? { ...item, state: "waiting" } : item));
  } catch {
    return NONE;
  }
}

function fallbackKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(16)).join("");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
