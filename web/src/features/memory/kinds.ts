/** What the API tells of memories and of the library, and how a row puts it. */
import { date } from "../../ui/time";
import { WORDS } from "./words";

export type Tab = keyof typeof WORDS.tabs;
export const TABS = Object.keys(WORDS.tabs) as Tab[];

export interface Label {
  untrusted: boolean;
  private: boolean;
  sources: string[];
}

export interface Memory extends Label {
  id: string;
  sort: "fact" | "observation" | "reflection";
  text: string;
  at: number;
  session: string;
  turn: string;
  turn_number: number;
  by: string;
  level: number;
  rests_on: string[];
  used_by: string[];
}

export interface Trace {
  memory: Memory;
  rests_on: Memory[];
  used_by: Memory[];
}

export interface Entry {
  key: string;
  content: string;
  category: string;
  tags: string[];
  version: number;
  created_at: number;
  updated_at: number;
  session_id: string;
  turn_id: string;
  label: Label;
}

export interface Version extends Pick<Entry, "version" | "content" | "session_id" | "turn_id" | "label"> {
  saved_at: number;
  present: boolean;
}

export interface Lesson {
  id: number;
  trigger: string;
  fix: string;
  cause: string;
  session_id: string;
  turn_id: string;
  created_at: number;
  label: Label;
}

export interface Document {
  id: number;
  path: string;
  kind: string;
  bytes: number;
  ingested_at: number;
  chunks: number;
  /** The file is a copy that was made when it was added over the API. */
  uploaded: boolean;
}

export interface Passage {
  text: string;
  title: string;
  collection: string;
  source: string;
  created_at: number;
  label: Label;
  why: string;
}

export const SORTS: Readonly<Partial<Record<Tab, Memory["sort"]>>> = { facts: "fact", observations: "observation", reflections: "reflection" };
export const COLLECTIONS: Readonly<Partial<Record<Tab, string>>> = { entries: "knowledge", lessons: "learnings", documents: "documents" };
const LETTERS: Readonly<Record<string, Tab>> = { m: "facts", o: "observations", r: "reflections" };

export interface Place {
  tab: Tab;
  /** The id of a memory, the title of an entry, or nothing. */
  open: string;
}

/** What an address shows: `#/memory/lessons`, `#/memory/m12`, `#/memory/entries/Office hours`. */
export function placeOf(rest: readonly string[]): Place {
  const [first = "", second = ""] = rest;
  const letter = /^([mor])\d+$/.exec(first)?.[1];
  if (letter) return { tab: LETTERS[letter] ?? "facts", open: first };
  const tab = TABS.find((each) => each === first) ?? "facts";
  return { tab, open: second };
}

/** Who says it: the person, somebody elsewhere, or the one who wrote it down. */
export function voice(by: string, label: Label): string {
  if (label.untrusted) return WORDS.elsewhere;
  return by === "you" || by === "" || by === "chronicler" ? WORDS.yourWords : WORDS.madeBy(by);
}

/** The quiet words of a memory before its turn: `your words`, `12 Nov`, `private`. */
export function factsOf(memory: Memory, now?: number): string[] {
  const words = [voice(memory.by, memory), date(memory.at, now)];
  if (memory.level > 0) words.push(WORDS.level(memory.level));
  if (memory.private) words.push(WORDS.private);
  return words;
}

/** Those after its turn: what it replaced, what replaced it, what it sums up. */
export function linksOf(memory: Memory): string[] {
  const words: string[] = [];
  const isFact = memory.sort === "fact";
  if (memory.rests_on.length) words.push(isFact ? WORDS.replaced(memory.rests_on.join(", ")) : WORDS.sumsUp(memory.rests_on.length));
  if (memory.used_by.length) words.push((isFact ? WORDS.replacedBy : WORDS.summedUpIn)(memory.used_by.join(", ")));
  return words;
}

/** A fact that a later one replaced. */
export function isReplaced(memory: Memory): boolean {
  return memory.sort === "fact" && memory.used_by.length > 0;
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) || path;
}
