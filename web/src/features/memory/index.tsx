import { useEffect, useState } from "react";
import { address, type ScreenProps } from "../../state/route";
import { Icon } from "../../ui/icons";
import { type Loaded, useLoad } from "../../ui/load";
import { announce } from "../../ui/live";
import { ScreenFrame } from "../../ui/screen";
import { withQuery } from "../../wire/api";
import { Documents } from "./documents";
import { Entries } from "./entries";
import { Found } from "./found";
import { COLLECTIONS, type Memory, type Passage, placeOf, SORTS, type Tab, TABS } from "./kinds";
import { Lessons } from "./lessons";
import { Memories } from "./memories";
import "./memory.css";
import { WORDS } from "./words";

/** Milliseconds without a keystroke before the server is asked. */
const PAUSE = 200;
const MOST = 100;

export interface Search {
  words: string;
  memories: Loaded<{ memories: Memory[] }>;
  passages: Loaded<{ passages: Passage[]; problem: string }>;
}

/** What is remembered and saved, where it comes from, and how it is corrected and forgotten. */
export default function MemoryScreen({ route, onMenu }: ScreenProps) {
  const { tab, open } = placeOf(route.rest);
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  const [notice, setNotice] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [words]);
  const memories = useLoad<{ memories: Memory[] }>(asked ? withQuery("/api/memory/search", { words: asked, limit: MOST }) : "");
  const passages = useLoad<{ passages: Passage[]; problem: string }>(asked ? withQuery("/api/knowledge/search", { words: asked, limit: 50 }) : "");
  const search: Search = { words: asked, memories, passages };
  const tell = (text: string) => {
    setNotice(text);
    announce(text);
    if (asked) {
      memories.reload();
      passages.reload();
    }
  };
  const isSearch = asked !== "" && !open;
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      <div className="memory-search">
        <Icon name="search" />
        <input className="field" type="search" dir="auto" aria-label={WORDS.search} placeholder={WORDS.search} value={words} onChange={(event) => setWords(event.target.value)} />
      </div>
      <nav className="tabs memory-tabs" aria-label={WORDS.kinds}>
        {TABS.map((each) => {
          const hits = asked ? hitsOf(each, search) : undefined;
          return (
            <a key={each} href={address("memory", each)} aria-current={each === tab ? "page" : undefined}>
              {WORDS.tabs[each]}
              {hits !== undefined && <span className="memory-count num">{hits}<span className="sr"> {WORDS.hits(hits)}</span></span>}
            </a>
          );
        })}
      </nav>
      {notice && <p className="memory-notice"><Icon name="tick" /><span dir="auto">{notice}</span><button type="button" className="button-icon" aria-label={WORDS.close} onClick={() => setNotice("")}><Icon name="cross" /></button></p>}
      {isSearch && COLLECTIONS[tab] ? <Found tab={tab} search={search} /> : <List tab={tab} open={open} search={isSearch ? search : undefined} tell={tell} />}
    </ScreenFrame>
  );
}

function List({ tab, open, search, tell }: { tab: Tab; open: string; search: Search | undefined; tell: (text: string) => void }) {
  if (tab === "entries") return <Entries open={open} tell={tell} />;
  if (tab === "lessons") return <Lessons tell={tell} />;
  if (tab === "documents") return <Documents tell={tell} />;
  return <Memories key={tab} tab={tab} open={open} search={search} tell={tell} />;
}

function hitsOf(tab: Tab, search: Search): number | undefined {
  const sort = SORTS[tab];
  if (sort) return search.memories.value?.memories.filter((memory) => memory.sort === sort).length;
  return search.passages.value?.passages.filter((passage) => passage.collection === COLLECTIONS[tab]).length;
}
