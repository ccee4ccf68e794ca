import { useState } from "react";
import { address, go, type ScreenProps } from "../../state/route";
import { Icon } from "../../ui/icons";
import { Loading, useLoad } from "../../ui/load";
import { announce } from "../../ui/live";
import { ScreenFrame } from "../../ui/screen";
import { withQuery } from "../../wire/api";
import { AddFact } from "./add-fact";
import { Choose } from "./choose";
import { type Fact, FactTable } from "./fact-table";
import "./graph.css";
import { Neighbourhood } from "./neighbourhood";
import { Proposals } from "./proposals";
import { WORDS } from "./words";

const MOST_FACTS = 200;

interface Around {
  node: string;
  facts: Fact[];
  links: Record<string, number>;
  complete: boolean;
}

export interface NodeRow {
  name: string;
  facts: number;
}

/** A thing and what is around it, as a picture and as a table. */
export default function Graph({ route, onMenu }: ScreenProps) {
  const [asked = ""] = route.rest;
  const known = useLoad<{ nodes: NodeRow[] }>(asked ? "" : "/api/graph/nodes?limit=1");
  const middle = asked || (known.value?.nodes[0]?.name ?? "");
  const around = useLoad<Around>(middle ? withQuery("/api/graph/walk", { node: middle, depth: 2, limit: MOST_FACTS }) : "");
  const [isAdding, setAdding] = useState(false);
  const [notice, setNotice] = useState("");
  const changed = (text: string) => {
    setNotice(text);
    announce(text);
    known.reload();
    around.reload();
  };
  const isEmpty = !asked && known.value?.nodes.length === 0;
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu} isWide actions={<button type="button" className="button button-small" onClick={() => setAdding(true)}><Icon name="plus" />{WORDS.add}</button>}>
      <Choose key={middle} />
      {notice && <p className="graph-notice"><Icon name="tick" /><span dir="auto">{notice}</span></p>}
      <div className="graph-columns">
        <div className="graph-main">
          {isEmpty ? <p className="empty">{WORDS.empty}</p> : (
            <Loading of={asked ? around : known.error ? known : around} lines={8}>
              {around.value && <Neighbourhood middle={middle} facts={around.value.facts} links={around.value.links} />}
            </Loading>
          )}
        </div>
        <div className="graph-side">
          {around.value && <FactTable facts={around.value.facts} isComplete={around.value.complete} changed={changed} />}
          <Proposals changed={changed} />
        </div>
      </div>
      {isAdding && (
        <AddFact
          subject={middle}
          onClose={() => setAdding(false)}
          added={(fact) => {
            changed(WORDS.added(`${fact.subject} ${fact.predicate} ${fact.object}`));
            go(address("graph", fact.subject));
          }}
        />
      )}
    </ScreenFrame>
  );
}
