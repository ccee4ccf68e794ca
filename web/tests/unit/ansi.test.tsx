import * as fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Ansi } from "../../src/ui/ansi";
import { readAnsi } from "../../src/ui/terminal";

const plain = (text: string) =>
  readAnsi(text)
    .map((line) => line.map((run) => run.text).join(""))
    .join("\n");

test("colours become classes and end where they end", () => {
  const html = renderToStaticMarkup(<Ansi text={"\u001b[1;31mbad\u001b[0m fine \u001b[38;5;82mgreen\u001b[39m"} />);
  expect(html).toContain('<span class="ansi-red ansi-bold">bad</span> fine <span class="ansi-green">green</span>');
});

test("a colour goes on over the end of a line", () => {
  expect(readAnsi("\u001b[32ma\nb")).toEqual([[{ text: "a", style: "ansi-green" }], [{ text: "b", style: "ansi-green" }]]);
});

test("cursor, title and link sequences vanish, with their parameters", () => {
  expect(plain("a\u001b[2J\u001b[10;5Hb")).toBe("ab");
  expect(plain("\u001b]0;my title\u0007x")).toBe("x");
  expect(plain("\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\")).toBe("click");
  expect(plain("\u009b31mred\u001bPq#0\u001b\\\u001b(B\u001bM.")).toBe("red.");
});

test("an unclosed sequence does not swallow the lines that follow", () => {
  expect(plain("\u001b]0;title\nnext")).toBe("\nnext");
  expect(plain("\u001b[31")).toBe("");
});

test("direction marks and hidden tags are dropped, line ends are one kind", () => {
  expect(plain("a\u202Eb\u200Ec\uFEFF\u{E0041}d\r\ne\rf")).toBe("abcd\ne\nf");
});

test("HTML is text", () => {
  expect(renderToStaticMarkup(<Ansi text="<img src=x>" />)).toContain("&lt;img src=x&gt;");
});

test("no text leaves a control character behind", () => {
  const pieces = fc.constantFrom("\u001b", "[", "]", ";", "3", "1", "m", "\u0007", "\\", "\u009b", "\u009d", "a", "\n", "P", " ");
  fc.assert(
    fc.property(fc.string({ unit: pieces, maxLength: 60 }), (text) => {
      // oxlint-disable-next-line no-control-regex -- control characters are what the test looks for
      expect(plain(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});
