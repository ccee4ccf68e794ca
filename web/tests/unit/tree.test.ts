import { expect, test } from "vitest";
import { nextPlace, treeMove } from "../../src/ui/tree";

const ROWS = [
  { level: 1, isOpen: true },
  { level: 2, isOpen: null },
  { level: 2, isOpen: false },
  { level: 1, isOpen: false },
];

test("arrow keys stop at the ends of a list, and go round in a menu", () => {
  expect(nextPlace("ArrowDown", 3, 4)).toBe(3);
  expect(nextPlace("ArrowDown", 3, 4, true)).toBe(0);
  expect(nextPlace("ArrowUp", 0, 4)).toBe(0);
  expect(nextPlace("ArrowUp", 0, 4, true)).toBe(3);
  expect(nextPlace("ArrowUp", -1, 4)).toBe(3);
  expect(nextPlace("End", 0, 4)).toBe(3);
  expect(nextPlace("PageDown", 0, 40)).toBe(10);
  expect(nextPlace("x", 0, 4)).toBeNull();
  expect(nextPlace("Home", -1, 0)).toBeNull();
});

test("right opens a row, then enters it", () => {
  expect(treeMove("ArrowRight", ROWS, 3)).toEqual({ toggle: 3 });
  expect(treeMove("ArrowRight", ROWS, 0)).toEqual({ to: 1 });
  expect(treeMove("ArrowRight", ROWS, 1)).toBeNull();
});

test("left closes a row, then leaves for its parent", () => {
  expect(treeMove("ArrowLeft", ROWS, 0)).toEqual({ toggle: 0 });
  expect(treeMove("ArrowLeft", ROWS, 2)).toEqual({ to: 0 });
  expect(treeMove("ArrowLeft", ROWS, 3)).toBeNull();
});
