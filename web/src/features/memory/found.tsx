import { address } from "../../state/route";
import { Loading } from "../../ui/load";
import { date } from "../../ui/time";
import type { Search } from "./index";
import { COLLECTIONS, type Tab } from "./kinds";
import { labelWords } from "./origin";
import { WORDS } from "./words";

/** Passages of entries, lessons or documents that were found by their words or their meaning. */
export function Found({ tab, search }: { tab: Tab; search: Search }) {
  const found = (search.passages.value?.passages ?? []).filter((passage) => passage.collection === COLLECTIONS[tab]);
  return (
    <Loading of={search.passages} lines={6}>
      {search.passages.value?.problem && <p className="quiet memory-note">{WORDS.byWordsAlone(search.passages.value.problem)}</p>}
      {found.length === 0 ? <p className="empty">{WORDS.nothing(search.words)}</p> : (
        <ul className="rows memory-rows">
          {found.map((passage) => (
            <li className="memory-row" key={`${passage.source} ${passage.text}`}>
              {tab === "entries" ? <a className="memory-title" href={address("memory", tab, passage.source)} dir="auto">{passage.title}</a> : <p className="memory-title" dir="auto">{passage.title}</p>}
              <p className="memory-passage" dir="auto">{passage.text}</p>
              <p className="memory-facts">
                {labelWords(passage.label).map((word) => <span key={word}>{word}</span>)}
                <span>{date(passage.created_at)}</span>
                {tab === "documents" && <span dir="auto">{passage.source}</span>}
                <span dir="auto">{passage.why}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Loading>
  );
}
