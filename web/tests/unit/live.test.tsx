import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { alertPerson, announce, LiveRegions } from "../../src/ui/live";

test("each region has its own text", () => {
  announce("navigator works");
  alertPerson("operator wants to call exec_mail");
  const html = renderToStaticMarkup(<LiveRegions />);
  expect(html).toContain('aria-live="polite" aria-atomic="true">navigator works</div>');
  expect(html).toContain('aria-live="assertive" aria-atomic="true">operator wants to call exec_mail</div>');
});

test("a text that is said again differs, so that it is heard again", () => {
  announce("Copied");
  const first = renderToStaticMarkup(<LiveRegions />);
  announce("Copied");
  expect(renderToStaticMarkup(<LiveRegions />)).not.toBe(first);
});
