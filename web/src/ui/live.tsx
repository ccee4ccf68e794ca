import { useSyncExternalStore } from "react";

type Region = "polite" | "assertive";

const said: Record<Region, string> = { polite: "", assertive: "" };
const listeners = new Set<() => void>();

function say(region: Region, text: string): void {
  // A screen reader is silent about a text that does not change, so a repeated one ends differently.
  said[region] = said[region] === text ? `${text}\u00a0` : text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A screen reader says this when it has finished its sentence. */
export function announce(text: string): void {
  say("polite", text);
}

/** A screen reader says this at once. For questions and failures alone. */
export function alertPerson(text: string): void {
  say("assertive", text);
}

/** The two regions that a screen reader listens to. The page has them once, from its first paint on. */
export function LiveRegions() {
  return (
    <>
      <LiveRegion region="polite" />
      <LiveRegion region="assertive" />
    </>
  );
}

function LiveRegion({ region }: { region: Region }) {
  const read = () => said[region];
  const text = useSyncExternalStore(subscribe, read, read);
  return (
    <div className="sr" role={region === "polite" ? "status" : "alert"} aria-live={region} aria-atomic="true">
      {text}
    </div>
  );
}
