/** Puts a text on the clipboard, also over plain HTTP, where `navigator.clipboard` does not exist. True when it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not allowed here: the other way may be.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "sr";
  // Beside an open dialog nothing can be focused.
  (before?.closest("dialog") ?? document.body).append(field);
  try {
    field.focus({ preventScroll: true });
    field.select();
    // The old way is the only one without HTTPS.
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}
