import { useState } from "react";
import { address, go } from "../../state/route";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { date, moment } from "../../ui/time";
import { post, request, withQuery } from "../../wire/api";
import { Consequence, ForgetDialog } from "./forget";
import type { Entry, Version } from "./kinds";
import { Opened } from "./opened";
import { labelWords, TurnLink } from "./origin";
import { TextDialog } from "./text-dialog";
import { WORDS } from "./words";

const MOST = 200;
const ENTRY = "/api/knowledge/entry";

/** The saved entries, the latest first; one of them opened. */
export function Entries({ open, tell }: { open: string; tell: (text: string) => void }) {
  const list = useLoad<{ entries: Entry[] }>(withQuery("/api/knowledge", { limit: MOST }));
  const rows = list.value?.entries ?? [];
  const isMissing = open !== "" && list.value !== undefined && !rows.some((entry) => entry.key === open);
  const opened = useLoad<Entry>(isMissing ? withQuery(ENTRY, { title: open }) : "");
  const [isAdding, setAdding] = useState(false);
  const changed = (text: string) => {
    list.reload();
    opened.reload();
    tell(text);
  };
  const shown = opened.value ? [opened.value, ...rows] : rows;
  return (
    <>
      <p className="memory-bar"><button type="button" className="button button-small" onClick={() => setAdding(true)}><Icon name="plus" />{WORDS.addEntry}</button></p>
      {isMissing && opened.error && <Loading of={opened}>{null}</Loading>}
      <Loading of={list} lines={6}>
        {shown.length === 0 ? <p className="empty">{WORDS.empty.entries}</p> : (
          <ul className="rows memory-rows">
            {shown.map((entry) => <Row key={entry.key} entry={entry} isOpen={entry.key === open || entry.key === opened.value?.key} changed={changed} />)}
          </ul>
        )}
        {rows.length === MOST && <p className="quiet memory-note">{WORDS.onlyLatest(MOST)}</p>}
      </Loading>
      {isAdding && (
        <TextDialog
          title={WORDS.addEntry}
          hint={WORDS.correctHintNew}
          isNew
          onClose={() => setAdding(false)}
          save={async ({ name, text, anyway }) => {
            const saved = await request<Entry>("PUT", withQuery(ENTRY, { title: name }), { content: text, anyway });
            changed(WORDS.saved(saved.key));
            go(address("memory", "entries", saved.key));
          }}
        />
      )}
    </>
  );
}

function Row({ entry, isOpen, changed }: { entry: Entry; isOpen: boolean; changed: (text: string) => void }) {
  return (
    <li className="memory-row">
      <a className="memory-head" href={isOpen ? address("memory", "entries") : address("memory", "entries", entry.key)} aria-expanded={isOpen}>
        <span className="memory-text memory-title" dir="auto">{entry.key}</span>
        <span className="memory-arrow"><Icon name={isOpen ? "down" : "right"} /></span>
      </a>
      {!isOpen && <p className="memory-excerpt cut" dir="auto">{entry.content}</p>}
      <p className="memory-facts">
        <span>{entry.category}</span>
        {entry.tags.map((tag) => <span key={tag} dir="auto">#{tag}</span>)}
        {labelWords(entry.label).map((word) => <span key={word}>{word}</span>)}
        <span>{date(entry.updated_at)}</span>
        <span>{WORDS.version(entry.version)}</span>
        <TurnLink session={entry.session_id} turn={entry.turn_id} />
      </p>
      {isOpen && (
        <Opened>
          <p className="memory-content" dir="auto">{entry.content}</p>
          {entry.label.sources.length > 0 && <><h2>{WORDS.sources}</h2><p className="memory-sources" dir="auto">{entry.label.sources.join(", ")}</p></>}
          <Actions entry={entry} changed={changed} />
        </Opened>
      )}
    </li>
  );
}

function Actions({ entry, changed }: { entry: Entry; changed: (text: string) => void }) {
  const [shown, setShown] = useState<"" | "correct" | "versions" | "forget">("");
  const close = () => setShown("");
  const path = withQuery(ENTRY, { title: entry.key });
  return (
    <div className="memory-actions">
      <button type="button" className="button button-small" onClick={() => setShown("correct")}>{WORDS.correct}</button>
      <button type="button" className="button button-small" onClick={() => setShown("versions")}>{WORDS.versions}</button>
      <button type="button" className="button button-small" onClick={() => setShown("forget")}>{WORDS.forget}</button>
      {shown === "correct" && (
        <TextDialog
          title={WORDS.correctTitle(entry.key)}
          hint={WORDS.correctEntryHint}
          text={entry.content}
          onClose={close}
          save={async ({ text, anyway }) => {
            await request("PUT", path, { content: text, anyway });
            changed(WORDS.corrected(entry.key));
          }}
        />
      )}
      {shown === "versions" && <Versions entry={entry} onClose={close} changed={changed} />}
      {shown === "forget" && (
        <ForgetDialog
          name={entry.key}
          onClose={close}
          forget={async () => {
            await request("DELETE", path);
            changed(WORDS.forgotten(entry.key));
            go(address("memory", "entries"));
          }}
        >
          <Consequence name={WORDS.goes}><li>{WORDS.entryGoes}</li></Consequence>
          <Consequence name={WORDS.stays}>
            {entry.turn_id && <li><TurnLink session={entry.session_id} turn={entry.turn_id} /></li>}
            <li>{WORDS.otherConversations}</li>
          </Consequence>
        </ForgetDialog>
      )}
    </div>
  );
}

/** Every version of an entry; none is lost by going back to one. */
function Versions({ entry, onClose, changed }: { entry: Entry; onClose: () => void; changed: (text: string) => void }) {
  const history = useLoad<{ versions: Version[] }>(withQuery(`${ENTRY}/history`, { title: entry.key }));
  const [trouble, setTrouble] = useState("");
  const goBack = async (version: number) => {
    try {
      await post(withQuery(`${ENTRY}/restore`, { title: entry.key }), { version });
      changed(WORDS.wentBack(entry.key, version));
      onClose();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <Dialog isOpen isWide onClose={onClose} title={`${WORDS.versions}: ${entry.key}`}>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      <Loading of={history}>
        <ul className="rows">
          {history.value?.versions.map((each) => (
            <li key={each.version}>
              <div className="memory-version">
                <b>{WORDS.version(each.version)}</b>
                <span className="quiet num">{moment(each.saved_at)}</span>
                <span className="quiet"><TurnLink session={each.session_id} turn={each.turn_id} /></span>
                {each.present ? <span className="tag"><Icon name="tick" />{WORDS.present}</span> : (
                  <button type="button" className="button button-small" aria-label={`${WORDS.goBack}: ${WORDS.version(each.version)}`} onClick={() => void goBack(each.version)}>{WORDS.goBack}</button>
                )}
              </div>
              <p className="memory-content" dir="auto">{each.content}</p>
            </li>
          ))}
        </ul>
      </Loading>
    </Dialog>
  );
}
