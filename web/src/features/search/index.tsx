import { useEffect, useRef, useState } from "react";
import { address, go, type ScreenProps } from "../../state/route";
import { useStore } from "../../state/store";
import { Icon } from "../../ui/icons";
import { Loading, useLoad } from "../../ui/load";
import { ScreenFrame } from "../../ui/screen";
import { moment } from "../../ui/time";
import { rowKeys } from "../../ui/tree";
import { withQuery } from "../../wire/api";
import { around } from "./excerpt";
import "./search.css";
import { COMMANDS, WORDS } from "./words";

interface Found {
  session: string;
  title: string;
  turn: string;
  at: number;
  asked: string;
  answered: string;
}

/** Milliseconds without a keystroke before the server is asked. */
const PAUSE = 150;

/** Sessions by title, commands by name, and every message by its words. */
export default function Search({ route, onMenu }: ScreenProps) {
  const [words, setWords] = useState(route.query.get("q") ?? "");
  const [asked, setAsked] = useState(words);
  const field = useRef<HTMLInputElement>(null);
  const rows = useStore((state) => state.rows) ?? [];
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [words]);
  const found = useLoad<{ found: Found[] }>(asked ? withQuery("/api/search", { words: asked, limit: 50 }) : "");
  const plain = asked.toLocaleLowerCase();
  const sessions = plain ? rows.filter((row) => row.title.toLocaleLowerCase().includes(plain)).slice(0, 8) : [];
  const commands = COMMANDS.filter(([name]) => !plain || name.toLocaleLowerCase().includes(plain));
  const first = () => {
    const hit = found.value?.found[0];
    if (hit) go(address("s", hit.session, hit.turn));
    else if (sessions[0]) go(address("s", sessions[0].id));
  };
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      <div className="search-field">
        <Icon name="search" />
        <input
          ref={field}
          className="field"
          type="search"
          dir="auto"
          aria-label={WORDS.label}
          placeholder={WORDS.label}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Enter") first();
            if (event.key !== "ArrowDown") return;
            event.preventDefault();
            document.querySelector<HTMLElement>(".search-row")?.focus();
          }}
        />
      </div>
      <div onKeyDown={(event) => rowKeys(event, ".search-row")}>
        {sessions.length > 0 && <h2>{WORDS.sessions}</h2>}
        {sessions.map((row) => <a className="search-row" key={row.id} href={address("s", row.id)} dir="auto">{row.title}</a>)}
        {asked && (
          <>
            <h2>{WORDS.messages}</h2>
            <Loading of={found}>
              {found.value?.found.length === 0 && <p className="empty">{WORDS.nothing(asked)}</p>}
              {found.value?.found.map((hit) => (
                <a className="search-row" key={hit.turn} href={address("s", hit.session, hit.turn)}>
                  <span className="search-title"><b dir="auto">{hit.title || hit.session}</b><span className="quiet num">{moment(hit.at)}</span></span>
                  <span className="search-text" dir="auto"><Marked text={around(hit.asked, asked)} words={asked} /></span>
                  <span className="search-text quiet" dir="auto"><Marked text={around(hit.answered, asked)} words={asked} /></span>
                </a>
              ))}
            </Loading>
          </>
        )}
        {commands.length > 0 && <h2>{WORDS.commands}</h2>}
        {commands.map(([name, to]) => <a className="search-row" key={name} href={to}>{name}</a>)}
      </div>
    </ScreenFrame>
  );
}

/** The text with the searched words marked. */
function Marked({ text, words }: { text: string; words: string }) {
  const wanted = words.split(/\s+/).filter((word) => word.length > 1).map((word) => word.toLocaleLowerCase());
  const lower = text.toLocaleLowerCase();
  const parts: React.ReactNode[] = [];
  let at = 0;
  while (at < text.length) {
    const hits = wanted.map((word) => ({ word, start: lower.indexOf(word, at) })).filter((hit) => hit.start >= 0);
    const next = hits.toSorted((a, b) => a.start - b.start)[0];
    if (!next) break;
    parts.push(text.slice(at, next.start), <mark key={next.start}>{text.slice(next.start, next.start + next.word.length)}</mark>);
    at = next.start + next.word.length;
  }
  return [...parts, text.slice(at)];
}
