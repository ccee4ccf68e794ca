/** Reads text from a terminal: colours and weights stay, every other sequence vanishes. */

/** A run of characters in one style. `style` is a list of class names, or empty. */
export interface Run {
  text: string;
  style: string;
}

const ESC = 0x1b;
const BEL = 0x07;
const ST = 0x9c;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
/** Longer parameters are no colours. */
const LONGEST_PARAMETERS = 64;
/** A title or link may be long; an unclosed one must not swallow the rest of the text. */
const LONGEST_STRING = 4_096;

interface Pen {
  colour: string;
  isBold: boolean;
  isDim: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const PLAIN: Pen = { colour: "", isBold: false, isDim: false, isItalic: false, isUnderlined: false };

function className(pen: Pen): string {
  const names = [
    pen.colour && `ansi-${pen.colour}`,
    pen.isBold && "ansi-bold",
    pen.isDim && "ansi-dim",
    pen.isItalic && "ansi-italic",
    pen.isUnderlined && "ansi-underlined",
  ];
  return names.filter(Boolean).join(" ");
}

/** The text as lines of runs. One pass over the characters, whatever they are. */
export function readAnsi(text: string): Run[][] {
  const lines: Run[][] = [];
  let line: Run[] = [];
  let pen = PLAIN;
  let style = "";
  let start = 0;
  const flush = (end: number) => {
    if (end > start) line.push({ text: text.slice(start, end), style });
  };
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (isShown(code)) {
      at += 1;
      continue;
    }
    flush(at);
    if (isLineEnd(code)) {
      lines.push(line);
      line = [];
      at += code === 0x0d && text.charCodeAt(at + 1) === 0x0a ? 2 : 1;
    } else {
      const sequence = readSequence(text, at);
      if (sequence.colours !== null) {
        pen = withColours(pen, sequence.colours);
        style = className(pen);
      }
      at = sequence.end;
    }
    start = at;
  }
  flush(text.length);
  lines.push(line);
  return lines;
}

function isLineEnd(code: number): boolean {
  return (code >= 0x0a && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029;
}

/** False for control characters, marks that turn the direction, and characters that only a program reads. */
function isShown(code: number): boolean {
  if (code < 0x20) return code === 0x09;
  if (code < 0x7f) return true;
  if (code < 0xa0) return false;
  if (code < 0x2000) return code !== 0x061c;
  if (code < 0x2070) return !((code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) || code >= 0x2066);
  return code !== 0xfeff && !(code >= 0xfff9 && code <= 0xfffb) && code !== 0xdb40;
}

interface Sequence {
  end: number;
  /** The parameters of a sequence that sets colours; null for any other. */
  colours: string | null;
}

function readSequence(text: string, at: number): Sequence {
  const code = text.charCodeAt(at);
  // The first half of a pair from the block of tags.
  if (code === 0xdb40) return { end: at + 2, colours: null };
  const next = code === ESC ? text.charCodeAt(at + 1) : code - 0x40;
  const body = code === ESC ? at + 2 : at + 1;
  if (code !== ESC && (code < 0x80 || code > 0x9f)) return { end: at + 1, colours: null };
  if (next === 0x5b) return readControl(text, body);
  // OSC, DCS, SOS, PM, APC: up to their end.
  if (next === 0x5d || next === 0x50 || next === 0x58 || next === 0x5e || next === 0x5f) return { end: endOfString(text, body), colours: null };
  if (code !== ESC) return { end: at + 1, colours: null };
  let end = at + 1;
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x2f) end += 1;
  const last = text.charCodeAt(end);
  return { end: last >= 0x30 && last <= 0x7e ? end + 1 : end, colours: null };
}

function readControl(text: string, start: number): Sequence {
  let end = start;
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x3f) end += 1;
  const last = text.charCodeAt(end);
  if (!(last >= 0x40 && last <= 0x7e)) return { end, colours: null };
  const isColour = last === 0x6d && end - start <= LONGEST_PARAMETERS;
  return { end: end + 1, colours: isColour ? text.slice(start, end) : null };
}

function endOfString(text: string, start: number): number {
  const limit = Math.min(text.length, start + LONGEST_STRING);
  for (let at = start; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BEL || code === ST) return at + 1;
    if (code === ESC) return text.charCodeAt(at + 1) === 0x5c ? at + 2 : at;
    if (isLineEnd(code)) return at;
  }
  return start;
}

function withColours(before: Pen, parameters: string): Pen {
  if (!/^[0-9;:]*$/.test(parameters)) return before;
  let pen = before;
  const codes = parameters.split(";").map((part) => Number.parseInt(part || "0", 10));
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, length] = extended(codes, at);
      if (code === 38) pen = { ...pen, colour };
      at += length;
    } else {
      pen = withCode(pen, code);
    }
  }
  return pen;
}

function withCode(pen: Pen, code: number): Pen {
  if (code >= 30 && code <= 37) return { ...pen, colour: COLOURS[code - 30] ?? "" };
  if (code >= 90 && code <= 97) return { ...pen, colour: COLOURS[code - 90] ?? "" };
  switch (code) {
    case 0: return PLAIN;
    case 1: return { ...pen, isBold: true };
    case 2: return { ...pen, isDim: true };
    case 3: return { ...pen, isItalic: true };
    case 4: return { ...pen, isUnderlined: true };
    case 22: return { ...pen, isBold: false, isDim: false };
    case 23: return { ...pen, isItalic: false };
    case 24: return { ...pen, isUnderlined: false };
    case 39: return { ...pen, colour: "" };
    default: return pen;
  }
}

/** Colours of a palette or of three numbers become the nearest of the eight, so that they can be read in both themes. */
function extended(codes: readonly number[], at: number): [string, number] {
  if (codes[at + 1] === 5) return [ofPalette(codes[at + 2] ?? 0), 2];
  if (codes[at + 1] === 2) return [nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), 4];
  return ["", 0];
}

function ofPalette(number: number): string {
  if (number < 16) return COLOURS[number % 8] ?? "";
  if (number >= 232) return number < 244 ? "black" : "white";
  const cube = number - 16;
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  const isOn = (part: number) => Number(part > most * 0.6);
  if (most < 64) return "black";
  return COLOURS[isOn(red) + 2 * isOn(green) + 4 * isOn(blue)] ?? "";
}
