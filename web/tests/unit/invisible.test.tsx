import * as fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { cutAt, Exact, revealed } from "../../src/ui/invisible";

test("invisible and direction characters are written out", () => {
  expect(revealed("a\u202Eb")).toBe("a<U+202E>b");
  expect(revealed("pay\u200Bpal\u00A0\t\uFE0F\u{E0041}")).toBe("pay<U+200B>pal<U+00A0><U+0009><U+FE0F><U+E0041>");
  expect(revealed("zwei Wörter\nשלום 漢字 🙂")).toBe("zwei Wörter\nשלום 漢字 🙂");
  expect(revealed("\uD800")).toBe("<U+D800>");
});

test("a text that looks like a written out character is told from one", () => {
  expect(revealed("<U+202E>")).toBe("<U+003C>U+202E>");
});

test("two texts that differ are shown differently", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "<", "U", "+", "0", "2", "E", ">", "\u202E", "\u200B"), maxLength: 20 });
  fc.assert(fc.property(texts, texts, (one, other) => (revealed(one) === revealed(other)) === (one === other)));
});

test("a long value says how long it is and opens in place", () => {
  const html = renderToStaticMarkup(<Exact text={"x".repeat(6000)} />);
  expect(html).toContain("Show all 6,000 characters");
  expect(html.length).toBeLessThan(1000);
  expect(renderToStaticMarkup(<Exact text="a\u202E" />)).not.toContain("<button");
});

test("a cut never leaves half of a character", () => {
  expect(cutAt("ab🙂", 3)).toBe("ab");
  expect(cutAt("ab🙂", 4)).toBe("ab🙂");
});
