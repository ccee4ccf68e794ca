import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Tag } from "../../src/ui/tag";
import { OUTCOMES, stateWord, TOOL_OUTCOMES, TURN_STATES } from "../../src/ui/words";

test("outcomes have the words of the terminal", () => {
  expect(stateWord(OUTCOMES, "rejected").word).toBe("declined");
  expect(stateWord(OUTCOMES, "loop").word).toBe("went in circles");
  expect(stateWord(TOOL_OUTCOMES, "in_doubt").tone).toBe("bad");
});

test("an unknown state is shown by its name", () => {
  expect(stateWord(TURN_STATES, "half_done").word).toBe("half done");
  expect(stateWord(TURN_STATES, "constructor").word).toBe("constructor");
});

test("a state is an icon and a word", () => {
  const html = renderToStaticMarkup(<Tag state={TURN_STATES.running} detail="0:42" />);
  expect(html).toContain("<svg");
  expect(html).toContain("works 0:42");
});
