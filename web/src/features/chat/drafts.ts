/** Texts that were typed and not sent, per session; they outlive a reload. */
const PREFIX = "sestet.draft.";

export function readDraft(session: string): string {
  try {
    return localStorage.getItem(PREFIX + session) ?? "";
  } catch {
    return "";
  }
}

export function writeDraft(session: string, text: string): void {
  try {
    if (text) localStorage.setItem(PREFIX + session, text);
    else localStorage.removeItem(PREFIX + session);
  } catch {
    // Storage is full or off: the text is still in the field.
  }
}
