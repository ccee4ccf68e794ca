import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type Bar, Score, scoreSentence, workOf } from "../../src/ui/score";

const bar = (agent: string, start: number, end: number | null, outcome = "ok", waits: Bar["waits"] = []): Bar => ({ agent, start, end, outcome, waits });
const TURN = [
  bar("navigator", 0.8, 4.7),
  bar("librarian", 0.8, 2.6),
  bar("planner", 5.5, 6.3, "rejected"),
  bar("operator", 7, null, "", [[8.3, null]]),
];
const draw = (bars: Bar[], more = {}) => renderToStaticMarkup(<Score bars={bars} barlines={[0.8, 5.5, 7]} span={[0, 10.4]} width={120} {...more} />);
const times = (html: string, text: string) => html.split(text).length - 1;

test("the score is read as one sentence", () => {
  expect(scoreSentence(TURN)).toBe("navigator and librarian at once, then planner, which declined, then operator, which waits for you");
  expect(scoreSentence([bar("librarian", 1, 3.8)])).toBe("librarian worked for 2.8 s");
  expect(scoreSentence([])).toBe("No specialist has worked yet");
  expect(draw(TURN)).toContain('role="img" aria-label="navigator and librarian at once');
});

test("the small score has six lines, one per specialist, in 120 by 27", () => {
  const html = draw(TURN);
  expect(html).toContain('viewBox="0 0 120 27"');
  expect(times(html, 'class="score-line"')).toBe(6);
  expect(times(html, 'class="score-barline"')).toBe(3);
  expect(times(html, 'class="score-glyph')).toBe(0);
  expect(html).toContain('y1="24.25"');
});

test("the score of the rail has the glyphs, grey for those who did nothing", () => {
  const html = draw(TURN, { width: 296, glyphs: true });
  expect(html).toContain('viewBox="0 0 296 82"');
  expect(times(html, 'class="score-glyph"')).toBe(4);
  expect(times(html, 'class="score-glyph score-idle"')).toBe(2);
});

test("remote agents share a seventh line only if there are some", () => {
  expect(times(draw([...TURN, bar("translator", 1, 2)]), 'class="score-line"')).toBe(7);
});

test("only an ending other than ok has a cross", () => {
  expect(times(draw(TURN), "score-cross")).toBe(1);
  expect(times(draw([bar("operator", 0, 3, "paused")]), "score-cross")).toBe(0);
});

test("waiting is striped and is no work", () => {
  const waited = bar("operator", 1, 9, "ok", [[2, 5]]);
  expect(workOf(waited, 9)).toEqual([[1, 2], [5, 9]]);
  expect(times(draw([waited]), "score-work")).toBe(2);
  expect(times(draw([waited]), "score-wait")).toBeGreaterThan(3);
});

test("a bar outside of the span, or a span without length, stays inside of the picture", () => {
  const html = draw([bar("operator", -5, 99)], { span: [3, 3] });
  expect(html).not.toContain("NaN");
  expect(html).not.toContain("Infinity");
});
