import { useEffect, useMemo, useRef, useState } from "react";
import { address, type ScreenProps } from "../../state/route";
import { openTurn, useStore } from "../../state/store";
import type { Turn } from "../../state/turn";
import { useNow } from "../../turn/now";
import { isOver } from "../../turn/view";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf } from "../../ui/load";
import { Mark } from "../../ui/mark";
import { useNarrow } from "../../ui/narrow";
import { ScreenFrame } from "../../ui/screen";
import { Tag } from "../../ui/tag";
import { count, duration, money } from "../../ui/time";
import { rowKeys } from "../../ui/tree";
import { ApiError } from "../../wire/api";
import { RowDetail } from "./detail";
import { landmarks, type TraceRow, traceRows } from "./rows";
import { Saw } from "./saw";
import "./trace.css";
import { WORDS } from "./words";

export default function Trace({ route, onMenu }: ScreenProps) {
  const [id = "", what, seq] = route.rest;
  const turn = useStore((state) => findTurn(state.sessions, id));
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    openTurn(id).catch((problem: unknown) => setError(problem instanceof ApiError ? problem : new ApiError(0, "unknown", troubleOf(problem))));
  }, [id]);
  const title = turn ? `${WORDS.turn(turn.number)}: ${turn.said}` : WORDS.title;
  return (
    <ScreenFrame title={title} onMenu={onMenu} isWide actions={turn && <a className="button button-small" href={what ? address("t", turn.id) : address("s", turn.session, turn.id)}>{what ? WORDS.title : WORDS.conversation}</a>}>
      <Loading of={{ value: turn, error }}>
        {turn && (what === "saw" && seq ? <Saw turn={turn} seq={Number(seq)} /> : <Waterfall turn={turn} />)}
      </Loading>
    </ScreenFrame>
  );
}

function findTurn(sessions: ReadonlyMap<string, { recorded: ReadonlyMap<string, { turn: Turn }> }>, id: string): Turn | undefined {
  for (const session of sessions.values()) {
    const found = session.recorded.get(id);
    if (found) return found.turn;
  }
  return undefined;
}

/** Tree and waterfall as one table. */
function Waterfall({ turn }: { turn: Turn }) {
  const now = useNow(!isOver(turn));
  const rows = useMemo(() => traceRows(turn, now), [turn, now]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const table = useRef<HTMLTableElement>(null);
  const marks = landmarks(rows);
  const span: Span = [turn.at, Math.max(...rows.map((row) => row.end), turn.at + 0.001)];
  const toggle = (id: string) => setOpen(open.has(id) ? new Set([...open].filter((each) => each !== id)) : new Set([...open, id]));
  const jump = (row: TraceRow) => {
    setOpen(new Set([...open, row.id]));
    const found = table.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(row.id)}"]`);
    found?.scrollIntoView({ block: "center" });
    found?.focus();
  };
  return (
    <>
      <p className="trace-jumps">
        {(["slowest", "dearest", "failed"] as const).map((which) => {
          const row = marks[which];
          return <button type="button" className="button button-small" key={which} disabled={!row} onClick={() => row && jump(row)}>{WORDS[which]}</button>;
        })}
      </p>
      <div className="facts-frame">
        <table className="trace" ref={table} onKeyDown={(event) => rowKeys(event, ".trace-open")}>
          <thead><tr><th scope="col">{WORDS.name}</th><th scope="col" className="trace-when">{WORDS.time}</th><th scope="col" className="num">{WORDS.took}</th><th scope="col" className="num">{WORDS.price}</th></tr></thead>
          <tbody>{rows.map((row) => <Row key={row.id} row={row} span={span} turn={turn} isOpen={open.has(row.id)} onToggle={() => toggle(row.id)} />)}</tbody>
        </table>
      </div>
    </>
  );
}

type Span = readonly [number, number];

function Row({ row, span, turn, isOpen, onToggle }: { row: TraceRow; span: Span; turn: Turn; isOpen: boolean; onToggle: () => void }) {
  // On a phone there is no column of bars.
  const isNarrow = useNarrow();
  const waited = row.waits.reduce((sum, [from, until]) => sum + until - from, 0);
  return (
    <>
      <tr className={`trace-row trace-${row.kind}`}>
        <th scope="row">
          <button type="button" className="trace-open" data-id={row.id} aria-expanded={isOpen} style={{ paddingInlineStart: 8 + row.level * 20 }} onClick={onToggle}>
            <Icon name={isOpen ? "down" : "right"} />
            {row.kind === "agent" && <Mark agent={row.agent} small />}
            <span className={row.kind === "tool" ? "cut mono" : "cut"} dir="auto">{row.kind === "model" ? <>{WORDS.modelCall} <span className="quiet">{row.name}</span></> : row.name}</span>
            {row.state && (row.isFailed || row.state.tone !== "") && <Tag state={row.state} />}
          </button>
        </th>
        <td className="trace-when"><Bar row={row} span={span} /></td>
        <td className="num">{waited && row.kind !== "agent" ? "" : duration((row.end - row.start - waited) * 1000)}</td>
        <td className="num">{row.nanoDollars ? money(row.nanoDollars) : row.tokens ? <span className="quiet">{WORDS.tokensOf(count(row.tokens))}</span> : ""}</td>
      </tr>
      {isOpen && <tr><td colSpan={isNarrow ? 3 : 4} className="trace-detail"><RowDetail row={row} turn={turn} /></td></tr>}
    </>
  );
}

function Bar({ row, span }: { row: TraceRow; span: Span }) {
  const at = (moment: number) => (100 * (moment - span[0])) / (span[1] - span[0]);
  const place = (from: number, until: number) => ({ insetInlineStart: `${at(from)}%`, width: `max(2px, ${at(until) - at(from)}%)` });
  const kind = ["orchestrator", "operator", "navigator", "vault", "librarian", "planner", "chronicler"].includes(row.agent) ? row.agent : "remote";
  return (
    <span className={`trace-bars agent-${kind}`} aria-hidden="true">
      {row.waits.length === 0 || row.kind === "agent" ? <span className="trace-bar" style={place(row.start, row.end)} /> : null}
      {row.waits.map(([from, until]) => <span key={from} className="trace-bar trace-wait" style={place(from, until)} />)}
    </span>
  );
}
