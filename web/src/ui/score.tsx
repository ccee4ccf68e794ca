import { Icon } from "./icons";
import { look, SPECIALISTS } from "./mark";
import { duration } from "./time";
import { OUTCOMES, stateWord } from "./words";
import "./score.css";

/** The work of one delegation. Times are seconds; `end` is null while it goes on, and so is that of its last wait. */
export interface Bar {
  agent: string;
  start: number;
  end: number | null;
  /** As in `delegation_finished`; empty while it goes on. */
  outcome: string;
  waits: readonly (readonly [start: number, end: number | null])[];
}

export interface ScoreProps {
  bars: readonly Bar[];
  /** The moments of the orchestrator's decisions. */
  barlines: readonly number[];
  /** The first and last moment on the score. */
  span: readonly [number, number];
  width: number;
  /** Without it, the lines have the distance of the design. */
  height?: number;
  /** The agents' glyphs at the left, as in the rail. */
  glyphs?: boolean;
}

const GLYPH_COLUMN = 20;
const STRIPE = { width: 3, distance: 5 };

interface Scale {
  left: number;
  thickness: number;
  x: (moment: number) => number;
  y: (lane: number) => number;
  lanes: readonly string[];
  height: number;
}

function scaleOf({ bars, span, width, height, glyphs = false }: ScoreProps): Scale {
  const isRemote = bars.some((bar) => look(bar.agent) === "remote");
  const lanes = isRemote ? [...SPECIALISTS, "remote"] : SPECIALISTS;
  const [margin, distance] = glyphs ? [6, 14] : [2.75, 4.3];
  const full = height ?? 2 * margin + distance * (lanes.length - 1);
  const step = (full - 2 * margin) / (lanes.length - 1);
  const left = glyphs ? GLYPH_COLUMN : 0;
  const [from, to] = span;
  const perSecond = to > from ? (width - left) / (to - from) : 0;
  const x = (moment: number) => left + Math.min(Math.max(moment - from, 0), Math.max(to - from, 0)) * perSecond;
  return { left, thickness: glyphs ? 8 : 4.5, x, y: (lane) => margin + step * lane, lanes, height: full };
}

/** Who worked when: a staff line for each specialist, a bar for its work, a barline for each decision, stripes for waiting. */
export function Score(props: ScoreProps) {
  const scale = scaleOf(props);
  const { bars, barlines, width, glyphs = false } = props;
  const [top, bottom] = [scale.y(0), scale.y(scale.lanes.length - 1)];
  const busy = new Set(bars.map((bar) => look(bar.agent) as string));
  return (
    <svg className="score" viewBox={`0 0 ${width} ${round(scale.height)}`} width={width} height={round(scale.height)} role="img" aria-label={scoreSentence(bars)}>
      {scale.lanes.map((lane, at) => (
        <g key={lane} className={`agent-${lane}`}>
          <line className="score-line" x1={scale.left} x2={width} y1={round(scale.y(at))} y2={round(scale.y(at))} />
          {glyphs && (
            <svg className={busy.has(lane) ? "score-glyph" : "score-glyph score-idle"} x="0" y={round(scale.y(at) - 6)} width="12" height="12" viewBox="0 0 16 16">
              <Icon name={look(lane)} />
            </svg>
          )}
        </g>
      ))}
      {barlines.map((moment, at) => (
        <line key={at} className="score-barline" x1={round(scale.x(moment))} x2={round(scale.x(moment))} y1={round(top)} y2={round(bottom)} />
      ))}
      {bars.map((bar, at) => (
        <BarOf key={at} bar={bar} scale={scale} until={props.span[1]} />
      ))}
    </svg>
  );
}

function BarOf({ bar, scale, until }: { bar: Bar; scale: Scale; until: number }) {
  const lane = look(bar.agent);
  const middle = scale.y(scale.lanes.indexOf(lane));
  const top = round(middle - scale.thickness / 2);
  const end = bar.end ?? until;
  const hasFailed = bar.outcome !== "" && bar.outcome !== "ok" && bar.outcome !== "paused";
  return (
    <g className={`agent-${lane}`}>
      {workOf(bar, end).map(([from, to], at) => (
        <rect key={at} className="score-work" x={round(scale.x(from))} y={top} width={round(Math.max(1.5, scale.x(to) - scale.x(from) - 0.8))} height={scale.thickness} rx="2" />
      ))}
      {bar.waits.flatMap(([from, to], at) =>
        stripesOf(scale.x(from), scale.x(to ?? end)).map(([x, width]) => (
          <rect key={`${at} ${x}`} className="score-wait" x={x} y={top} width={width} height={scale.thickness} />
        )),
      )}
      {hasFailed && <path className="score-cross" d={`M${round(scale.x(end) + 2.2)} ${round(middle - 2.5)}l5 5m0-5l-5 5`} />}
    </g>
  );
}

/** The spans of a delegation between its waits. */
export function workOf(bar: Bar, end: number): [number, number][] {
  const spans: [number, number][] = [];
  let from = bar.start;
  for (const [start, until] of bar.waits) {
    if (start > from) spans.push([from, start]);
    from = Math.max(from, until ?? end);
  }
  if (end > from || !spans.length) spans.push([from, end]);
  return spans;
}

function stripesOf(from: number, to: number): [number, number][] {
  const stripes: [number, number][] = [];
  for (let x = from + 1; x < to - 0.5; x += STRIPE.distance) {
    stripes.push([round(x), round(Math.min(STRIPE.width, to - x))]);
  }
  return stripes;
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

/** The score in words: `navigator and librarian at once, then planner, which declined`. */
export function scoreSentence(bars: readonly Bar[]): string {
  const [only] = bars;
  if (!only) return "No specialist has worked yet";
  if (bars.length === 1 && only.outcome === "ok" && only.end !== null) {
    return `${only.agent} worked for ${duration((only.end - only.start) * 1000)}`;
  }
  const groups: { names: string[]; end: number }[] = [];
  for (const bar of bars.toSorted((one, other) => one.start - other.start)) {
    const end = bar.end ?? Number.POSITIVE_INFINITY;
    const last = groups.at(-1);
    if (last && bar.start < last.end) {
      last.names.push(phrase(bar));
      last.end = Math.max(last.end, end);
    } else {
      groups.push({ names: [phrase(bar)], end });
    }
  }
  return groups.map(({ names }) => (names.length > 1 ? `${listed(names)} at once` : names[0])).join(", then ");
}

function phrase(bar: Bar): string {
  const isWaiting = bar.waits.at(-1)?.[1] === null;
  if (isWaiting) return `${bar.agent}, which ${OUTCOMES.paused.word}`;
  if (bar.outcome === "" || bar.end === null) return `${bar.agent}, which works`;
  return bar.outcome === "ok" ? bar.agent : `${bar.agent}, which ${stateWord(OUTCOMES, bar.outcome).word}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
