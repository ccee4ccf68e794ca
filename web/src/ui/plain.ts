/** Texts from elsewhere without the characters that nobody sees and that change what somebody reads. */

const NAMED: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…", ndash: "–", mdash: "—",
  laquo: "«", raquo: "»", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•", middot: "·", deg: "°", euro: "€", pound: "£", times: "×",
  larr: "←", rarr: "→", uarr: "↑", darr: "↓", le: "≤", ge: "≥", ne: "≠", plusmn: "±", shy: "", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä",
  Ouml: "Ö", Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è", agrave: "à", ccedil: "ç",
};
const UNSEEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g;
// oxlint-disable-next-line no-control-regex -- these end lines
const LINE_END = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g;

/** The text with one kind of line end, and without control, direction and tag characters. */
export function clean(text: string): string {
  return text.replace(LINE_END, "\n").replace(CONTROL, "").replace(UNSEEN, "");
}

/** A piece of Markdown as its reader sees it: `&amp;` is one character. */
export function decode(text: string): string {
  if (!text.includes("&")) return text;
  const whole = text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? all) : all;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(decimal, 10);
    const isValid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isValid ? String.fromCodePoint(code) : "\ufffd";
  });
  return clean(whole);
}
