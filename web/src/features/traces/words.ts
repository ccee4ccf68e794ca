export const WORDS = {
  title: "Traces",
  empty: "No turn yet. Ask something first.",
  choose: "Choose a session",
} as const;
