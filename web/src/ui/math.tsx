import { createElement, memo, type CSSProperties, type ReactNode, useEffect, useState } from "react";

/** The parts of temml's tree that are drawn. */
export interface MathNode {
  type?: string;
  text?: string;
  attributes?: Record<string, unknown>;
  classes?: string[];
  style?: Record<string, unknown>;
  children?: MathNode[];
}

const ELEMENTS: ReadonlySet<string> = new Set(
  "math mrow mi mo mn ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd".split(" "),
);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  "accent accentunder columnalign columnlines columnspacing depth dir display displaystyle fence form height largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width".split(" "),
);
const STYLES: ReadonlySet<string> = new Set(
  "color backgroundColor border borderBottom borderTop borderLeft borderRight padding paddingLeft paddingRight paddingTop paddingBottom margin marginLeft marginRight textAlign width height verticalAlign fontWeight fontStyle fontSize mathStyle mathDepth whiteSpace".split(" "),
);
const SAFE_VALUE = /^[\w\s.#%,-]{1,80}$/;
const DEEPEST = 60;

/** The tree as elements. Elements, attributes and styles that are not known are left out, their content stays. */
export function mathElements(node: MathNode, key = 0, depth = 0): ReactNode {
  if (node.text !== undefined) return node.text;
  if (depth > DEEPEST) return null;
  const children = (node.children ?? []).map((child, at) => mathElements(child, at, depth + 1));
  if (!node.type || !ELEMENTS.has(node.type)) return createElement("mrow", { key }, ...children);
  const attributes = allowed(node.attributes, ATTRIBUTES);
  const style = allowed(node.style, STYLES) as CSSProperties;
  const className = node.classes?.filter((name) => /^tml-[\w-]{1,30}$/.test(name)).join(" ") || undefined;
  return createElement(node.type, { key, ...attributes, className, style: Object.keys(style).length ? style : undefined }, ...children);
}

function allowed(values: Record<string, unknown> | undefined, names: ReadonlySet<string>): Record<string, string> {
  const pairs = Object.entries(values ?? {}).map(([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(pairs.filter(([name, value]) => names.has(name) && SAFE_VALUE.test(value)));
}

/** The formula as MathML elements. Loads temml on first use. */
export async function renderMath(text: string, display: boolean): Promise<ReactNode> {
  const { default: temml } = await import("temml");
  const options = { displayMode: display, trust: false, throwOnError: true, maxExpand: 200, maxSize: [20, 20] as [number, number] };
  // oxlint-disable-next-line no-underscore-dangle -- the only way to its tree without a string of HTML
  return mathElements(temml.__renderToMathMLTree(text, options) as MathNode);
}

/** A formula; its source until it is drawn, and for good if it cannot be. */
export const Formula = memo(function Formula({ text, display }: { text: string; display: boolean }) {
  const [drawn, setDrawn] = useState<{ text: string; node: ReactNode } | null>(null);
  useEffect(() => {
    let isWanted = true;
    const draw = async () => {
      const node = await renderMath(text, display);
      if (isWanted) setDrawn({ text, node });
    };
    draw().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [text, display]);
  const node = drawn?.text === text ? drawn.node : <code className="md-code">{text}</code>;
  return display ? <span className="md-math">{node}</span> : node;
});
