import { memo, type UIEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { AnsiLine } from "./ansi";
import { CopyButton } from "./copy-button";
import { cutAt } from "./invisible";
import { readAnsi, type Run } from "./terminal";
import { UI } from "./words";
import "./output.css";

const PREVIEW_LINES = 12;
const LINE_HEIGHT = 20;
const LONGEST_LINE = 2_000;
/** A wrapped line has no fixed height, so that all of them are drawn: more lines are not wrapped. */
const MOST_WRAPPED = 500;
const LONGEST_WRAPPED = 40_000;
/** Lines above and below the window that are drawn too. */
const OVERSCAN = 20;
/** Of lines; the window is no higher. */
const WINDOW_LINES = 24;

export interface OutputProps {
  text: string;
  /** For a text that was clipped: its length, and how to get the whole. */
  clipped?: { characters: number; load: () => Promise<string> };
  /** What a screen reader calls it. */
  label?: string;
  /** Sentences rather than columns: lines are wrapped, not scrolled sideways. */
  isProse?: boolean;
}

/** The output of a tool: twelve lines, and all of them in a window on demand. Copy gives the whole text. */
export const Output = memo(function Output({ text, clipped, label = UI.output, isProse = false }: OutputProps) {
  const [isOpen, setOpen] = useState(false);
  const [loaded, setLoaded] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<"" | "loading" | "failed">("");
  const whole = loaded ?? text;
  const isClipped = clipped !== undefined && loaded === null;
  const lines = useMemo(() => readAnsi(whole.endsWith("\n") ? whole.slice(0, -1) : whole), [whole]);
  const wraps = isProse && lines.length <= MOST_WRAPPED;
  const isLong = lines.length > PREVIEW_LINES || isClipped;

  const loadWhole = async () => {
    if (!clipped || loaded !== null) return whole;
    const all = await clipped.load();
    setLoaded(all);
    return all;
  };
  const open = async () => {
    setTrouble("loading");
    try {
      await loadWhole();
      setOpen(true);
      setTrouble("");
    } catch {
      setTrouble("failed");
    }
  };
  if (!whole) return null;
  return (
    <div className="output">
      {isOpen && !wraps ? <Window lines={lines} label={label} /> : <Lines lines={isOpen ? lines : lines.slice(0, PREVIEW_LINES)} label={label} wraps={wraps} />}
      <div className="output-foot">
        {isLong && (
          <button type="button" className="output-more" aria-expanded={isOpen} disabled={trouble === "loading"} onClick={() => (isOpen ? setOpen(false) : void open())}>
            {isOpen ? UI.showLess : trouble === "loading" ? UI.loading : isClipped ? UI.showCharacters(clipped.characters) : UI.showLines(lines.length)}
          </button>
        )}
        {trouble === "failed" && <span className="output-trouble" role="alert">{UI.loadFailed}</span>}
        <CopyButton text={loadWhole} />
      </div>
    </div>
  );
});

/** A line that is cut, with a note on how much is missing. */
export function cutLine(runs: readonly Run[], longest = LONGEST_LINE): readonly Run[] {
  const length = runs.reduce((sum, run) => sum + run.text.length, 0);
  if (length <= longest) return runs;
  const shown: Run[] = [];
  let room = longest;
  for (const run of runs) {
    if (room <= 0) break;
    shown.push({ ...run, text: cutAt(run.text, room) });
    room -= run.text.length;
  }
  return [...shown, { text: UI.moreCharacters(length - longest), style: "output-cut" }];
}

function Lines({ lines, label, wraps }: { lines: readonly Run[][]; label: string; wraps: boolean }) {
  return (
    <div className={wraps ? "output-lines output-wrapped" : "output-lines"} role="group" aria-label={label} tabIndex={0}>
      {lines.map((runs, at) => <Line key={at} runs={runs} longest={wraps ? LONGEST_WRAPPED : LONGEST_LINE} />)}
    </div>
  );
}

const Line = memo(function Line({ runs, longest = LONGEST_LINE }: { runs: readonly Run[]; longest?: number }) {
  return <div className="output-line" dir="auto"><AnsiLine runs={cutLine(runs, longest)} /></div>;
});

/** Only the lines in view exist. All have one height, so the place of each is known. */
function Window({ lines, label }: { lines: readonly Run[][]; label: string }) {
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) setTop(firstShown(box.current.scrollTop));
  }, []);
  const from = Math.max(0, top - OVERSCAN);
  const to = Math.min(lines.length, top + WINDOW_LINES + OVERSCAN);
  const follow = (event: UIEvent<HTMLDivElement>) => setTop(firstShown(event.currentTarget.scrollTop));
  return (
    <div ref={box} className="output-lines output-window" role="group" aria-label={label} tabIndex={0} onScroll={follow}>
      <div className="output-all" style={{ height: lines.length * LINE_HEIGHT }}>
        <div className="output-shown" style={{ top: from * LINE_HEIGHT }}>
          {lines.slice(from, to).map((runs, at) => <Line key={from + at} runs={runs} />)}
        </div>
      </div>
    </div>
  );
}

/** In steps of ten lines, so that scrolling draws seldom. */
function firstShown(scrollTop: number): number {
  return Math.floor(scrollTop / LINE_HEIGHT / 10) * 10;
}
