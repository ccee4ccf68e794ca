import { Icon, type IconName } from "./icons";

/** The six specialists in the order of the score's lines. */
export const SPECIALISTS = ["operator", "navigator", "vault", "librarian", "planner", "chronicler"] as const;
const KNOWN: ReadonlySet<string> = new Set(["orchestrator", ...SPECIALISTS]);

/** The name under which an agent's glyph and colour are found; others, such as remote agents, share one. */
export function look(agent: string): IconName & string {
  return (KNOWN.has(agent) ? agent : "remote") as IconName;
}

/** An agent's square with its glyph. The agent's name stands beside it. */
export function Mark({ agent, small = false }: { agent: string; small?: boolean }) {
  const kind = look(agent);
  return (
    <span className={`mark mark-${kind} agent-${kind}${small ? " mark-small" : ""}`} aria-hidden="true">
      <Icon name={kind} />
    </span>
  );
}
