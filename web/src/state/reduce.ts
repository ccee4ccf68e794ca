/**
 * The sessions as their events make them. Events may come twice, in pieces, late or in another order: each turn keeps
 * its events sorted, and one that comes late makes the turn be drawn again from its first event. So a journal gives one
 * state, however it arrived.
 */
import type { Event } from "./event";
import { step } from "./step";
import { emptyTurn, type Turn, turnNumber } from "./turn";

interface Recorded {
  events: readonly Event[];
  turn: Turn;
}

export interface Session {
  id: string;
  /** By id, in any order; `turnsOf` sorts them. */
  recorded: ReadonlyMap<string, Recorded>;
  /** The place of the latest event that is known. */
  last: string;
}

export type Sessions = ReadonlyMap<string, Session>;

export function reduce(sessions: Sessions, events: readonly Event[]): Sessions {
  const changed = new Map(sessions);
  for (const [id, group] of grouped(events, (event) => event.session)) {
    changed.set(id, addToSession(changed.get(id) ?? { id, recorded: new Map(), last: "0.0" }, group));
  }
  return changed;
}

export function turnsOf(session: Session | undefined): readonly Turn[] {
  if (!session) return [];
  return [...session.recorded.values()].map((each) => each.turn).toSorted((a, b) => a.number - b.number);
}

export function comparePlaces(one: string, other: string): number {
  const [a, b] = [one.split("."), other.split(".")];
  return Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]);
}

function addToSession(session: Session, events: readonly Event[]): Session {
  const recorded = new Map(session.recorded);
  let last = session.last;
  for (const [id, group] of grouped(events, (event) => event.turn)) {
    recorded.set(id, addToTurn(recorded.get(id), group));
  }
  for (const event of events) if (comparePlaces(event.place, last) > 0) last = event.place;
  return { ...session, recorded, last };
}

function addToTurn(known: Recorded | undefined, events: readonly Event[]): Recorded {
  const before = known?.events ?? [];
  const seen = new Set(before.map((event) => event.seq));
  const fresh = events.filter((event) => !seen.has(event.seq) && seen.add(event.seq)).toSorted(bySeq);
  if (known && !fresh.length) return known;
  const lastSeq = before.at(-1)?.seq ?? 0;
  const inOrder = known !== undefined && fresh[0] !== undefined && fresh[0].seq > lastSeq;
  const all = withoutWholePieces(inOrder ? [...before, ...fresh] : [...before, ...fresh].toSorted(bySeq), fresh);
  const first = all[0] as Event;
  const turn = inOrder ? fresh.reduce(step, known.turn) : all.reduce(step, emptyTurn(first));
  return { events: all, turn };
}

/** Leave out the pieces of texts that are whole, as the journal does. */
function withoutWholePieces(events: readonly Event[], fresh: readonly Event[]): readonly Event[] {
  if (!fresh.some((event) => isWhole(event) || isPiece(event))) return events;
  const whole = new Map<string, number>();
  for (const event of events) if (isWhole(event)) whole.set(textOf(event), event.seq);
  return events.filter((event) => !isPiece(event) || event.seq > (whole.get(textOf(event)) ?? 0));
}

function isPiece(event: Event): boolean {
  return event.kind === "text_streamed" || event.kind === "output_streamed";
}

function isWhole(event: Event): boolean {
  return event.kind === "model_called" || event.kind === "tool_finished";
}

/** What a piece is a piece of. */
function textOf(event: Event): string {
  if (event.kind === "output_streamed") return `${event.delegation}/${event.call_id}`;
  return event.kind === "tool_finished" ? `${event.delegation}/${event.call.id}` : event.delegation;
}

function bySeq(one: Event, other: Event): number {
  return one.seq - other.seq;
}

function grouped(events: readonly Event[], key: (event: Event) => string): Map<string, Event[]> {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const group = groups.get(key(event));
    if (group) group.push(event);
    else groups.set(key(event), [event]);
  }
  return groups;
}

/** The numbers of the turns that a session has here, for asking for older ones. */
export function firstTurnNumber(session: Session | undefined): number | undefined {
  const numbers = [...(session?.recorded.values() ?? [])].map((each) => turnNumber(each.events[0]?.place ?? "0.0"));
  return numbers.length ? Math.min(...numbers) : undefined;
}
