import { useEffect, useState } from "react";
import { turnsOf } from "../../state/reduce";
import { address, type ScreenProps } from "../../state/route";
import { openSession, useStore } from "../../state/store";
import { scoreOf, spent } from "../../turn/view";
import { Score } from "../../ui/score";
import { ScreenFrame } from "../../ui/screen";
import { Tag } from "../../ui/tag";
import { duration, moment, money } from "../../ui/time";
import { stateWord, TURN_STATES } from "../../ui/words";
import "./traces.css";
import { WORDS } from "./words";

/** The turns of a session, each with its score; one opens its trace. */
export default function Traces({ onMenu }: ScreenProps) {
  const rows = useStore((state) => state.rows) ?? [];
  const [chosen, setChosen] = useState("");
  const session = chosen || rows[0]?.id || "";
  const known = useStore((state) => state.sessions.get(session));
  useEffect(() => {
    if (session) openSession(session).catch(() => {});
  }, [session]);
  const turns = turnsOf(known).toReversed();
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      {rows.length > 0 && (
        <select className="field" aria-label={WORDS.choose} value={session} onChange={(event) => setChosen(event.target.value)}>
          {rows.map((row) => <option key={row.id} value={row.id}>{row.title || row.id}</option>)}
        </select>
      )}
      {turns.length === 0 && <p className="empty">{WORDS.empty}</p>}
      <ul className={turns.length ? "rows traces" : "traces"}>
        {turns.map((turn) => (
          <li key={turn.id}>
            <a href={address("t", turn.id)}>
              <Score {...scoreOf(turn, turn.lastAt)} width={120} />
              <span className="traces-said cut" dir="auto">{turn.said}</span>
              <Tag state={stateWord(TURN_STATES, turn.phase)} />
              <span className="num quiet">{duration(turn.milliseconds || (turn.lastAt - turn.at) * 1000)}</span>
              <span className="num quiet">{spent([turn]) ? money(spent([turn])) : ""}</span>
              <span className="num quiet">{moment(turn.at)}</span>
            </a>
          </li>
        ))}
      </ul>
    </ScreenFrame>
  );
}
