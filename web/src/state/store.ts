/** What the page knows, shared by all of its parts: events, the list of sessions, the open questions. */
import { useSyncExternalStore } from "react";
import { ApiError, get, part, REACHED, REFUSED } from "../wire/api";
import { eventsAfter, turnsBefore } from "../wire/journal";
import { followStream, type Status, type StreamMessage } from "../wire/stream";
import type { Changes, Event } from "./event";
import { firstTurnNumber, reduce, type Sessions } from "./reduce";

export interface SessionRow {
  id: string;
  title: string;
  created_at: number;
  updated_at: number;
  turns: number;
  state: "" | "queued" | "running" | "paused" | "finished" | "failed" | "cancelled";
  turn: string;
  since: number;
  cut_off: boolean;
}

/** A call that waits for a decision, as `GET /api/approvals` has it. */
export interface WaitingCall {
  id: string;
  session_id: string;
  turn_id: string;
  agent: string;
  tool: string;
  arguments: Record<string, unknown>;
  pattern: Record<string, unknown>;
  reason: string;
  sources: string[];
  asked_at: number;
  expires_at: number;
  changes: Changes | null;
}

export interface State {
  sessions: Sessions;
  rows: readonly SessionRow[] | undefined;
  waiting: readonly WaitingCall[];
  status: Status;
  /** Sessions whose first turn is here, so that there is nothing older to fetch. */
  complete: ReadonlySet<string>;
  /** Sessions whose last turns are here, or that do not exist yet. */
  opened: ReadonlySet<string>;
  loading: ReadonlySet<string>;
  deleted: ReadonlySet<string>;
  version: string;
}

const listeners = new Set<() => void>();
let state: State = {
  sessions: new Map(),
  rows: undefined,
  waiting: [],
  status: "connecting",
  complete: new Set(),
  opened: new Set(),
  loading: new Set(),
  deleted: new Set(),
  version: "",
};
/** By session: the place after which events may have been missed, until they were fetched. */
const gaps = new Map<string, string>();
let pending: Event[] = [];
let frame = 0;

export function useStore<T>(select: (state: State) => T): T {
  return useSyncExternalStore(subscribe, () => select(state));
}

export function currentState(): State {
  return state;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(change: Partial<State>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** Draw events with the next frame, so that a fast stream draws once a frame. Hidden pages have no frames. */
export function receive(events: readonly Event[]): void {
  pending.push(...events);
  if (frame) return;
  frame = document.visibilityState === "visible" ? requestAnimationFrame(flush) : 1;
  if (document.visibilityState !== "visible") setTimeout(flush, 100);
}

function flush(): void {
  frame = 0;
  const events = pending;
  pending = [];
  if (events.length) set({ sessions: reduce(state.sessions, events) });
}

/** Follow the server until the page is closed. */
export function start(): () => void {
  void refresh();
  const refuse = () => onStatus("refused");
  const leave = followStream({ onMessage: hear, onStatus });
  addEventListener(REFUSED, refuse);
  return () => {
    removeEventListener(REFUSED, refuse);
    leave();
  };
}

function onStatus(status: Status): void {
  const wasOpen = state.status === "open";
  set({ status });
  if (status !== "open") {
    flush();
    for (const session of state.sessions.values()) if (!gaps.has(session.id)) gaps.set(session.id, session.last);
  } else if (!wasOpen) {
    dispatchEvent(new Event(REACHED));
    void refresh();
    for (const session of state.sessions.keys()) void catchUp(session);
  }
}

const NEWS = new Set(["turn_started", "turn_finished", "turn_failed", "turn_cancelled", "turn_paused", "turn_resumed"]);

function hear(message: StreamMessage): void {
  switch (message.kind) {
    case "hello":
      set({ version: message.version });
      return;
    case "session_changed":
      void refresh();
      if (state.sessions.has(message.session)) void catchUp(message.session);
      return;
    case "session_deleted": {
      const sessions = new Map(state.sessions);
      sessions.delete(message.session);
      set({ sessions, deleted: new Set([...state.deleted, message.session]) });
      void refresh();
      return;
    }
    default:
      // Sessions that nobody has opened are known by their row alone.
      if (state.sessions.has(message.session)) receive([message]);
      if (NEWS.has(message.kind) || message.kind.startsWith("approval_")) void refresh();
  }
}

let refreshing: Promise<void> | undefined;
let askedAgain = false;

/** Fetch the list of sessions and the open questions. Calls that come meanwhile are joined into one more. */
export function refresh(): Promise<void> {
  if (refreshing) {
    askedAgain = true;
    return refreshing;
  }
  refreshing = fetchLists().finally(() => {
    refreshing = undefined;
    if (askedAgain) {
      askedAgain = false;
      void refresh();
    }
  });
  return refreshing;
}

async function fetchLists(): Promise<void> {
  try {
    const [sessions, waiting] = await Promise.all([
      get<{ sessions: SessionRow[] }>("/api/sessions?limit=200"),
      get<{ approvals: WaitingCall[] }>("/api/approvals"),
    ]);
    set({ rows: sessions.sessions, waiting: waiting.approvals });
    for (const row of sessions.sessions) if (state.sessions.get(row.id)?.recorded.size === 0) void catchUp(row.id);
  } catch {
    // The status of the stream tells that the server is away; the next connection fetches again.
  }
}

/** Follow a session that begins with its first message: there is nothing to fetch yet. */
export function beginSession(session: string): void {
  if (state.sessions.has(session)) return;
  set({
    sessions: new Map([...state.sessions, [session, { id: session, recorded: new Map(), last: "0.0" }]]),
    complete: new Set([...state.complete, session]),
    opened: new Set([...state.opened, session]),
  });
}

/** Fetch the last turns of a session, once; afterwards the stream and `catchUp` keep it up to date. */
export async function openSession(session: string): Promise<void> {
  if (state.sessions.has(session)) return catchUp(session);
  set({ sessions: new Map([...state.sessions, [session, { id: session, recorded: new Map(), last: "0.0" }]]) });
  const found = await turnsBefore(session).catch((error: unknown) => {
    // A session that does not exist yet begins with its first message.
    if (error instanceof ApiError && error.status === 404) set({ opened: new Set([...state.opened, session]) });
    throw error;
  });
  set({
    sessions: reduce(state.sessions, found.events),
    opened: new Set([...state.opened, session]),
    ...(found.first ? { complete: new Set([...state.complete, session]) } : {}),
  });
}

/** Fetch the turns before the first one that is here. A second call meanwhile waits for the same answer. */
export function openOlder(session: string): Promise<void> {
  const running = older.get(session) ?? fetchOlder(session).finally(() => older.delete(session));
  older.set(session, running);
  return running;
}

const older = new Map<string, Promise<void>>();

async function fetchOlder(session: string): Promise<void> {
  if (state.complete.has(session)) return;
  set({ loading: new Set([...state.loading, session]) });
  try {
    const found = await turnsBefore(session, firstTurnNumber(state.sessions.get(session)));
    set({
      sessions: reduce(state.sessions, found.events),
      ...(found.first ? { complete: new Set([...state.complete, session]) } : {}),
    });
  } finally {
    set({ loading: new Set([...state.loading].filter((each) => each !== session)) });
  }
}

/** Fetch what was missed. */
export async function catchUp(session: string): Promise<void> {
  const known = state.sessions.get(session);
  // A session that begins with its first message is not on the server yet.
  const isUnborn = known?.recorded.size === 0 && !state.rows?.some((row) => row.id === session);
  if (!known || isUnborn) return;
  try {
    receive(await eventsAfter(session, gaps.get(session) ?? known.last));
    gaps.delete(session);
    if (!state.opened.has(session)) {
      flush();
      set({ opened: new Set([...state.opened, session]) });
    }
  } catch {
    // The next connection tries again.
  }
}

/** Load one turn that is not here yet, for its trace. */
export async function openTurn(turn: string): Promise<void> {
  const facts = await get<{ session: string }>(`/api/turns/${part(turn)}`);
  await openSession(facts.session);
  while (!state.sessions.get(facts.session)?.recorded.has(turn) && !state.complete.has(facts.session)) {
    // oxlint-disable-next-line no-await-in-loop -- pages are fetched backwards, one after the other
    await openOlder(facts.session);
  }
}
