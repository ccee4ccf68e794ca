import { useState } from "react";
import { UI } from "./words";
import "./invisible.css";

// Characters that count as letters, marks or symbols and show nothing. Others have a category of their own.
const BLANKS: readonly (readonly [first: number, last: number])[] = [
  [0x034f, 0x034f], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x2800, 0x2800], [0x3164, 0x3164],
  [0xfe00, 0xfe0f], [0xffa0, 0xffa0], [0x1d159, 0x1d159], [0xe0100, 0xe01ef],
];
const UNSEEN = /[\p{C}\p{Z}]/u;
const ESCAPE = /^<U\+[0-9A-F]{4,6}>/;
/** Of a value that is not open; a longer one ends in a button. */
const PREVIEW = 400;

/** A piece of a text: as it is, or the name of a character that cannot be seen. */
export interface Piece {
  text: string;
  hidden: boolean;
}

function isVisible(character: string): boolean {
  if (character === " " || character === "\n") return true;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x7f ? code > 0x20 : !UNSEEN.test(character) && !BLANKS.some(([first, last]) => code >= first && code <= last);
}

function codePointName(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** The text with each invisible character as a piece of its own. A text that looks like such a name is escaped too. */
export function reveal(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  let at = 0;
  for (const character of text) {
    const lookalike = character === "<" && ESCAPE.test(text.slice(at, at + 10));
    at += character.length;
    if (isVisible(character) && !lookalike) {
      plain += character;
      continue;
    }
    if (plain) pieces.push({ text: plain, hidden: false });
    plain = "";
    pieces.push({ text: codePointName(character), hidden: true });
  }
  if (plain) pieces.push({ text: plain, hidden: false });
  return pieces;
}

/** The same as one text. */
export function revealed(text: string): string {
  return reveal(text)
    .map((piece) => piece.text)
    .join("");
}

/** The pieces as elements: what cannot be seen is framed. */
export function Revealed({ text }: { text: string }) {
  return reveal(text).map((piece, at) => (piece.hidden ? <span key={at} className="exact-hidden">{piece.text}</span> : piece.text));
}

/** A value, character by character: nothing in it is invisible or turns the direction. A long one opens in place. */
export function Exact({ text, preview = PREVIEW }: { text: string; preview?: number }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > preview * 1.25;
  return (
    <>
      <bdi className="exact" dir="ltr">
        <Revealed text={isLong && !isOpen ? `${cutAt(text, preview)}…` : text} />
      </bdi>
      {isLong && (
        <button type="button" className="exact-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? UI.showLess : UI.showCharacters(text.length)}
        </button>
      )}
    </>
  );
}

/** The first characters of a text, never half of a pair. */
export function cutAt(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
