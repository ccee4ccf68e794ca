import { useEffect, useState } from "react";
import { Mark } from "../../ui/mark";
import { get } from "../../wire/api";
import { SetUpHint } from "./set-up-hint";
import { WORDS } from "./words";

interface AgentFacts {
  name: string;
  examples?: string[];
  sub_agents: AgentFacts[];
}

/** An empty session offers what the agents say about themselves. */
export function Welcome({ onPick }: { onPick: (text: string) => void }) {
  const [agents, setAgents] = useState<AgentFacts[]>([]);
  useEffect(() => {
    get<{ root: AgentFacts }>("/api/agents")
      .then((facts) => setAgents(facts.root.sub_agents))
      .catch(() => {});
  }, []);
  const examples = agents.flatMap((agent) => (agent.examples ?? []).slice(0, 1).map((text) => ({ agent: agent.name, text: text.replace(/\bi\b/gu, "I") })));
  return (
    <div className="welcome" role="region" aria-label={WORDS.welcome} tabIndex={-1}>
      <div className="welcome-column">
        <SetUpHint />
        <h2>{WORDS.welcome}</h2>
        {examples.length > 0 && (
          <ul aria-label={WORDS.examples}>
            {examples.map(({ agent, text }) => (
              <li key={agent}>
                <button type="button" className="welcome-example" onClick={() => onPick(text)}>
                  <Mark agent={agent} /><span dir="auto">{text}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
