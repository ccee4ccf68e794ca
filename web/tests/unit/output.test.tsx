import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { cutLine, Output } from "../../src/ui/output";

const lines = (number: number) => Array.from({ length: number }, (_, at) => `line ${at}`).join("\n");
const times = (html: string, text: string) => html.split(text).length - 1;

test("a short output is shown whole, without a button to open it", () => {
  const html = renderToStaticMarkup(<Output text={`${lines(12)}\n`} />);
  expect(times(html, "output-line\"")).toBe(12);
  expect(html).not.toContain("Show all");
  expect(html).toContain('aria-label="Copy"');
});

test("of ten thousand lines twelve are drawn, and all are counted", () => {
  const html = renderToStaticMarkup(<Output text={lines(10_000)} />);
  expect(times(html, "output-line\"")).toBe(12);
  expect(html).toContain("Show all 10,000 lines");
});

test("a clipped text says how long the whole is", () => {
  const html = renderToStaticMarkup(<Output text="short" clipped={{ characters: 123_456, load: async () => "" }} />);
  expect(html).toContain("Show all 123,456 characters");
});

test("a long line is cut and says how much is missing, in any number of colours", () => {
  expect(cutLine([{ text: "x".repeat(2_500), style: "" }]).map((run) => run.text.length)).toEqual([2_000, " … 500 more characters".length]);
  const cut = cutLine([{ text: "a".repeat(1_500), style: "ansi-red" }, { text: "b".repeat(1_500), style: "" }, { text: "c", style: "" }]);
  expect(cut.slice(0, -1).map((run) => run.text.length)).toEqual([1_500, 500]);
  expect(cut.at(-1)?.text).toBe(" … 1,001 more characters");
});

test("an empty output is nothing", () => {
  expect(renderToStaticMarkup(<Output text="" />)).toBe("");
});

test("sentences are wrapped and not cut, unless there are too many of them", () => {
  const html = renderToStaticMarkup(<Output text={"word ".repeat(2_000)} isProse />);
  expect(html).toContain("output-wrapped");
  expect(html).not.toContain("more characters");
  expect(renderToStaticMarkup(<Output text={lines(600)} isProse />)).not.toContain("output-wrapped");
});
