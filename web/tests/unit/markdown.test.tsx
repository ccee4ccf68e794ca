import * as fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "../../src/ui/markdown";
import { NOTHING, readBlock, splitBlocks } from "../../src/ui/markdown-blocks";

const draw = (text: string, untrusted = false) => renderToStaticMarkup(<Markdown text={text} untrusted={untrusted} />);
const blocks = (text: string) => {
  const split = splitBlocks(text);
  return split.raws.filter((_, at) => !split.silent[at]);
};

const math = (text: string) => JSON.stringify(readBlock(text, {})).includes('"type":"math"');

test("paragraphs, lists, quotes and emphasis are drawn", () => {
  expect(draw("a **b** *c* ~~d~~ `e`")).toContain("a <strong>b</strong> <em>c</em> <del>d</del> <code class=\"md-code\">e</code>");
  expect(draw("3. x\n4. y")).toContain('<ol start="3"><li dir="auto">x</li><li dir="auto">y</li></ol>');
  expect(draw("> q")).toContain('<blockquote dir="auto"><p dir="auto">q</p></blockquote>');
  expect(draw("# Title")).toContain("<h3");
  expect(draw("- [x] done")).toContain('type="checkbox"');
});

test("HTML shows as text", () => {
  const html = draw('hello <b onclick="x">you</b>\n\n<script>alert(1)</script>\n\n<img src="https://evil.example/p.png">');
  expect(html).not.toMatch(/<(?:b|script|img)\b/);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

test("entities are one character, and cannot smuggle a direction mark or an element", () => {
  expect(draw("a &amp; b &lt;i&gt; &#8238;x &unknown;")).toContain("a &amp; b &lt;i&gt; x &amp;unknown;");
  expect(draw("a\u202Eb\u{E0041}")).toContain("ab<");
});

test.each(["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/relative", "ftp://files.example/x", "JaVaScRiPt:x", "&#106;avascript:alert(1)"])(
  "a link to %s stays text",
  (address) => {
    for (const untrusted of [true, false]) expect(draw(`[click](${address})`, untrusted)).not.toMatch(/<a\b|href/);
  },
);

test("a link opens elsewhere, tells nobody, and has its host beside it", () => {
  expect(draw("[the shop](https://shop.example/a?b=1)")).toContain(
    '<a class="md-link" href="https://shop.example/a?b=1" rel="noreferrer noopener" target="_blank">the shop</a><span class="md-host"> (shop.example)</span>',
  );
});

test("the host is left out only where the words are the address", () => {
  expect(draw("https://shop.example/a")).not.toContain("md-host");
  expect(draw("[https://bank.example](https://evil.example)")).toContain("(evil.example)");
  expect(draw("[bank.example@evil.example](https://bank.example@evil.example)")).toContain("(evil.example)");
  expect(draw("[me](mailto:ines@studio.example)")).toContain("(ines@studio.example)");
});

test("in an untrusted answer a link has no address that a click could follow", () => {
  const html = draw("[the shop](https://shop.example/a)", true);
  expect(html).not.toContain("href");
  expect(html).toContain('role="link" tabindex="0"');
});

test("a remote image is a placeholder", () => {
  const html = draw("![a cat](https://evil.example/cat.png?leak=1)", true);
  expect(html).not.toMatch(/<img|src=/);
  expect(html).toContain("Image, not loaded: a cat");
});

test("a table scrolls inside itself", () => {
  const html = draw("| a | b |\n|---|--:|\n| 1 | **2** |");
  expect(html).toContain('<div class="md-table-scroll" role="group" aria-label="Table" tabindex="0"><table>');
  expect(html).toContain('<td dir="auto" style="text-align:right"><strong>2</strong></td>');
  expect(draw("| | b |\n|---|---|\n| 1 | 2 |")).toContain('<thead><tr><td dir="auto"></td><th dir="auto" scope="col">b</th>');
});

test("an unfinished fence is code already", () => {
  const html = renderToStaticMarkup(<Markdown text={"so:\n\n```py\nx = **1**"} untrusted complete={false} />);
  expect(html).toContain("<code>x = **1**</code>");
  expect(html).toContain("py</span>");
});

test("math has three fences, and a single dollar is money", () => {
  expect(["$$x^2$$", "so \\(x\\) is", "\\[\nx\n\\]", "$$\nx\n$$"].every(math)).toBe(true);
  expect(["$5 and $6", "$x$", "$$", "\\(open", "`\\(x\\)`"].some(math)).toBe(false);
});

test("math below a line of text is a block of its own", () => {
  expect(blocks("so:\n$$\nx\n$$\nthen")).toEqual(["so:\n", "$$\nx\n$$\n", "then"]);
});

test("links by name find their address anywhere in the text", () => {
  expect(draw("[shop][1]\n\ntext\n\n[1]: https://shop.example/x")).toContain('href="https://shop.example/x"');
});

const PIECES = fc.constantFrom("a", " ", "\n", "\n\n", "- ", "> ", "```\n", "# ", "| a | b |\n|--|--|\n", "1. ", "    ", "---\n", "$$", "\\[", "<b>", "*", "[x](y)", "===\n");

test("a text that grows piece by piece is split as if it came at once", () => {
  fc.assert(
    fc.property(fc.array(PIECES, { maxLength: 40 }), (pieces) => {
      let [text, split] = ["", NOTHING];
      for (const piece of pieces) {
        text += piece;
        split = splitBlocks(text, split);
      }
      expect(split.raws).toEqual(splitBlocks(text).raws);
      expect(split.raws.join("")).toBe(text);
    }),
    { numRuns: 500 },
  );
});

test("finished blocks stay the same while the text grows", () => {
  const [one, two] = [splitBlocks("first\n\nsecond\n\nthird\n\nfou"), "first\n\nsecond\n\nthird\n\nfourth\n\nfifth"];
  const grown = splitBlocks(two, one);
  expect(grown.raws.slice(0, 4)).toEqual(one.raws.slice(0, 4));
});

test.each([
  ["quotes", "> ".repeat(20_000)],
  ["lists", "- ".repeat(20_000)],
  ["nested lists", Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n")],
  ["emphasis", "*a _b ".repeat(10_000)],
  ["stars", `${"*".repeat(10_000)}a`],
  ["cells", `${"|a".repeat(9_000)}|\n${"|-".repeat(9_000)}|\n`],
])("hostile %s are shown, and as text", (_, text) => {
  expect(draw(text, true).includes("md-plain")).toBe(true);
});

test("the end of an endless text is shown as it is", () => {
  expect(draw(`${"word ".repeat(50_000)}`)).toContain("characters are shown as they are");
});

test("a line across the text and bold words are not deep", () => {
  expect(draw("* * * * * * * * * * * * * * * * * * * *")).toContain("<hr/>");
  expect(draw("----------------------------------------")).toContain("<hr/>");
});

test("a list and a table run in the direction of their first letter", () => {
  expect(draw("- פריט ראשון\n- second")).toContain('<ul dir="rtl">');
  expect(draw("1. first\n2. שני")).toContain('<ol start="1">');
  expect(draw("| שם | price |\n|---|---|\n| a | b |")).toContain('<table dir="rtl">');
});
