import { useEffect, useState } from "react";
import { go } from "../state/route";
import { focusSoon } from "../ui/focus";
import { Dialog, isDialogOpen } from "../ui/dialog";
import { WORDS } from "./words";

const PLACES: Readonly<Record<string, string>> = { c: "#/new", i: "#/inbox", a: "#/agents", t: "#/traces", m: "#/memory", s: "#/settings" };
const REGIONS = ".side a, .chat-main .log, #composer, .rail button, .screen";
const STORED = "sestet.singleKeys";

/** The keys of the whole page, and the list of them. */
export function Keys() {
  const [isOpen, setOpen] = useState(false);
  const [single, setSingle] = useState(() => localStorage.getItem(STORED) !== "off");
  useEffect(() => {
    let before = "";
    const listen = (event: KeyboardEvent) => {
      if (event.isComposing || isDialogOpen()) return;
      const ctrl = event.ctrlKey || event.metaKey;
      if (ctrl && !event.shiftKey && event.key.toLowerCase() === "k") return act(event, () => go("#/search"));
      if (ctrl && event.shiftKey && event.key.toLowerCase() === "o") {
        return act(event, () => {
          go("#/new");
          focusSoon("#composer");
        });
      }
      if (event.key === "F6") return act(event, () => nextRegion(event.shiftKey ? -1 : 1));
      if (ctrl || event.altKey || !single || isField(event.target)) return;
      const place = before === "g" ? PLACES[event.key] : undefined;
      before = event.key;
      if (place) act(event, () => go(place));
      else if (event.key === "?") act(event, () => setOpen(true));
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [single]);
  return (
    <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={WORDS.keys}>
      <dl className="keys">
        {WORDS.keyList.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}
      </dl>
      <label className="tick">
        <input
          type="checkbox"
          checked={single}
          onChange={(event) => {
            setSingle(event.target.checked);
            localStorage.setItem(STORED, event.target.checked ? "on" : "off");
          }}
        />
        {WORDS.singleKeys}
      </label>
    </Dialog>
  );
}

function act(event: KeyboardEvent, what: () => void): void {
  event.preventDefault();
  what();
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function nextRegion(step: number): void {
  const regions = [".side", ".log, .welcome", "#composer", ".rail", ".screen"].map((each) => document.querySelector<HTMLElement>(each)).filter((each) => each !== null);
  const at = regions.findIndex((region) => region.contains(document.activeElement));
  const next = regions[(at + step + regions.length) % regions.length];
  const inside = next?.matches("#composer, .log, .welcome, .screen") ? next : next?.querySelector<HTMLElement>(REGIONS) ?? next;
  inside?.focus();
}
