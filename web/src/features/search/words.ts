export const WORDS = {
  title: "Search",
  label: "Search sessions, messages and commands",
  sessions: "Sessions",
  messages: "Messages",
  commands: "Commands",
  nothing: (words: string) => `No message has "${words}".`,
} as const;

export const COMMANDS: readonly (readonly [name: string, to: string])[] = [
  ["New session", "#/new"],
  ["Open questions and standing answers", "#/inbox"],
  ["Agents, tools, and why this route", "#/agents"],
  ["Traces of turns", "#/traces"],
  ["What is remembered", "#/memory"],
  ["Saved knowledge", "#/memory/entries"],
  ["Documents", "#/memory/documents"],
  ["The graph", "#/graph"],
  ["Choose a model", "#/settings/model"],
  ["Check the set-up", "#/settings"],
  ["Undo file changes", "#/settings/changes"],
  ["Costs", "#/settings/costs"],
];
