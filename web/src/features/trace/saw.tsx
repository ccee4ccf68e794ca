import { address } from "../../state/route";
import type { Turn } from "../../state/turn";
import { Loading, useLoad } from "../../ui/load";
import { Mark } from "../../ui/mark";
import { Output } from "../../ui/output";
import { count } from "../../ui/time";
import { part } from "../../wire/api";
import { WORDS } from "./words";

interface Section {
  name: string;
  text: string;
  tokens: number;
}

interface SeenCall {
  call: { agent: string; model: string };
  /** By name of a section; several parts may have one name. */
  tokens: Record<string, number>;
  sections: Section[];
  not_shown: { name: string; why: string }[];
}

/** The request of one model call, verbatim by section, and what this agent was not shown. */
export function Saw({ turn, seq }: { turn: Turn; seq: number }) {
  const seen = useLoad<SeenCall>(`/api/turns/${part(turn.id)}/calls/${seq}`);
  const calls = turn.nodes.flatMap((node) => node.steps.flatMap((step) => (step.kind === "model" ? [{ seq: step.seq, agent: node.agent }] : [])));
  const kinds = Object.entries(seen.value?.tokens ?? {});
  return (
    <>
      <nav className="saw-calls" aria-label={WORDS.calls}>
        {calls.toSorted((a, b) => a.seq - b.seq).map((call, at) => (
          <a className="chip" key={call.seq} href={address("t", turn.id, "saw", call.seq)} aria-current={call.seq === seq ? "page" : undefined}><span className="quiet num">{at + 1}</span><Mark agent={call.agent} small />{call.agent}</a>
        ))}
      </nav>
      <Loading of={seen}>
        {seen.value && (
          <>
            <h2 className="saw-title"><Mark agent={seen.value.call.agent} />{WORDS.sawOf(seen.value.call.agent)} <span className="quiet">{seen.value.call.model}</span></h2>
            <div className="saw-bar" aria-hidden="true">
              {kinds.map(([name, tokens], at) => <span key={name} className={`saw-part saw-part-${at % 6}`} style={{ flexGrow: tokens }} />)}
            </div>
            <p className="saw-legend">
              {kinds.map(([name, tokens], at) => (
                <span key={name}><span className={`saw-dot saw-part-${at % 6}`} aria-hidden="true" />{name} <span className="num">{count(tokens)}</span></span>
              ))}
            </p>
            {seen.value.not_shown.length > 0 && <p className="saw-not">{WORDS.notShown}: {seen.value.not_shown.map((each) => `${each.name} (${each.why})`).join(", ")}</p>}
            {seen.value.sections.map((section, at) => (
              <section key={at}>
                <h2 className="saw-section">{section.name}<span className="quiet num">{WORDS.tokensOf(count(section.tokens))}</span></h2>
                <Output text={section.text} label={section.name} isProse />
              </section>
            ))}
          </>
        )}
      </Loading>
    </>
  );
}
