/** Addresses in texts from elsewhere: which of them may become links, and what a person must see of them. */

const ALLOWED: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const LONGEST = 4_096;

export interface Address {
  href: string;
  /** The host, or who gets the mail. */
  host: string;
}

/** The address if it is whole and of a kind that may be opened, else null. */
export function readAddress(text: string): Address | null {
  if (text.length > LONGEST) return null;
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return null;
  }
  if (!ALLOWED.has(url.protocol)) return null;
  const host = url.protocol === "mailto:" ? decoded(url.pathname) : url.host;
  return host ? { href: url.href, host } : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the words of a link are its address, so that its host need not stand beside it. */
export function namesItself(words: string, address: Address): boolean {
  const { href, host } = address;
  if (href.startsWith("mailto:")) return words === host || words === href;
  // `https://bank.example@evil.example` reads like another host.
  const { username, password } = new URL(href);
  if (username || password) return false;
  return bare(words.trim()) === bare(href);
}

function bare(text: string): string {
  return text.replace(/^https?:\/\//i, "").replace(/\/$/, "");
}
