/** Where the keyboard's focus goes when the element that has it disappears. */
import { useEffect } from "react";

const REGIONS = ".screen, .log, .welcome";

/** Gives an element the focus after the next drawing, when it exists. A change of the address is drawn after a task. */
export function focusSoon(selector: string): void {
  setTimeout(() => requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true })));
}

/** A row that was removed, or a screen that was left, takes the focus with it: what is read now gets it. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null;
    const remember = (event: FocusEvent) => {
      last = event.target instanceof Element ? event.target : null;
    };
    const observer = new MutationObserver(() => {
      if (!last || last.isConnected || document.activeElement !== document.body) return;
      const region = document.querySelector<HTMLElement>(REGIONS);
      if (!region) return;
      last = null;
      region.focus({ preventScroll: true });
    });
    addEventListener("focusin", remember);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener("focusin", remember);
      observer.disconnect();
    };
  }, []);
}
