/** Events of real turns, with the pieces of their texts put back where the journal had deleted them. */
import { readFileSync } from "node:fs";
import type { Event } from "../../src/state/event";

export function recorded(): Event[] {
  const lines = readFileSync(new URL("../fixtures/demo.jsonl", import.meta.url), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Event);
}

/** As a reader saw them live: a number that is missing before a whole text was a piece of it. */
export function live(): Event[] {
  const events = recorded();
  return events.flatMap((event, index) => {
    const before = events[index - 1];
    const missing = before && before.turn === event.turn ? event.seq - before.seq - 1 : 0;
    if (event.kind !== "model_called" || missing < 1) return [event];
    const pieces = Array.from({ length: missing }, (_, piece) => {
      const seq = event.seq - missing + piece;
      const place = `${event.place.split(".")[0]}.${seq}`;
      return { ...event, kind: "text_streamed", seq, place, text: event.text.slice(0, 5) } as unknown as Event;
    });
    return [...pieces, event];
  });
}
