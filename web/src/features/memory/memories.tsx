import { useState } from "react";
import { address, go } from "../../state/route";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { part, post, request, withQuery } from "../../wire/api";
import { ForgetMemory } from "./forget";
import type { Search } from "./index";
import { factsOf, isReplaced, linksOf, type Memory, placeOf, SORTS, type Tab, type Trace } from "./kinds";
import { Opened } from "./opened";
import { TextDialog } from "./text-dialog";
import { WORDS } from "./words";

const MOST = 200;

interface MemoriesProps {
  tab: Tab;
  open: string;
  search: Search | undefined;
  tell: (text: string) => void;
}

/** Facts, observations or reflections, the latest first; one of them opened. */
export function Memories({ tab, open, search, tell }: MemoriesProps) {
  const listed = useLoad<{ memories: Memory[] }>(withQuery("/api/memory", { sort: SORTS[tab], limit: MOST }));
  const opened = useLoad<Trace>(open ? `/api/memory/items/${part(open)}/trace` : "");
  const list = search?.memories ?? listed;
  const found = (list.value?.memories ?? []).filter((memory) => memory.sort === SORTS[tab]);
  const isMissing = open !== "" && !found.some((memory) => memory.id === open);
  const rows = isMissing && opened.value ? [opened.value.memory, ...found] : found;
  const changed = (text: string) => {
    listed.reload();
    opened.reload();
    tell(text);
  };
  return (
    <>
      {isMissing && opened.error && <Loading of={opened}>{null}</Loading>}
      <Loading of={list} lines={6}>
        {rows.length === 0 ? (
          <p className="empty">{search ? WORDS.nothing(search.words) : WORDS.empty[tab]}</p>
        ) : (
          <ul className="rows memory-rows">
            {rows.map((memory) => (
              <li key={memory.id} className={isReplaced(memory) ? "memory-row memory-replaced" : "memory-row"}>
                <Head memory={memory} tab={tab} isOpen={memory.id === open} />
                {memory.id === open && (
                  <Opened>
                    <Loading of={opened} lines={2}>{opened.value && <Origin trace={opened.value} />}</Loading>
                    <Actions memory={memory} changed={changed} />
                  </Opened>
                )}
              </li>
            ))}
          </ul>
        )}
        {!search && found.length === MOST && <p className="quiet memory-note">{WORDS.onlyLatest(MOST)}</p>}
      </Loading>
    </>
  );
}

function Head({ memory, tab, isOpen }: { memory: Memory; tab: Tab; isOpen: boolean }) {
  return (
    <>
      <a className="memory-head" href={isOpen ? address("memory", tab) : address("memory", memory.id)} aria-expanded={isOpen}>
        <code className="mono memory-id">{memory.id}</code>
        <span className="memory-text" dir="auto">{memory.text}</span>
        <span className="memory-arrow"><Icon name={isOpen ? "down" : "right"} /></span>
      </a>
      <p className="memory-facts">
        {factsOf(memory).map((word) => <span key={word}>{word}</span>)}
        {memory.turn && <a href={address("s", memory.session, memory.turn)}>{WORDS.turn(memory.turn_number)}</a>}
        {linksOf(memory).map((word) => <span key={word}>{word}</span>)}
      </p>
    </>
  );
}

/** What it rests on, and what rests on it, each one step away. */
function Origin({ trace }: { trace: Trace }) {
  return (
    <>
      {trace.memory.sources.length > 0 && <><h2>{WORDS.sources}</h2><p className="memory-sources" dir="auto">{trace.memory.sources.join(", ")}</p></>}
      <h2>{WORDS.restsOn}</h2>
      <Chain of={trace.rests_on} empty={WORDS.restsOnNothing} />
      <h2>{WORDS.usedBy}</h2>
      <Chain of={trace.used_by} empty={WORDS.usedByNothing} />
    </>
  );
}

function Chain({ of, empty }: { of: readonly Memory[]; empty: string }) {
  if (of.length === 0) return <p className="quiet">{empty}</p>;
  return (
    <ul className="memory-chain">
      {of.map((memory) => (
        <li key={memory.id}>
          <a href={address("memory", memory.id)}><code className="mono">{memory.id}</code> <span dir="auto">{memory.text}</span></a>
          {memory.turn && <a className="quiet" href={address("s", memory.session, memory.turn)}>{WORDS.turn(memory.turn_number)}</a>}
        </li>
      ))}
    </ul>
  );
}

function Actions({ memory, changed }: { memory: Memory; changed: (text: string) => void }) {
  const [shown, setShown] = useState<"" | "correct" | "forget">("");
  const [trouble, setTrouble] = useState("");
  const path = `/api/memory/items/${part(memory.id)}`;
  const close = () => setShown("");
  const forgotten = (text: string) => {
    // Its address leads nowhere any more.
    go(address("memory", placeOf([memory.id]).tab));
    changed(text);
  };
  const restore = () => {
    post(`${path}/restore`).then(() => changed(WORDS.restored(memory.id)), (error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <div className="memory-actions">
      <button type="button" className="button button-small" onClick={() => setShown("correct")}>{WORDS.correct}</button>
      {isReplaced(memory) && <button type="button" className="button button-small" onClick={restore}>{WORDS.restore}</button>}
      <button type="button" className="button button-small" onClick={() => setShown("forget")}>{WORDS.forget}</button>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      {shown === "correct" && (
        <TextDialog
          title={WORDS.correctTitle(memory.id)}
          hint={WORDS.correctHint}
          text={memory.text}
          onClose={close}
          save={async ({ text, anyway }) => {
            await request("PATCH", path, { text, anyway });
            changed(WORDS.corrected(memory.id));
          }}
        />
      )}
      {shown === "forget" && <ForgetMemory memory={memory} onClose={close} done={forgotten} />}
    </div>
  );
}
