import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { openOlder } from "../../state/store";
import type { Turn } from "../../state/turn";
import { Icon } from "../../ui/icons";
import { WORDS } from "./words";

const TURNS_A_PAGE = 20;
const MOUNTED_PAGES = 5;
/** Pixels from the end within which new text is followed. */
const NEAR_END = 64;

interface LogProps {
  session: string;
  turns: readonly Turn[];
  isComplete: boolean;
  draw: (turn: Turn) => ReactNode;
  /** What follows the last turn, such as messages on their way. */
  children: ReactNode;
  /** Changes when the person sent something: the end is shown. */
  sentAt: number;
  /** A turn to go to, by its id; once. */
  wanted: string | undefined;
}

interface Page {
  number: number;
  turns: readonly Turn[];
}

/**
 * The conversation. Pages of twenty turns are mounted around what is visible; the others are spacers of the height that
 * they had. What a person reads stays where it is: after each drawing the first visible turn is put back to its place.
 */
export function Log({ session, turns, isComplete, draw, children, sentAt, wanted }: LogProps) {
  const log = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<number, number>());
  const anchor = useRef<Anchor | undefined>(undefined);
  const follows = useRef(true);
  const reached = useRef("");
  const [isAway, setAway] = useState(false);
  const pages = useMemo(() => pagesOf(turns), [turns]);
  const last = pages.at(-1)?.number ?? 0;
  const [centre, setCentre] = useState<number | undefined>();
  const mounted = mountedPages(pages, centre ?? last);

  const remember = useCallback(() => {
    const box = log.current;
    if (!box) return;
    anchor.current = firstSeen(box);
  }, []);

  const toEnd = useCallback(() => {
    const box = log.current;
    if (box) box.scrollTop = box.scrollHeight;
    follows.current = true;
    setAway(false);
  }, []);

  useLayoutEffect(() => {
    const box = log.current;
    if (!box) return;
    for (const each of box.querySelectorAll<HTMLElement>("[data-page]")) {
      heights.current.set(Number(each.dataset["page"]), each.offsetHeight);
    }
    if (follows.current) {
      box.scrollTop = box.scrollHeight;
    } else if (anchor.current) {
      const { block, top, turn, turnTop } = anchor.current;
      const known = block.isConnected ? block : box.querySelector<HTMLElement>(`[data-turn="${CSS.escape(turn)}"]`);
      const moved = known && placeIn(box, known) - (known === block ? top : turnTop);
      if (moved) box.scrollTop += moved;
    }
    remember();
  });
  useLayoutEffect(() => {
    const turn = wanted && reached.current !== wanted ? turns.find((each) => each.id === wanted) : undefined;
    if (!turn) return;
    follows.current = false;
    if (!mounted.has(pageOf(turn))) {
      setCentre(pageOf(turn));
      return;
    }
    reached.current = turn.id;
    log.current?.querySelector(`[data-turn="${CSS.escape(turn.id)}"]`)?.scrollIntoView({ block: "start" });
    remember();
  }, [wanted, turns, mounted, remember]);
  useEffect(() => {
    if (sentAt) toEnd();
  }, [sentAt, toEnd]);
  useFollowGrowth(log, follows);
  useStopFollowing(log, follows, anchor);

  const onScroll = () => {
    const box = log.current;
    if (!box) return;
    const fromEnd = box.scrollHeight - box.scrollTop - box.clientHeight;
    follows.current = fromEnd < NEAR_END;
    setAway(fromEnd >= NEAR_END);
    remember();
    const middle = pageAt(box, pages, heights.current);
    if (middle !== undefined && middle !== centre) setCentre(follows.current ? undefined : middle);
    if (box.scrollTop < 800 && !isComplete) void openOlder(session);
  };
  return (
    <div className="log-frame">
      <div className="log" ref={log} role="log" aria-live="off" aria-label={WORDS.conversation} tabIndex={0} onScroll={onScroll}>
        <div className="log-content">
          {!isComplete && turns.length > 0 && <p className="turn-quiet log-older">{WORDS.older}</p>}
          {pages.map((page) =>
            mounted.has(page.number) ? (
              <div key={page.number} data-page={page.number}>{page.turns.map(draw)}</div>
            ) : (
              <div key={page.number} data-space={page.number} style={{ height: heights.current.get(page.number) ?? 0 }} />
            ),
          )}
          {children}
        </div>
      </div>
      {isAway && (
        <button type="button" className="button button-small log-newest" onClick={toEnd}>
          {WORDS.newest}<Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** What a person reads: a block, and the turn that it belongs to, with their places. */
interface Anchor {
  block: HTMLElement;
  top: number;
  turn: string;
  turnTop: number;
}

function firstSeen(box: HTMLElement): Anchor | undefined {
  const isSeen = (each: HTMLElement) => placeIn(box, each) + each.offsetHeight > 0;
  const turn = [...box.querySelectorAll<HTMLElement>("[data-turn]")].find(isSeen);
  if (!turn) return undefined;
  const blocks = [...turn.querySelectorAll<HTMLElement>(":scope > :not(.turn-answer), .turn-answer .md > *")];
  const block = blocks.find((each) => placeIn(box, each) >= 0 && placeIn(box, each) < box.clientHeight) ?? blocks.findLast(isSeen) ?? turn;
  return { block, top: placeIn(box, block), turn: turn.dataset["turn"] ?? "", turnTop: placeIn(box, turn) };
}

function placeIn(box: HTMLElement, element: HTMLElement): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top;
}

function pageOf(turn: Turn): number {
  return Math.floor((turn.number - 1) / TURNS_A_PAGE);
}

function pagesOf(turns: readonly Turn[]): Page[] {
  const pages = new Map<number, Turn[]>();
  for (const turn of turns) {
    const number = pageOf(turn);
    const page = pages.get(number);
    if (page) page.push(turn);
    else pages.set(number, [turn]);
  }
  return [...pages].map(([number, own]) => ({ number, turns: own })).toSorted((a, b) => a.number - b.number);
}

/** The pages around the one that is read, and always the last, which grows. */
function mountedPages(pages: readonly Page[], centre: number): ReadonlySet<number> {
  const near = pages.map((page) => page.number).toSorted((a, b) => Math.abs(a - centre) - Math.abs(b - centre));
  const last = pages.at(-1)?.number;
  return new Set([...near.slice(0, MOUNTED_PAGES - 1), ...(last === undefined ? [] : [last])]);
}

/** The page at the middle of what is visible. */
function pageAt(box: HTMLElement, pages: readonly Page[], heights: ReadonlyMap<number, number>): number | undefined {
  const middle = box.scrollTop + box.clientHeight / 2;
  let top = 0;
  for (const page of pages) {
    top += heights.get(page.number) ?? 0;
    if (top > middle) return page.number;
  }
  return pages.at(-1)?.number;
}

/** Follow what grows without a drawing of this part: text that streams, a card that opens. */
function useFollowGrowth(log: React.RefObject<HTMLDivElement | null>, follows: React.RefObject<boolean>): void {
  useEffect(() => {
    const box = log.current;
    if (!box?.firstElementChild) return undefined;
    const observer = new ResizeObserver(() => {
      if (follows.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box.firstElementChild);
    observer.observe(box);
    return () => observer.disconnect();
  }, [log, follows]);
}

/** Selecting text, opening a part, focusing above or going upwards by wheel or key means reading: the end is no longer followed. */
function useStopFollowing(log: React.RefObject<HTMLDivElement | null>, follows: React.RefObject<boolean>, anchor: React.RefObject<Anchor | undefined>): void {
  useEffect(() => {
    const box = log.current;
    if (!box) return undefined;
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && box.scrollHeight > box.clientHeight) follows.current = false;
    };
    const onSelect = () => {
      const selection = getSelection();
      if (selection && !selection.isCollapsed && box.contains(selection.anchorNode)) follows.current = false;
    };
    // The browser scrolls to what gets the focus: going back to the end, or to what was read before, would hide it.
    const onFocus = (event: FocusEvent) => {
      if (!(event.target instanceof HTMLElement) || event.target === box) return;
      const isAboveTheEnd = box.scrollTop + placeIn(box, event.target) < box.scrollHeight - box.clientHeight;
      if (!isAboveTheEnd) return;
      follows.current = false;
      anchor.current = undefined;
    };
    box.addEventListener("wheel", onWheel, { passive: true });
    box.addEventListener("focusin", onFocus);
    document.addEventListener("selectionchange", onSelect);
    return () => {
      box.removeEventListener("wheel", onWheel);
      box.removeEventListener("focusin", onFocus);
      document.removeEventListener("selectionchange", onSelect);
    };
  }, [log, follows, anchor]);
}
