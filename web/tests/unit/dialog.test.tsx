import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Dialog } from "../../src/ui/dialog";
import { findByLetter, Menu } from "../../src/ui/menu";

const nothing = () => undefined;

test("a closed dialog is not there", () => {
  expect(renderToStaticMarkup(<Dialog isOpen={false} onClose={nothing} title="T">x</Dialog>)).toBe("");
});

test("an open dialog is named by its title", () => {
  const html = renderToStaticMarkup(<Dialog isOpen onClose={nothing} title="Forget m12?" footer={<b>foot</b>}>body</Dialog>);
  const id = /aria-labelledby="([^"]+)"/.exec(html)?.[1];
  expect(html).toContain(`<h2 id="${id}">Forget m12?</h2>`);
  expect(html).toContain("<b>foot</b>");
});

test("a menu button says what it opens, and that it is closed", () => {
  const html = renderToStaticMarkup(<Menu label="Session" items={[{ label: "Rename", onSelect: nothing }]} />);
  expect(html).toContain('aria-haspopup="menu" aria-expanded="false" aria-label="Session"');
  expect(html).not.toContain("Rename");
});

test("a letter moves to the next item that begins with it, round the end", () => {
  const items = [{ label: "Rename" }, { label: "Export" }, { label: "Revoke" }];
  expect(findByLetter(items, "r", 0)).toBe(2);
  expect(findByLetter(items, "R", 2)).toBe(0);
  expect(findByLetter(items, "x", 0)).toBe(-1);
});

test("a dialog that can be submitted is a form, so that Enter in a field submits it", () => {
  expect(renderToStaticMarkup(<Dialog isOpen onClose={nothing} onSubmit={nothing} title="Rename">x</Dialog>)).toContain("<form");
  expect(renderToStaticMarkup(<Dialog isOpen onClose={nothing} title="Rename">x</Dialog>)).not.toContain("<form");
});
