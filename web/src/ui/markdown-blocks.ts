/** Splits Markdown into its top-level blocks, and reads one block into tokens. The work is bounded for any text. */
import { Lexer, Marked, type Token, type TokenizerExtension } from "marked";

/** The rest of a longer text is shown as it is. */
export const LONGEST_TEXT = 200_000;
const LONGEST_BLOCK = 50_000;
const LONGEST_MATH = 2_000;
const MOST_NESTED = 16;
const WIDEST_INDENT = 40;
/** Emphasis is matched pairwise, so its marks are counted. */
const MOST_MARKS = 1_000;
const MOST_CELLS = 5_000;
/** How many blocks at the end, at least, are read again when a text grows. */
const STILL_OPEN = 2;

/** A piece of mathematics, as an extension of the tokens. */
export interface MathToken {
  type: "math";
  raw: string;
  text: string;
  display: boolean;
}

interface Fence {
  open: string;
  close: string;
  display: boolean;
}

const FENCES: readonly Fence[] = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
];

function readMath(source: string): MathToken | undefined {
  const fence = FENCES.find(({ open }) => source.startsWith(open));
  if (!fence) return undefined;
  const end = source.slice(0, LONGEST_MATH).indexOf(fence.close, 2);
  const inside = source.slice(2, end);
  const text = inside.trim();
  if (end < 0 || !text || inside.includes("\n\n")) return undefined;
  return { type: "math", raw: source.slice(0, end + 2), text, display: fence.display };
}

const inlineMath: TokenizerExtension = {
  name: "math",
  level: "inline",
  start: (source) => {
    const at = source.search(/\$\$|\\[[(]/);
    return at < 0 ? undefined : at;
  },
  tokenizer: (source) => readMath(source),
};

const blockMath: TokenizerExtension = {
  name: "mathBlock",
  level: "block",
  start: (source) => {
    // A paragraph ends at the next empty line in any case.
    const end = source.indexOf("\n\n");
    const at = (end < 0 ? source : source.slice(0, end)).search(/\n(?:\$\$|\\\[)/);
    return at < 0 ? undefined : at + 1;
  },
  tokenizer: (source) => {
    const math = source.startsWith("\\(") ? undefined : readMath(source);
    if (!math) return undefined;
    const rest = source.slice(math.raw.length);
    const blank = /^[ \t]{0,20}(?:\n|$)/.exec(rest);
    return blank ? { ...math, raw: math.raw + blank[0] } : undefined;
  },
};

const OPTIONS = new Marked({ gfm: true, breaks: true, extensions: [inlineMath, blockMath] }).defaults;

/** Addresses that the text defines for links by name. */
export type Links = Record<string, { href: string | null; title: string | null }>;

export interface Split {
  text: string;
  /** The source of each top-level block, in order; joined they are the text. */
  raws: readonly string[];
  /** Whether a block is only white space, or defines a link. */
  silent: readonly boolean[];
  links: Links;
}

export const NOTHING: Split = { text: "", raws: [], silent: [], links: {} };

/** Splits a text. When it is longer than the one before, only its last blocks are read again. */
export function splitBlocks(text: string, before: Split = NOTHING): Split {
  if (text === before.text) return before;
  const kept = text.startsWith(before.text) ? settled(before) : 0;
  const raws = before.raws.slice(0, kept);
  const start = raws.reduce((sum, raw) => sum + raw.length, 0);
  const read = readBlocks(text.slice(start));
  return {
    text,
    raws: [...raws, ...read.raws],
    silent: [...before.silent.slice(0, kept), ...read.silent],
    links: kept ? { ...before.links, ...read.links } : read.links,
  };
}

/** How many blocks stay as they are, whatever follows. The last ones may change: a line below a paragraph makes it a heading. */
function settled({ raws, silent }: Split): number {
  let drawn = 0;
  for (let at = raws.length - 1; at > 0; at -= 1) {
    if (!silent[at]) drawn += 1;
    if (drawn >= STILL_OPEN && raws[at - 1]?.endsWith("\n\n")) return at;
  }
  return 0;
}

function readBlocks(text: string): Omit<Split, "text"> {
  if (isTooDeep(text)) return { raws: [text], silent: [false], links: {} };
  const lexer = new Lexer(OPTIONS);
  try {
    const tokens = lexer.blockTokens(text, lexer.tokens);
    const silent = tokens.map((token) => token.type === "space" || token.type === "def");
    const raws = sourcesOf(tokens, text);
    return { raws, silent: raws.map((_, at) => silent[at] ?? false), links: { ...lexer.tokens.links } as Links };
  } catch {
    return { raws: [text], silent: [false], links: {} };
  }
}

/** The source of each token: the lexer drops some white space, and writes some of it differently. */
function sourcesOf(tokens: readonly Token[], text: string): string[] {
  const raws: string[] = [];
  let start = 0;
  for (const token of tokens) {
    const end = text.startsWith(token.raw, start) ? start + token.raw.length : endOf(token.raw, text, start);
    if (end < 0) break;
    raws.push(text.slice(start, end));
    start = end;
  }
  const rest = text.slice(start);
  if (rest.trim() || !raws.length) return rest ? [...raws, rest] : raws;
  return [...raws.slice(0, -1), raws.at(-1) + rest];
}

/** The end of a source that differs in its white space alone, with the empty lines after it; -1 if it differs otherwise. */
function endOf(raw: string, text: string, start: number): number {
  let end = start;
  for (const character of raw) {
    if (isBlank(character)) continue;
    end = afterBlanks(text, end);
    if (!text.startsWith(character, end)) return -1;
    end += character.length;
  }
  const next = afterBlanks(text, end);
  return next === text.length ? next : Math.max(end, text.lastIndexOf("\n", next - 1) + 1);
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && isBlank(text[at] ?? "")) at += 1;
  return at;
}

function isBlank(character: string): boolean {
  return character === " " || character === "\n" || character === "\t";
}

/** The tokens of one block; null if it is shown as it is, because reading it would take too long. */
export function readBlock(raw: string, links: Links): Token[] | null {
  if (isTooDeep(raw) || isTooMuch(raw)) return null;
  const lexer = new Lexer(OPTIONS);
  Object.assign(lexer.tokens.links, links);
  try {
    return lexer.lex(raw);
  } catch {
    return null;
  }
}

function isTooMuch(raw: string): boolean {
  if (/^ {0,3}(?:```|~~~)/.test(raw)) return false;
  let [marks, cells] = [0, 0];
  for (const character of raw) {
    if (character === "*" || character === "_" || character === "~") marks += 1;
    if (character === "|") cells += 1;
  }
  return raw.length > LONGEST_BLOCK || marks > MOST_MARKS || cells > MOST_CELLS;
}

/** Whether a line opens too many quotes or lists at once, or stands too far to the right to be read. */
function isTooDeep(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const stop = end < 0 ? text.length : end;
    if (depthOf(text, start, stop) > MOST_NESTED) return true;
    start = stop + 1;
  }
  return false;
}

function depthOf(text: string, start: number, stop: number): number {
  let [depth, spaces] = [0, 0];
  for (let at = start; at < stop; at += 1) {
    const character = text[at] ?? "";
    if (character === " " || character === "\t") {
      spaces += character === "\t" ? 4 : 1;
    } else if (">-+*".includes(character)) {
      depth += 1;
    } else if (character >= "0" && character <= "9") {
      // The number of a list, or the beginning of a sentence.
      if (text[at + 1] === "." || text[at + 1] === ")") depth += 1;
    } else if (character !== "." && character !== ")") {
      return isRule(text.slice(start, at)) ? 0 : spaces > WIDEST_INDENT && depth > 0 ? MOST_NESTED + 1 : depth;
    }
  }
  return isRule(text.slice(start, stop)) ? 0 : depth;
}

/** A line across the text, or bold words: the same mark without a space between. */
function isRule(line: string): boolean {
  const marks = line.trim();
  const [first] = marks;
  return first !== undefined && first !== ">" && first !== "+" && [...marks].every((mark) => mark === first || (mark === " " && marks.length < 200));
}
