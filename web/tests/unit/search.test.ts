import { expect, test } from "vitest";
import { around } from "../../src/features/search/excerpt";

test("a row has no signs of Markdown, and keeps the words inside them", () => {
  const text = "## Steps\n\n| a | b |\n|---|---|\n| **one** | `two` |\n\n```python\nprint(3)\n```";
  expect(around(text, "")).toBe("Steps a b one two print(3)");
});

test("a long text is shown from shortly before the word that was searched, at the beginning of a word", () => {
  const text = `${"before ".repeat(30)}the noise report is open`;
  expect(around(text, "noise")).toMatch(/^… before .*the noise report is open$/);
  expect(around(text, "noise").length).toBeLessThan(90);
  expect(around("the noise report", "noise")).toBe("the noise report");
});
