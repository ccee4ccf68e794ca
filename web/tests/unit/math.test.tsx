import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { highlight } from "../../src/ui/highlight";
import { mathElements, renderMath } from "../../src/ui/math";

test("a formula becomes MathML", async () => {
  const html = renderToStaticMarkup(await renderMath("\\frac{a}{b} + \\sqrt{x^2}", true));
  expect(html).toContain("<mfrac><mi>a</mi><mi>b</mi></mfrac>");
  expect(html).toMatch(/^<math display="block"/);
});

test("a formula cannot make a link, an image or an event", async () => {
  const node = { type: "a", attributes: { href: "javascript:x" }, children: [{ type: "mi", attributes: { onclick: "x", width: "url(x)" }, style: { background: "red", color: "url(x)" }, children: [{ text: "y" }] }] };
  expect(renderToStaticMarkup(mathElements(node))).toBe("<mrow><mi>y</mi></mrow>");
  await expect(renderMath("\\href{javascript:alert(1)}{x}", false)).rejects.toThrow();
  await expect(renderMath("\\includegraphics{https://evil.example/x.png}", false)).rejects.toThrow();
});

test("a formula that cannot be read is refused", async () => {
  await expect(renderMath("\\frac{", true)).rejects.toThrow();
  await expect(renderMath("\\def\\a{\\a\\a}\\a", true)).rejects.toThrow();
});

test("code of a known language is coloured, as text", () => {
  const html = renderToStaticMarkup(<>{highlight("if x: # <b>", "python")}</>);
  expect(html).toContain('<span class="hljs-keyword">if</span>');
  expect(html).toContain("&lt;b&gt;");
  expect(highlight("x", "klingon")).toBeNull();
  expect(highlight("x", "py")).not.toBeNull();
});
