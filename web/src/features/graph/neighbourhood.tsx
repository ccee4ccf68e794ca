import { type KeyboardEvent, useEffect, useId, useMemo, useRef } from "react";
import { address } from "../../state/route";
import { cutAt } from "../../ui/invisible";
import { useNarrow } from "../../ui/narrow";
import { clean } from "../../ui/plain";
import { moveFocus, nextPlace } from "../../ui/tree";
import { Branches } from "./branches";
import { boxOf, type NamedNode, nameAt } from "./names";
import { layOut, type PlacedEdge, type PlacedNode, type Triple } from "./layout";
import { WORDS } from "./words";

const RADII = [8, 5, 4] as const;
const LONGEST_NAME = 26;
/** How far along a link its name stands, from its end that is nearer to the middle. */
const NAME_OF_LINK = 0.56;
/** With more things than this, the links are named in the table alone. */
const MOST_WITH_LINK_NAMES = 24;
/** Between a line and what it leads to. */
const GAP = 3;
const KEYS: Readonly<Record<string, string>> = { ArrowRight: "ArrowDown", ArrowLeft: "ArrowUp" };

/** The picture. One thing is in the tab order; arrows move along the rings. */
export function Neighbourhood({ middle, facts, links }: { middle: string; facts: readonly Triple[]; links: Readonly<Record<string, number>> }) {
  const isNarrow = useNarrow();
  const picture = useMemo(() => layOut(middle, facts, links), [middle, facts, links]);
  const nodes = useMemo(() => picture.nodes.map((node) => named(node, picture.isTurned[node.ring])), [picture]);
  const box = useMemo(() => boxOf(nodes), [nodes]);
  const frame = useRef<HTMLDivElement>(null);
  const arrow = useId();
  useEffect(() => {
    // Where the picture is wider than the screen, its middle is seen first.
    const element = frame.current;
    if (element) element.scrollTo((element.scrollWidth * -box.x) / box.width - element.clientWidth / 2, 0);
  }, [box]);
  if (isNarrow) return <Branches picture={picture} />;
  const hasLinkNames = nodes.length <= MOST_WITH_LINK_NAMES;
  return (
    <figure className="graph-picture card">
      <div className="graph-frame" ref={frame}>
        <svg
          className="graph-svg"
          viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
          width={box.width}
          role="group"
          aria-label={WORDS.picture(clean(middle))}
          onKeyDown={onKeys}
        >
          <defs>
            <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path className="graph-tip" d="M1 1 7 4 1 7" /></marker>
          </defs>
          <g aria-hidden="true">
            {picture.edges.map((edge) => <Edge key={`${edge.from.key} ${edge.to.key}`} edge={edge} arrow={arrow} isNamed={hasLinkNames} />)}
          </g>
          {nodes.map((node, at) => <Node key={node.key} node={node} isFirst={at === 0} />)}
        </svg>
      </div>
      <figcaption className="quiet">{picture.left > 0 && `${WORDS.left(picture.left)} `}{WORDS.keys}</figcaption>
    </figure>
  );
}

function onKeys(event: KeyboardEvent<SVGSVGElement>) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const elements = [...event.currentTarget.querySelectorAll<HTMLElement>(".graph-node")];
  const at = elements.findIndex((element) => element === document.activeElement);
  const to = nextPlace(KEYS[event.key] ?? event.key, at, elements.length, true);
  if (to === null) return;
  event.preventDefault();
  moveFocus(elements, to);
}

function named(node: PlacedNode, isTurned: boolean): NamedNode {
  const name = clean(node.name);
  const shown = name.length > LONGEST_NAME ? `${cutAt(name, LONGEST_NAME - 1)}…` : name;
  return { ...node, name, shown, isTurned, count: node.more > 0 ? WORDS.more(node.more) : "" };
}

function Node({ node, isFirst }: { node: NamedNode; isFirst: boolean }) {
  return (
    <a
      className={`graph-node graph-ring-${node.ring}`}
      href={address("graph", node.name)}
      tabIndex={isFirst ? 0 : -1}
      aria-label={WORDS.node(`${node.shown}${node.count}`, node.name, node.facts)}
      aria-current={isFirst ? "true" : undefined}
    >
      <title>{node.name}</title>
      <circle className="graph-touch" cx={node.x} cy={node.y} r="14" />
      <circle className="graph-dot" cx={node.x} cy={node.y} r={RADII[node.ring]} />
      <text className="graph-name" {...nameAt(node)}>{node.shown}{node.count && <tspan className="graph-more">{node.count}</tspan>}</text>
    </a>
  );
}

function Edge({ edge, arrow, isNamed }: { edge: PlacedEdge; arrow: string; isNamed: boolean }) {
  const { from, to, predicates } = edge;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const at = (node: PlacedNode, distance: number): [number, number] => [node.x + (distance * dx) / length, node.y + (distance * dy) / length];
  const [[x1, y1], [x2, y2]] = [at(from, RADII[from.ring] + GAP), at(to, -RADII[to.ring] - GAP)];
  const [mx, my] = at(from, length * (from.ring < to.ring ? NAME_OF_LINK : 1 - NAME_OF_LINK));
  const degrees = (Math.atan2(dy, dx) * 180) / Math.PI;
  const upright = degrees > 90 || degrees < -90 ? degrees + 180 : degrees;
  const isTree = from.ring !== to.ring;
  return (
    <>
      <line className="graph-edge" x1={x1} y1={y1} x2={x2} y2={y2} markerEnd={`url(#${arrow})`} />
      {isNamed && isTree && length > 90 && <text className="graph-link" x={mx} y={my - 4} textAnchor="middle" transform={`rotate(${upright.toFixed(2)} ${mx} ${my})`}>{predicates.join(", ")}</text>}
    </>
  );
}
