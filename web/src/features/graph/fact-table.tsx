import { useState } from "react";
import { address } from "../../state/route";
import { useStore } from "../../state/store";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { troubleOf } from "../../ui/load";
import { part, request } from "../../wire/api";
import type { Triple } from "./layout";
import { WORDS } from "./words";

export interface Fact extends Triple {
  id: number;
  session: string;
  turn: string;
  turn_number: number;
  untrusted: boolean;
}

/** Every fact of the picture; each leads to its turn. */
export function FactTable({ facts, isComplete, changed }: { facts: readonly Fact[]; isComplete: boolean; changed: (text: string) => void }) {
  const [unwanted, setUnwanted] = useState<Fact | undefined>();
  const title = WORDS.facts(facts.length, isComplete);
  return (
    <section>
      <h2>{title}</h2>
      <div className="facts-frame graph-facts" tabIndex={0} role="region" aria-label={title}>
        <table className="facts">
          <thead>
            <tr>
              <th scope="col">{WORDS.subject}</th><th scope="col">{WORDS.predicate}</th><th scope="col">{WORDS.object}</th><th scope="col">{WORDS.turn}</th>
              <th scope="col"><span className="sr">{WORDS.actions}</span></th>
            </tr>
          </thead>
          <tbody>
            {facts.map((fact) => (
              <tr key={fact.id}>
                <td><a href={address("graph", fact.subject)} dir="auto">{fact.subject}</a></td>
                <td><code className="mono">{fact.predicate}</code></td>
                <td><a href={address("graph", fact.object)} dir="auto">{fact.object}</a></td>
                <td><Origin fact={fact} /></td>
                <td className="graph-act">
                  <button type="button" className="button-icon" aria-label={WORDS.decide(WORDS.remove, sentence(fact))} onClick={() => setUnwanted(fact)}><Icon name="trash" /></button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {unwanted && <Remove fact={unwanted} onClose={() => setUnwanted(undefined)} changed={changed} />}
    </section>
  );
}

/** The turn that told a fact, or that a person added it; a deleted turn leads nowhere. */
export function Origin({ fact }: { fact: Fact }) {
  const title = useStore((state) => state.rows)?.find((row) => row.id === fact.session)?.title;
  return (
    <>
      {fact.turn ? <a href={address("s", fact.session, fact.turn)} title={title || fact.session}>{WORDS.turnNumber(fact.turn_number)}</a> : <span className="quiet">{WORDS.byHand}</span>}
      {fact.untrusted && <span className="quiet graph-untrusted">{WORDS.untrusted}</span>}
    </>
  );
}

function Remove({ fact, onClose, changed }: { fact: Fact; onClose: () => void; changed: (text: string) => void }) {
  const [trouble, setTrouble] = useState("");
  const remove = async () => {
    try {
      await request("DELETE", `/api/graph/facts/${part(fact.id)}`);
      onClose();
      changed(WORDS.removed(sentence(fact)));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={WORDS.removeTitle}
      footer={
        <>
          <button type="button" className="button" data-first onClick={onClose}>{WORDS.cancel}</button>
          <button type="button" className="button" onClick={() => void remove()}>{WORDS.removeSure}</button>
        </>
      }
    >
      <p className="graph-quote" dir="auto">{fact.subject} <code className="mono">{fact.predicate}</code> {fact.object}</p>
      <p><b>{WORDS.goes}</b>: {WORDS.goesWhat}.</p>
      <p><b>{WORDS.stays}</b>: {fact.turn ? `${WORDS.staysTurn}, ${WORDS.staysNodes}` : WORDS.staysNodes}.</p>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
    </Dialog>
  );
}

export function sentence({ subject, predicate, object }: Triple): string {
  return `${subject} ${predicate} ${object}`;
}
