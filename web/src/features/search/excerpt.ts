/** What a row of the search shows of a message. */

const MARKUP = /```\w*|`|^#{1,6} |[*_]{2,3}|\|[-: |]+\||\|/gm;
/** Characters before the first hit that a row shows. */
const BEFORE = 40;

/** A text without the signs of Markdown, from shortly before the first word that was searched. */
export function around(text: string, words: string): string {
  const plain = text.replace(MARKUP, " ").replace(/\s+/g, " ").trim();
  const lower = plain.toLocaleLowerCase();
  const hits = words.toLocaleLowerCase().split(/\s+/).filter((word) => word.length > 1).map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const from = hits.length ? Math.min(...hits) - BEFORE : 0;
  return from > 0 ? `… ${plain.slice(plain.indexOf(" ", from) + 1)}` : plain;
}
