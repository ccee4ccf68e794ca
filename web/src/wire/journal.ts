/** The journal of a session, in parts. The stream is a hint; this is the truth. */
import type { Event } from "../state/event";
import { get, part, withQuery } from "./api";

export interface Older {
  events: Event[];
  /** No older turns exist. */
  first: boolean;
}

/** The last turns of a session, or those before a turn. */
export function turnsBefore(session: string, before?: number, turns = 20): Promise<Older> {
  return get(withQuery(`/api/sessions/${part(session)}/journal`, { before, turns }));
}

/** Everything after a place, in as many requests as it takes. */
export async function eventsAfter(session: string, after: string): Promise<Event[]> {
  const events: Event[] = [];
  let place = after;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each request begins where the last one ended
    const found = await get<{ events: Event[]; more: boolean }>(
      withQuery(`/api/sessions/${part(session)}/journal`, { after: place, limit: 500 }),
    );
    events.push(...found.events);
    place = found.events.at(-1)?.place ?? place;
    if (!found.more || !found.events.length) return events;
  }
}

/** One event with all of its texts. */
export function wholeEvent(turn: string, seq: number): Promise<Event> {
  return get(`/api/turns/${part(turn)}/events/${seq}`);
}
