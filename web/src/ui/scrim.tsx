import { useEffect } from "react";
import { isDialogOpen } from "./dialog";
import { UI } from "./words";

/** What lies behind a drawer: a click on it, and Esc, close the drawer. */
export function Scrim({ onClose, isClear = false }: { onClose: () => void; isClear?: boolean }) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || isDialogOpen() || document.querySelector(".menu-list")) return;
      // Esc twice stops a turn: an Esc that closes does not count.
      event.preventDefault();
      onClose();
    };
    addEventListener("keydown", listen, true);
    return () => removeEventListener("keydown", listen, true);
  });
  return isClear ? null : <button type="button" className="scrim" tabIndex={-1} aria-label={UI.close} onClick={onClose} />;
}
