export const WORDS = {
  title: "Inbox",
  waiting: (number: number) => `Waiting ${number}`,
  nothing: "No call waits for you.",
  same: (number: number) => `${number} questions about the same target`,
  standing: (number: number) => `Standing answers ${number}`,
  noStanding: "You are asked every time. A longer yes on a question is listed here.",
  inSession: "in one session",
  everywhere: "in every session",
  since: (time: string) => `since ${time}`,
  revoke: "Revoke",
} as const;
