import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../src/state/event";
import { comparePlaces, reduce, type Sessions, turnsOf } from "../../src/state/reduce";
import { live, recorded } from "./fixtures";

const NONE: Sessions = new Map();
const events = live();
const whole = drawn(reduce(NONE, recorded()));

/** Everything that the page draws. */
function drawn(sessions: Sessions): unknown {
  return [...sessions.values()].map((session) => ({ id: session.id, last: session.last, turns: turnsOf(session) }));
}

function inParts(parts: readonly (readonly Event[])[]): unknown {
  return drawn(parts.reduce(reduce, NONE));
}

test("a journal read live, with pieces, gives the state of the journal read later", () => {
  expect(events.length).toBeGreaterThan(recorded().length);
  expect(inParts(events.map((event) => [event]))).toEqual(whole);
});

test("a journal split anywhere gives one state", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(events.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), events.length];
      expect(inParts(at.slice(1).map((end, index) => events.slice(at[index], end)))).toEqual(whole);
    }),
  );
});

test("events that come twice, late and in any order give one state", () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(events, { minLength: events.length, maxLength: events.length }),
      fc.subarray(events),
      fc.integer({ min: 1, max: 7 }),
      (shuffled, again, size) => {
        const all = [...shuffled, ...again];
        const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
        expect(inParts(parts)).toEqual(whole);
      },
    ),
  );
});

test("a piece that comes after its whole text changes nothing", () => {
  const pieces = events.filter((event) => event.kind === "text_streamed");
  expect(pieces.length).toBeGreaterThan(0);
  expect(inParts([recorded(), pieces])).toEqual(whole);
});

test("a delegation that waits for a decision goes on after it, in the same node", () => {
  const turns = [...reduce(NONE, recorded()).values()].flatMap(turnsOf);
  const decided = turns.find((turn) => turn.questions.length > 0);
  expect(decided?.phase).toBe("finished");
  expect(decided?.questions[0]?.decision).toBe("approve");
  expect(decided?.nodes.map((node) => [node.agent, node.outcome])).toEqual([
    ["orchestrator", undefined],
    ["chronicler", "ok"],
  ]);
  expect(decided?.nodes[1]?.waits.every(([, until]) => until !== undefined)).toBe(true);
});

test("the costs of the agents add up to the cost of the turn", () => {
  for (const turn of [...reduce(NONE, recorded()).values()].flatMap(turnsOf)) {
    const sum = turn.nodes.reduce((total, node) => total + node.usage.nano_dollars, 0);
    expect(sum).toBe(turn.usage.nano_dollars);
  }
});

test("a kind that this page does not know becomes a note", () => {
  const [first, ...rest] = recorded();
  const unknown = { ...(first as Event), kind: "turn_painted", seq: 900, place: "1.900" } as unknown as Event;
  const turn = [...reduce(NONE, [first as Event, ...rest, unknown]).values()].flatMap(turnsOf)[0];
  expect(turn?.nodes[0]?.steps.at(-1)).toMatchObject({ kind: "note", event: { kind: "turn_painted" } });
});

test("places are compared as numbers", () => {
  expect(comparePlaces("2.10", "2.9")).toBeGreaterThan(0);
  expect(comparePlaces("10.1", "9.50")).toBeGreaterThan(0);
});
