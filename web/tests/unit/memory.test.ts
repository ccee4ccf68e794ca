import { expect, test } from "vitest";
import { factsOf, isReplaced, linksOf, type Memory, placeOf, voice } from "../../src/features/memory/kinds";
import { readProgress } from "../../src/wire/uploads";

const NOW = Date.UTC(2026, 10, 18, 12) / 1000;

function memory(facts: Partial<Memory> = {}): Memory {
  return {
    id: "m12", sort: "fact", text: "Ines is my architect", at: Date.UTC(2026, 10, 12, 12) / 1000, session: "s", turn: "t", turn_number: 3, by: "chronicler",
    untrusted: false, private: false, sources: [], level: 0, rests_on: [], used_by: [], ...facts,
  };
}

test("an address opens a kind, a memory of its kind, or an entry by its title", () => {
  expect(placeOf([])).toEqual({ tab: "facts", open: "" });
  expect(placeOf(["lessons"])).toEqual({ tab: "lessons", open: "" });
  expect(placeOf(["m12"])).toEqual({ tab: "facts", open: "m12" });
  expect(placeOf(["r2"])).toEqual({ tab: "reflections", open: "r2" });
  expect(placeOf(["o7"])).toEqual({ tab: "observations", open: "o7" });
  expect(placeOf(["entries", "m12"])).toEqual({ tab: "entries", open: "m12" });
  expect(placeOf(["nowhere"])).toEqual({ tab: "facts", open: "" });
});

test("a row says whose words it has, when, and whether they are private", () => {
  expect(factsOf(memory({ private: true }), NOW)).toEqual(["your words", "12 Nov", "private"]);
  expect(factsOf(memory({ sort: "reflection", by: "model", level: 2 }), NOW)).toEqual(["by model", "12 Nov", "level 2"]);
});

test("text from elsewhere is never called the person's own, whoever wrote it down", () => {
  for (const by of ["you", "chronicler", "", "import"]) {
    expect(voice(by, { untrusted: true, private: false, sources: [] })).toBe("from elsewhere");
  }
});

test("a row says what it replaced, what replaced it, and what it sums up", () => {
  expect(linksOf(memory({ rests_on: ["m4"] }))).toEqual(["replaced m4"]);
  expect(linksOf(memory({ used_by: ["m13"] }))).toEqual(["replaced by m13"]);
  expect(linksOf(memory({ sort: "reflection", rests_on: ["o1", "o2"], used_by: ["r3"] }))).toEqual(["sums up 2", "summed up in r3"]);
  expect(isReplaced(memory({ used_by: ["m13"] }))).toBe(true);
  expect(isReplaced(memory({ sort: "observation", used_by: ["r1"] }))).toBe(false);
});

test("an upload tells its share, and throws the reason of the server", () => {
  expect(readProgress('event: progress\ndata: {"stage": "embed", "done": 3, "total": 4}')).toBe(0.75);
  expect(readProgress('event: done\ndata: {"path": "/tea.md"}')).toBeUndefined();
  expect(readProgress(": nothing")).toBeUndefined();
  expect(() => readProgress('event: error\ndata: {"error": {"message": "it cannot be used"}}')).toThrow("it cannot be used");
});
