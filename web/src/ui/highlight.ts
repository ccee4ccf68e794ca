/** Colours code. Loaded on first use. */
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { createElement, type ReactNode } from "react";

const lowlight = createLowlight({ bash, css, diff, go, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml });

interface HighlightNode {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: HighlightNode[];
}

/** The code as elements, or null for a language that is not known. */
export function highlight(code: string, language: string): ReactNode {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return null;
  const tree = lowlight.highlight(name, code) as unknown as HighlightNode;
  return (tree.children ?? []).map(draw);
}

function draw(node: HighlightNode, key: number): ReactNode {
  if (node.type === "text") return node.value;
  const names = Array.isArray(node.properties?.className) ? node.properties.className.join(" ") : undefined;
  return createElement("span", { key, className: names }, (node.children ?? []).map(draw));
}
