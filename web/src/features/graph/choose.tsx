import { useEffect, useState } from "react";
import { address, go } from "../../state/route";
import { Icon } from "../../ui/icons";
import { useLoad } from "../../ui/load";
import { counted } from "../../ui/time";
import { rowKeys } from "../../ui/tree";
import { withQuery } from "../../wire/api";
import type { NodeRow } from "./index";
import { WORDS } from "./words";

const PAUSE = 150;

/** A field that finds things by a part of their name. */
export function Choose() {
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [words]);
  const found = useLoad<{ nodes: NodeRow[] }>(asked ? withQuery("/api/graph/nodes", { words: asked, limit: 12 }) : "");
  const nodes = found.value?.nodes ?? [];
  return (
    <div className="graph-choose">
      <Icon name="search" />
      <input
        className="field"
        type="search"
        dir="auto"
        aria-label={WORDS.search}
        placeholder={WORDS.search}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setWords("");
          if (event.key === "Enter" && !event.nativeEvent.isComposing && nodes[0]) go(address("graph", nodes[0].name));
        }}
      />
      {asked && found.value && (
        <div className="graph-found card" role="group" aria-label={WORDS.found} onKeyDown={(event) => rowKeys(event, ".graph-hit")}>
          {nodes.length === 0 && <p className="quiet" role="status">{WORDS.nothing(asked)}</p>}
          {nodes.map((node) => (
            <a className="graph-hit" key={node.name} href={address("graph", node.name)}>
              <span className="cut" dir="auto">{node.name}</span><span className="quiet num">{counted(node.facts, "fact")}</span>
            </a>
          ))}
        </div>
      )}
    </div>
  );
}
