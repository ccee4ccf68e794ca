/** Where the things of a neighbourhood stand: two rings around the middle. The same facts give the same picture. */

export interface Triple {
  subject: string;
  predicate: string;
  object: string;
}

export interface PlacedNode {
  key: string;
  name: string;
  ring: 0 | 1 | 2;
  x: number;
  y: number;
  /** From the middle, in radians; 0 is to the right. */
  angle: number;
  /** All of its facts, drawn or not. */
  facts: number;
  /** Those of its facts that are not drawn. */
  more: number;
}

export interface PlacedEdge {
  from: PlacedNode;
  to: PlacedNode;
  predicates: string[];
}

export interface Picture {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  /** Things within two steps that are not drawn. */
  left: number;
  /** Whether the names of a ring follow its spokes, for they would cover each other otherwise. */
  isTurned: readonly [boolean, boolean, boolean];
}

export const MOST_NODES = 60;
const FEWEST_OF_FIRST_RING = 20;
const FIRST_RADIUS = { least: 150, most: 260 };
const BETWEEN_RINGS = 140;
/** Pixels of a ring that a name needs when it follows its spoke. */
const LINE = 18;
/** Pixels between two things of a ring below which level names would cover each other. */
const LEVEL_ROOM = 70;

/** Equal for every spelling of a name, as in the server. */
export function nodeKey(name: string): string {
  return name.split(/\s+/).filter(Boolean).join(" ").normalize("NFKC").toLowerCase();
}

interface Neighbours {
  names: Map<string, string>;
  around: Map<string, Set<string>>;
}

export function layOut(middle: string, facts: readonly Triple[], links: Readonly<Record<string, number>> = {}, most = MOST_NODES): Picture {
  const graph = read(middle, facts);
  const totals = new Map(Object.entries(links).map(([name, number]) => [nodeKey(name), number]));
  const start = nodeKey(middle);
  const weigh = (key: string) => totals.get(key) ?? graph.around.get(key)?.size ?? 0;
  const heaviest = (a: string, b: string) => weigh(b) - weigh(a) || order(a, b);
  const first = [...(graph.around.get(start) ?? [])].toSorted(heaviest);
  const second = secondRing(graph, start, first);
  const room = Math.max(0, most - 1);
  const kept = first.slice(0, Math.min(room, Math.max(FEWEST_OF_FIRST_RING, room - second.size))).toSorted(order);
  const children = deal(graph, kept, second, room - kept.length, heaviest);
  const nodes = place(start, kept, children);
  const drawn = new Map<string, PlacedNode>();
  for (const node of nodes) drawn.set(node.key, { ...node, name: graph.names.get(node.key) ?? node.key, facts: weigh(node.key), more: 0 });
  const edges = join(facts, drawn);
  for (const node of drawn.values()) node.more = Math.max(0, node.facts - shownOf(node, facts, drawn));
  return {
    nodes: [...drawn.values()],
    edges,
    left: first.length + second.size + 1 - drawn.size,
    isTurned: [false, isCrowded(nodes, 1), isCrowded(nodes, 2)],
  };
}

/** Whether two things of a ring, which is in the order of its angles, stand close to each other. */
function isCrowded(nodes: readonly Placed[], ring: 1 | 2): boolean {
  const own = nodes.filter((node) => node.ring === ring);
  return own.length > 1 && own.some((node, index) => {
    const next = own[(index + 1) % own.length] ?? node;
    return Math.hypot(next.x - node.x, next.y - node.y) < LEVEL_ROOM;
  });
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Who stands beside whom. Of several spellings of a name the first in the alphabet is shown. */
function read(middle: string, facts: readonly Triple[]): Neighbours {
  const names = new Map<string, string>();
  const around = new Map<string, Set<string>>();
  const meet = (name: string) => {
    const key = nodeKey(name);
    const known = names.get(key);
    if (known === undefined || order(name, known) < 0) names.set(key, name);
    if (!around.has(key)) around.set(key, new Set());
    return key;
  };
  for (const { subject, object } of facts) {
    const [from, to] = [meet(subject), meet(object)];
    if (from === to) continue;
    around.get(from)?.add(to);
    around.get(to)?.add(from);
  }
  if (!names.has(nodeKey(middle))) names.set(nodeKey(middle), middle);
  return { names, around };
}

function secondRing({ around }: Neighbours, start: string, first: readonly string[]): Set<string> {
  const near = new Set([start, ...first]);
  return new Set(first.flatMap((key) => [...(around.get(key) ?? [])]).filter((key) => !near.has(key)));
}

/** The things of the second ring under the first neighbour that knows them, in turn, so that each neighbour gets some. */
function deal(graph: Neighbours, kept: readonly string[], second: ReadonlySet<string>, room: number, heaviest: (a: string, b: string) => number): Map<string, string[]> {
  const waiting = new Map<string, string[]>(kept.map((key) => [key, []]));
  for (const child of [...second].toSorted(heaviest)) {
    const parent = kept.find((key) => graph.around.get(key)?.has(child));
    if (parent !== undefined) waiting.get(parent)?.push(child);
  }
  const dealt = new Map<string, string[]>(kept.map((key) => [key, []]));
  let free = room;
  for (let round = 0; free > 0; round += 1) {
    const takers = kept.filter((key) => (waiting.get(key)?.length ?? 0) > round);
    if (!takers.length) break;
    for (const key of takers.slice(0, free)) dealt.get(key)?.push(waiting.get(key)?.[round] ?? "");
    free -= takers.length;
  }
  for (const children of dealt.values()) children.sort(order);
  return dealt;
}

type Placed = Pick<PlacedNode, "key" | "ring" | "x" | "y" | "angle">;

/** Each neighbour gets a sector as wide as its part of the second ring asks for. */
function place(start: string, kept: readonly string[], children: ReadonlyMap<string, readonly string[]>): Placed[] {
  const share = (key: string) => Math.max(1.5, children.get(key)?.length ?? 0);
  const whole = kept.reduce((sum, key) => sum + share(key), 0);
  const unit = whole ? (2 * Math.PI) / whole : 0;
  const near = Math.min(FIRST_RADIUS.most, Math.max(FIRST_RADIUS.least, unit ? LINE / (1.5 * unit) : 0));
  const far = Math.max(near + BETWEEN_RINGS, unit ? LINE / unit : 0);
  const nodes: Placed[] = [{ key: start, ring: 0, x: 0, y: 0, angle: 0 }];
  const outer: Placed[] = [];
  let from = -Math.PI / 2;
  for (const key of kept) {
    const sector = share(key) * unit;
    nodes.push(at(key, 1, from + sector / 2, near));
    const own = children.get(key) ?? [];
    own.forEach((child, index) => outer.push(at(child, 2, from + (sector * (index + 0.5)) / own.length, far)));
    from += sector;
  }
  return [...nodes, ...outer];
}

function tenth(number: number): number {
  return Math.round(number * 10) / 10;
}

function at(key: string, ring: 1 | 2, angle: number, radius: number): Placed {
  return { key, ring, angle, x: tenth(radius * Math.cos(angle)), y: tenth(radius * Math.sin(angle)) };
}

/** One line for each pair and direction, with all that links them. */
function join(facts: readonly Triple[], drawn: ReadonlyMap<string, PlacedNode>): PlacedEdge[] {
  const edges = new Map<string, PlacedEdge>();
  for (const { subject, predicate, object } of facts) {
    const [from, to] = [drawn.get(nodeKey(subject)), drawn.get(nodeKey(object))];
    if (!from || !to || from === to) continue;
    const name = JSON.stringify([from.key, to.key]);
    const edge = edges.get(name) ?? { from, to, predicates: [] };
    if (!edge.predicates.includes(predicate)) edge.predicates.push(predicate);
    edges.set(name, edge);
  }
  for (const edge of edges.values()) edge.predicates.sort(order);
  return [...edges.entries()].toSorted(([a], [b]) => order(a, b)).map(([, edge]) => edge);
}

function shownOf(node: PlacedNode, facts: readonly Triple[], drawn: ReadonlyMap<string, PlacedNode>): number {
  const isShown = ({ subject, object }: Triple) => {
    const ends = [nodeKey(subject), nodeKey(object)];
    return ends.includes(node.key) && ends.every((key) => drawn.has(key));
  };
  return facts.filter(isShown).length;
}

export interface Branch {
  node: PlacedNode;
  /** What links it to the thing it hangs on: `→ caused_by`, or `← caused_by` for a fact that leads back. */
  links: string[];
}

/** The picture as a tree: each thing of the second ring hangs on the first neighbour that knows it. */
export function branchesOf({ nodes, edges }: Picture): (Branch & { children: Branch[] })[] {
  const [middle, ...others] = nodes;
  if (!middle) return [];
  const linksOf = (from: PlacedNode, to: PlacedNode) => edges.flatMap((edge) => {
    if (edge.from.key === from.key && edge.to.key === to.key) return edge.predicates.map((each) => `→ ${each}`);
    return edge.from.key === to.key && edge.to.key === from.key ? edge.predicates.map((each) => `← ${each}`) : [];
  });
  const taken = new Set<string>();
  return others.filter((node) => node.ring === 1).map((node) => {
    const children = others.filter((child) => child.ring === 2 && !taken.has(child.key) && linksOf(node, child).length > 0);
    for (const child of children) taken.add(child.key);
    return { node, links: linksOf(middle, node), children: children.map((child) => ({ node: child, links: linksOf(node, child) })) };
  });
}
