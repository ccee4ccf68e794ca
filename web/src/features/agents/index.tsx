import { useState } from "react";
import { address, type ScreenProps } from "../../state/route";
import { Icon } from "../../ui/icons";
import { Loading, useLoad } from "../../ui/load";
import { Mark } from "../../ui/mark";
import { Output } from "../../ui/output";
import { ScreenFrame } from "../../ui/screen";
import { part } from "../../wire/api";
import "./agents.css";
import { RouteTester } from "./route-tester";
import { WORDS } from "./words";

interface ToolFacts {
  name: string;
  description: string;
  risk: string;
  origin: string | null;
}

interface AgentFacts {
  name: string;
  description: string;
  remote: boolean;
  prefixes: string[];
  tools: ToolFacts[] | null;
  sub_agents: AgentFacts[];
}

interface Tree {
  root: AgentFacts;
  unmatched: string[];
  not_created: { name: string; reason: string }[];
  problems: string[];
  unreachable: string[];
}

/** Who exists, what each may call, and why a request goes where it goes. */
export default function Agents({ route, onMenu }: ScreenProps) {
  const tree = useLoad<Tree>("/api/agents");
  const [open] = route.rest;
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      <Loading of={tree} lines={8}>
        {tree.value && (
          <>
            {tree.value.unmatched.length > 0 && (
              <div className="trouble agents-unmatched" role="alert">
                <p><Icon name="warning" /><b>{WORDS.unmatched(tree.value.unmatched.length)}: <code className="mono">{tree.value.unmatched.join(", ")}</code></b></p>
                <p>{WORDS.unmatchedWhy(tree.value.unmatched.length)}</p>
              </div>
            )}
            {[...tree.value.problems, ...tree.value.unreachable].map((problem) => <p className="trouble" key={problem} dir="auto">{problem}</p>)}
            <div className="agents-cards">
              {[tree.value.root, ...tree.value.root.sub_agents].map((agent) => <Card key={agent.name} agent={agent} isOpen={open === agent.name} />)}
              {tree.value.not_created.map((agent) => (
                <section className="card agents-card agents-missing" key={agent.name}>
                  <h2><Mark agent={agent.name} />{agent.name}<span className="quiet">{agent.reason}</span></h2>
                </section>
              ))}
            </div>
          </>
        )}
      </Loading>
      <RouteTester />
    </ScreenFrame>
  );
}

function Card({ agent, isOpen }: { agent: AgentFacts; isOpen: boolean }) {
  const tools = agent.tools ?? [];
  const isRoot = agent.sub_agents.length > 0;
  const amount = agent.tools === null || (isRoot && !tools.length) ? WORDS.noTools : tools.length ? WORDS.tools(tools.length) : WORDS.noTools;
  return (
    <section className="card agents-card">
      <h2>
        <Mark agent={agent.remote ? "remote" : agent.name} />{agent.name}
        <span className="quiet">{agent.remote ? WORDS.remote : amount}</span>
        <a className="button-icon" aria-label={`${WORDS.showPrompt}: ${agent.name}`} href={isOpen ? address("agents") : address("agents", agent.name)}><Icon name="eye" /></a>
      </h2>
      <p className="agents-about" dir="auto">{agent.description}</p>
      {tools.length > 0 && (
        <details>
          <summary>{agent.prefixes.join(" ")}</summary>
          <ul className="agents-tools">
            {tools.map((tool) => (
              <li key={tool.name}><code className="mono">{tool.name}</code> <span className="tag">{tool.risk}</span><p dir="auto">{tool.description.split("\n")[0]}</p></li>
            ))}
          </ul>
        </details>
      )}
      {isOpen && <Prompt agent={agent.name} />}
    </section>
  );
}

function Prompt({ agent }: { agent: string }) {
  const [path] = useState(`/api/agents/${part(agent)}/prompt`);
  const prompt = useLoad<{ prompt?: string } | string>(path);
  const text = typeof prompt.value === "string" ? prompt.value : (prompt.value?.prompt ?? "");
  return <div className="agents-open"><Loading of={prompt}><h3>{WORDS.prompt}</h3><Output text={text} label={WORDS.prompt} isProse /></Loading></div>;
}
