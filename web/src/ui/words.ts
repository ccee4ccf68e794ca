/** The words of the page's shared parts, and those for outcomes and states, as in the terminal. */
import type { IconName } from "./icons";
import { count, counted } from "./time";

export type Tone = "" | "ok" | "warn" | "bad";

/** A state as a person reads it: an icon, a word, and a colour that repeats them. */
export interface StateWord {
  word: string;
  icon: IconName;
  tone: Tone;
}

/** How a delegation ended. */
export const OUTCOMES = {
  ok: { word: "answered", icon: "tick", tone: "" },
  rejected: { word: "declined", icon: "undo", tone: "" },
  failed: { word: "failed", icon: "cross", tone: "bad" },
  timeout: { word: "took too long", icon: "clock", tone: "warn" },
  over_budget: { word: "ran into a limit", icon: "warning", tone: "warn" },
  loop: { word: "went in circles", icon: "again", tone: "warn" },
  empty: { word: "gave no answer", icon: "warning", tone: "warn" },
  cancelled: { word: "was stopped", icon: "stop", tone: "" },
  paused: { word: "waits for you", icon: "waits", tone: "warn" },
} as const satisfies Record<string, StateWord>;

/** How a tool call ended. */
export const TOOL_OUTCOMES = {
  ok: { word: "done", icon: "tick", tone: "" },
  error: { word: "failed", icon: "cross", tone: "warn" },
  refused: { word: "refused", icon: "shield", tone: "warn" },
  denied: { word: "denied", icon: "cross", tone: "warn" },
  in_doubt: { word: "in doubt", icon: "warning", tone: "bad" },
} as const satisfies Record<string, StateWord>;

/** The state of a turn. `cut_off`: its process died. */
export const TURN_STATES = {
  queued: { word: "queued", icon: "clock", tone: "" },
  running: { word: "works", icon: "trace", tone: "" },
  paused: { word: "waits for you", icon: "waits", tone: "warn" },
  finished: { word: "answered", icon: "tick", tone: "" },
  failed: { word: "failed", icon: "cross", tone: "bad" },
  cancelled: { word: "stopped by you", icon: "stop", tone: "" },
  cut_off: { word: "cut off", icon: "warning", tone: "bad" },
} as const satisfies Record<string, StateWord>;

/** Found by name in a table above; a name from a newer server is shown as it is. */
export function stateWord(table: Readonly<Record<string, StateWord>>, name: string): StateWord {
  return (Object.hasOwn(table, name) && table[name]) || { word: name.replaceAll("_", " "), icon: "dots", tone: "" };
}

export const SCOPES: Readonly<Record<string, string>> = { once: "once", session: "for this session", always: "always" };

export const NUDGES: Readonly<Record<string, string>> = {
  silence: "was asked again: it had said nothing",
  announced: "was asked again: it had announced something and not done it",
};

export const EFFECTS: Readonly<Record<string, string>> = {
  changed: "changed",
  sent: "sent",
  paid: "paid",
  failed: "tried, failed",
  in_doubt: "in doubt",
};

export const IN_DOUBT = "was cut off. It may have taken effect, and was not repeated: check it yourself.";

/** Documents that are added. */
export const UPLOADS = {
  reading: (name: string) => `Reading ${name}`,
  read: (name: string) => `${name} is ready: the librarian finds it from the next message on`,
  imageUnreadable: (model: string) => `${model} cannot read images. Choose a model that can in Settings, or describe the picture.`,
  model: "The model",
} as const;

/** The texts of the shared parts. */
export const UI = {
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Not copied: select the text and copy it with the keyboard",
  copyCode: "Copy code",
  copyTable: "Copy table",
  close: "Close",
  cancel: "Cancel",
  code: "Code",
  table: "Table",
  task: "Task",
  output: "Output",
  loading: "Loading",
  loadFailed: "The rest could not be loaded. Try again.",
  showLess: "Show less",
  showLines: (lines: number) => `Show all ${counted(lines, "line")}`,
  showCharacters: (characters: number) => `Show all ${counted(characters, "character")}`,
  showAll: "Show all",
  moreCharacters: (characters: number) => ` … ${counted(characters, "more character", "more characters")}`,
  moreLines: (lines: number) => `… ${counted(lines, "more line")}`,
  added: "added",
  removed: "removed",
  image: (text: string) => (text ? `Image, not loaded: ${text}` : "Image, not loaded"),
  openTitle: "Open this address?",
  openWhy: "The answer rests on text from elsewhere, which may have chosen this link.",
  open: "Open",
  copyAddress: "Copy address",
  menu: "More",
  screens: "Menu",
  plainRest: (characters: number) => `The text is long: the last ${count(characters)} characters are shown as they are.`,
} as const;
