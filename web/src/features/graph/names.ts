/** Where the names of a picture stand, and how much room they take. */
import type { PlacedNode } from "./layout";

export interface NamedNode extends PlacedNode {
  /** The name as it is drawn: a long one is cut. */
  shown: string;
  /** ` +12`, or nothing. */
  count: string;
  /** Whether the name follows the spoke. */
  isTurned: boolean;
}

export interface TextPlace {
  x: number;
  y: number;
  textAnchor: "start" | "middle" | "end";
  transform?: string;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The widest usual letter of a name, in pixels. */
const LETTER = 7.5;
const BESIDE = 10;
const MARGIN = 24;

/** A name stands outside of its ring: level, or along its spoke where the ring is full. */
export function nameAt({ x, y, ring, angle, isTurned }: NamedNode): TextPlace {
  if (ring === 0) return { x, y: y + 26, textAnchor: "middle" };
  const isLeft = Math.cos(angle) < -1e-6;
  const beside = { x: x + (isLeft ? -BESIDE : BESIDE), y: y + 4, textAnchor: isLeft ? "end" : "start" } as const;
  if (isTurned) {
    const degrees = (angle * 180) / Math.PI + (isLeft ? 180 : 0);
    return { ...beside, transform: `rotate(${degrees.toFixed(2)} ${x} ${y})` };
  }
  if (ring === 2 && Math.abs(Math.cos(angle)) >= 0.3) return beside;
  return { x, y: Math.sin(angle) > 0.1 ? y + 22 : y - 12, textAnchor: "middle" };
}

/** What holds all things with their names. */
export function boxOf(nodes: readonly NamedNode[]): Box {
  const ends = nodes.flatMap(endsOf);
  const [xs, ys] = [ends.map(([x]) => x), ends.map(([, y]) => y)];
  const [x, y] = [Math.floor(Math.min(...xs)) - MARGIN, Math.floor(Math.min(...ys)) - MARGIN];
  return { x, y, width: Math.ceil(Math.max(...xs)) + MARGIN - x, height: Math.ceil(Math.max(...ys)) + MARGIN - y };
}

function endsOf(node: NamedNode): [number, number][] {
  const length = (node.shown.length + node.count.length) * LETTER;
  if (node.isTurned) {
    const far = BESIDE + length;
    return [[node.x, node.y], [node.x + far * Math.cos(node.angle), node.y + far * Math.sin(node.angle)]];
  }
  const { x, y, textAnchor } = nameAt(node);
  const from = textAnchor === "start" ? x : textAnchor === "end" ? x - length : x - length / 2;
  return [[node.x, node.y], [from, y], [from + length, y]];
}
