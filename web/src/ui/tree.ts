/** Arrow keys in trees, tables and menus: one element of the group is in the tab order, the keys move it. */
import type { KeyboardEvent } from "react";

const PAGE = 10;

/** The place that a key leads to, or null if the key moves nothing. */
export function nextPlace(key: string, at: number, length: number, wraps = false): number | null {
  if (length === 0) return null;
  const bound = (place: number) => (wraps ? (place + length) % length : Math.min(Math.max(place, 0), length - 1));
  switch (key) {
    case "ArrowDown": return bound(at + 1);
    case "ArrowUp": return at < 0 ? length - 1 : bound(at - 1);
    case "Home": return 0;
    case "End": return length - 1;
    case "PageDown": return Math.min(at + PAGE, length - 1);
    case "PageUp": return Math.max(at - PAGE, 0);
    default: return null;
  }
}

/** A visible row of a tree. `isOpen` is null for a row without children. */
export interface TreeRow {
  level: number;
  isOpen: boolean | null;
}

export type TreeMove = { to: number } | { toggle: number } | null;

/** What a key does in a tree: → opens, then enters; ← closes, then leaves for the parent. */
export function treeMove(key: string, rows: readonly TreeRow[], at: number): TreeMove {
  const row = rows[at];
  if (!row) return rows.length ? { to: 0 } : null;
  if (key === "ArrowRight") {
    if (row.isOpen === null) return null;
    return row.isOpen ? { to: Math.min(at + 1, rows.length - 1) } : { toggle: at };
  }
  if (key === "ArrowLeft") {
    if (row.isOpen) return { toggle: at };
    const parent = rows.slice(0, at).findLastIndex((other) => other.level < row.level);
    return parent < 0 ? null : { to: parent };
  }
  const to = nextPlace(key, at, rows.length);
  return to === null ? null : { to };
}

/** Puts one element into the tab order, and takes the others out. */
export function moveFocus(elements: readonly HTMLElement[], to: number): void {
  elements.forEach((element, at) => {
    element.tabIndex = at === to ? 0 : -1;
  });
  elements[to]?.focus();
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
}

/** The group's elements, and the one that holds the focus; a field in a row keeps its own keys. */
function members(event: KeyboardEvent<HTMLElement>, selector: string): { elements: HTMLElement[]; at: number } | null {
  const target = event.target as HTMLElement;
  if (hasModifier(event) || target.closest("input, textarea, select, [contenteditable=true]")) return null;
  const elements = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
  return { elements, at: elements.indexOf(target.closest<HTMLElement>(selector) ?? target) };
}

/** `onKeyDown` of an element with `role="tree"`: rows are `treeitem` with `aria-level` and, with children, `aria-expanded`. */
export function treeKeys(event: KeyboardEvent<HTMLElement>, toggle: (row: HTMLElement) => void): void {
  const group = members(event, "[role=treeitem]");
  if (!group) return;
  const rows = group.elements.map((element) => {
    const open = element.getAttribute("aria-expanded");
    return { level: Number(element.getAttribute("aria-level") ?? 1), isOpen: open === null ? null : open === "true" };
  });
  const move = treeMove(event.key, rows, group.at);
  if (!move) return;
  event.preventDefault();
  if ("to" in move) return moveFocus(group.elements, move.to);
  const row = group.elements[move.toggle];
  if (row) toggle(row);
}

/** `onKeyDown` of a table or list whose rows match the selector: ↑ ↓ Home End, and a page of ten. */
export function rowKeys(event: KeyboardEvent<HTMLElement>, selector = "[data-row]", wraps = false): void {
  const group = members(event, selector);
  const to = group && nextPlace(event.key, group.at, group.elements.length, wraps);
  if (!group || to === null) return;
  event.preventDefault();
  moveFocus(group.elements, to);
}
