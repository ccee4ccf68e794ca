import { useId, useState } from "react";
import { Dialog } from "../../ui/dialog";
import { troubleOf, useLoad } from "../../ui/load";
import { post } from "../../wire/api";
import type { Fact } from "./fact-table";
import { WORDS } from "./words";

/** A fact in the person's own words, with one of the declared links. */
export function AddFact({ subject, onClose, added }: { subject: string; onClose: () => void; added: (fact: Fact) => void }) {
  const known = useLoad<{ predicates: { name: string; kind: string }[] }>("/api/graph/predicates");
  const [fact, setFact] = useState({ subject, predicate: "related_to", object: "" });
  const [trouble, setTrouble] = useState("");
  const id = useId();
  const isWhole = Boolean(fact.subject.trim() && fact.object.trim());
  const save = async () => {
    try {
      const saved = await post<Fact>("/api/graph/facts", fact);
      onClose();
      added(saved);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title={WORDS.add} footer={<button type="submit" form={id} className="button button-main" disabled={!isWhole}>{WORDS.save}</button>}>
      <form
        id={id}
        className="graph-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole) void save();
        }}
      >
        <p className="quiet">{WORDS.addHint}</p>
        <label>{WORDS.subject}<input className="field" dir="auto" maxLength={2000} value={fact.subject} onChange={(event) => setFact({ ...fact, subject: event.target.value })} /></label>
        <label>
          {WORDS.predicate}
          <select className="field" value={fact.predicate} onChange={(event) => setFact({ ...fact, predicate: event.target.value })}>
            {(known.value?.predicates ?? [{ name: fact.predicate, kind: "" }]).filter((each) => each.kind !== "no longer declared").map((each) => <option key={each.name}>{each.name}</option>)}
          </select>
        </label>
        <label>{WORDS.object}<input className="field" data-first dir="auto" maxLength={2000} value={fact.object} onChange={(event) => setFact({ ...fact, object: event.target.value })} /></label>
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      </form>
    </Dialog>
  );
}
