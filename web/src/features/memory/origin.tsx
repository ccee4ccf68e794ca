import { address } from "../../state/route";
import { useStore } from "../../state/store";
import type { Label } from "./kinds";
import { WORDS } from "./words";

/** The words of a label: whose text it is, and whether it is private. */
export function labelWords(label: Label): string[] {
  return [label.untrusted ? WORDS.elsewhere : WORDS.yourWords, ...(label.private ? [WORDS.private] : [])];
}

/** A link to the turn in which something was saved, by the name of its session; nothing if it was saved by hand. */
export function TurnLink({ session, turn }: { session: string; turn: string }) {
  const title = useStore((state) => state.rows)?.find((row) => row.id === session)?.title;
  if (!turn) return null;
  return <a href={address("s", session, turn)} dir="auto">{WORDS.inSession(title || session)}</a>;
}
