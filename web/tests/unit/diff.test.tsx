import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type Changes, Diff } from "../../src/ui/diff";

const CHANGES: Changes = { lines: [["@", "notes.txt"], [" ", "same"], ["-", "old"], ["+", "new\u202E"]], left_out: 3 };

test("added and removed lines have a sign, a word and a colour", () => {
  const html = renderToStaticMarkup(<Diff changes={CHANGES} />);
  expect(html).toContain('<div class="diff-line diff-added"><span class="diff-sign" aria-hidden="true">+</span><span class="sr">added: </span>');
  expect(html).toContain("removed: ");
  expect(html).toContain('<div class="diff-line diff-heading">');
});

test("invisible characters of a change are written out", () => {
  expect(renderToStaticMarkup(<Diff changes={CHANGES} />)).toContain("&lt;U+202E&gt;");
});

test("lines that are not shown are counted", () => {
  expect(renderToStaticMarkup(<Diff changes={CHANGES} />)).toContain("… 3 more lines");
  expect(renderToStaticMarkup(<Diff changes={CHANGES} most={2} />)).toContain("… 5 more lines");
  expect(renderToStaticMarkup(<Diff changes={{ lines: [], left_out: 0 }} />)).not.toContain("more line");
});
