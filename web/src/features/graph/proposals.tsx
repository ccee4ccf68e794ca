import { useState } from "react";
import { troubleOf, useLoad } from "../../ui/load";
import { post } from "../../wire/api";
import { type Fact, Origin, sentence } from "./fact-table";
import { WORDS } from "./words";

interface Proposal extends Fact {
  /** Whether its link is declared, so that it can be accepted. */
  declared: boolean;
}

/** Facts that were found in saved texts and wait for a decision. Nothing is shown while there are none. */
export function Proposals({ changed }: { changed: (text: string) => void }) {
  const list = useLoad<{ proposals: Proposal[] }>("/api/graph/proposals");
  const [trouble, setTrouble] = useState("");
  const all = list.value?.proposals ?? [];
  if (all.length === 0) return null;
  const decide = async (which: "accept" | "reject", rows: readonly Proposal[]) => {
    try {
      await post("/api/graph/proposals", { [which]: rows.map((row) => row.id) });
      setTrouble("");
      changed((which === "accept" ? WORDS.accepted : WORDS.rejected)(rows.length));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    list.reload();
  };
  const acceptable = all.filter((row) => row.declared);
  return (
    <section className="graph-proposals" aria-label={WORDS.proposals(all.length)}>
      <div className="graph-proposals-head">
        <h2>{WORDS.proposals(all.length)}</h2>
        {all.length > 1 && (
          <>
            <button type="button" className="button button-small" disabled={acceptable.length === 0} onClick={() => void decide("accept", acceptable)}>{WORDS.acceptAll}</button>
            <button type="button" className="button button-small" onClick={() => void decide("reject", all)}>{WORDS.rejectAll}</button>
          </>
        )}
      </div>
      <p className="quiet graph-why">{WORDS.proposalsWhy}</p>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      <ul className="rows">
        {all.map((row) => (
          <li className="graph-proposal" key={row.id}>
            <div className="graph-proposal-words">
              <p dir="auto">{row.subject} <code className="mono">{row.predicate}</code> {row.object}</p>
              <p className="graph-origin"><Origin fact={row} /></p>
              {!row.declared && <p className="graph-origin quiet">{WORDS.undeclared(row.predicate)}</p>}
            </div>
            <button type="button" className="button button-small" disabled={!row.declared} aria-label={WORDS.decide(WORDS.accept, sentence(row))} onClick={() => void decide("accept", [row])}>{WORDS.accept}</button>
            <button type="button" className="button button-small" aria-label={WORDS.decide(WORDS.reject, sentence(row))} onClick={() => void decide("reject", [row])}>{WORDS.reject}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}
