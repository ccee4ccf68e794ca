/** Whether the window is as narrow as a phone's. The same width stands in the style sheets. */
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 799px)";

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(NARROW);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(NARROW).matches,
    () => false,
  );
}
