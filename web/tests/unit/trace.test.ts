import { expect, test } from "vitest";
import { traceRows } from "../../src/features/trace/rows";
import { reduce, turnsOf } from "../../src/state/reduce";
import { recorded } from "./fixtures";

const turns = [...reduce(new Map(), recorded()).values()].flatMap((session) => turnsOf(session));

test("the orchestrator is first, and its calls and agents follow in the order of time", () => {
  const most = turns.toSorted((a, b) => b.nodes.length - a.nodes.length)[0]!;
  const rows = traceRows(most, most.lastAt);
  expect(most.nodes.length).toBeGreaterThan(1);
  expect(rows[0]).toMatchObject({ id: "root", level: 0 });
  const starts = rows.filter((row) => row.level === 1).map((row) => row.start);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  const kinds = rows.filter((row) => row.level === 1).map((row) => row.kind);
  expect(kinds.indexOf("agent")).toBeLessThan(kinds.lastIndexOf("model"));
});

test("the calls of an agent stand below it", () => {
  for (const turn of turns) {
    const rows = traceRows(turn, turn.lastAt);
    rows.forEach((row, at) => {
      const above = rows.slice(0, at).findLast((other) => other.level < row.level);
      if (row.level > 1) expect(above?.node).toBe(row.node);
    });
  }
});
