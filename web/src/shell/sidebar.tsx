import { useEffect, useState } from "react";
import { address, type Route } from "../state/route";
import { type SessionRow, useStore } from "../state/store";
import { Icon, type IconName } from "../ui/icons";
import { Tag } from "../ui/tag";
import { dayGroup, stopwatch } from "../ui/time";
import { stateWord, TURN_STATES } from "../ui/words";
import { useNow } from "../turn/now";
import { get } from "../wire/api";
import { WORDS } from "./words";

const SCREENS: readonly (readonly [screen: string, word: string, icon: IconName, key?: string])[] = [
  ["search", WORDS.search, "search", "Ctrl K"],
  ["inbox", WORDS.inbox, "inbox"],
  ["agents", WORDS.agents, "agents"],
  ["traces", WORDS.traces, "trace"],
  ["memory", WORDS.memory, "recall"],
  ["graph", WORDS.graph, "graph"],
];

export function Sidebar({ route, onHide }: { route: Route; onHide: () => void }) {
  const waiting = useStore((state) => state.waiting.length);
  return (
    <nav className="side" aria-label={WORDS.name}>
      <div className="side-brand">
        <Logo />{WORDS.name}
        <button type="button" className="button-icon" aria-label={WORDS.hide} onClick={onHide}><Icon name="fold" /></button>
      </div>
      <a className="side-new" href={address("new")}><Icon name="plus" />{WORDS.newSession}<kbd>Ctrl ⇧ O</kbd></a>
      <div className="side-screens">
        {SCREENS.map(([screen, word, icon, key]) => (
          <a key={screen} href={address(screen)} aria-current={route.screen === screen ? "page" : undefined}>
            <Icon name={icon} />{word}
            {key && <kbd>{key}</kbd>}
            {screen === "inbox" && waiting > 0 && <span className="side-count" aria-label={WORDS.questionsWait(waiting)}>{waiting}</span>}
          </a>
        ))}
      </div>
      <Sessions current={route.screen === "s" ? route.rest[0] : undefined} />
      <Foot />
    </nav>
  );
}

function Sessions({ current }: { current: string | undefined }) {
  const rows = useStore((state) => state.rows) ?? [];
  const now = useNow(rows.some((row) => row.state === "running"), 1000);
  const groups = new Map<string, SessionRow[]>();
  for (const row of rows) {
    const group = dayGroup(row.updated_at);
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  return (
    <div className="side-sessions" aria-label={WORDS.sessions}>
      {[...groups].map(([day, group]) => (
        <section key={day}>
          <h2>{day}</h2>
          {group.map((row) => (
            <a key={row.id} href={address("s", row.id)} aria-current={row.id === current ? "page" : undefined}>
              <span className="cut" dir="auto">{row.title || row.id}</span>
              <RowState row={row} now={now} />
            </a>
          ))}
        </section>
      ))}
    </div>
  );
}

function RowState({ row, now }: { row: SessionRow; now: number }) {
  if (row.cut_off) return <Tag state={{ ...TURN_STATES.cut_off, word: WORDS.cutOff }} />;
  if (row.state === "paused") return <Tag state={{ ...TURN_STATES.paused, word: WORDS.waits }} />;
  if (row.state === "failed") return <Tag state={stateWord(TURN_STATES, "failed")} />;
  if (row.state === "running") return <span className="tag num">{WORDS.works} {stopwatch((now - row.since) * 1000)}</span>;
  return row.state === "queued" ? <span className="tag">{WORDS.queued}</span> : null;
}

function Foot() {
  const [facts, setFacts] = useState<{ provider: string; model: string }>();
  const status = useStore((state) => state.status);
  useEffect(() => {
    if (status === "open") get<{ provider: string; model: string }>("/api/models").then(setFacts, () => {});
  }, [status]);
  const isBuiltIn = facts?.provider === "offline";
  return (
    <div className="side-foot">
      <a href={address("settings", "model")}>
        <span className="cut">{isBuiltIn ? WORDS.builtIn : facts?.model}</span>
        <small className="cut">{isBuiltIn ? "" : facts?.provider}</small>
      </a>
      <a className="button-icon" href={address("settings")} aria-label={WORDS.settings}><Icon name="gear" /></a>
    </div>
  );
}

function Logo() {
  const bars = [["operator", 0, 14], ["navigator", 4, 16], ["vault", 2, 9], ["librarian", 0, 20], ["planner", 6, 11], ["chronicler", 3, 16]] as const;
  return (
    <svg width="22" height="20" viewBox="0 0 22 20" aria-hidden="true">
      {bars.map(([agent, x, width], at) => <rect key={agent} x={x} y={1 + at * 3.3} width={width} height="1.9" rx=".9" fill={`var(--${agent})`} />)}
    </svg>
  );
}
