import { useEffect, useState } from "react";
import { announce } from "../../ui/live";
import { troubleOf } from "../../ui/load";
import { post, REACHED } from "../../wire/api";
import { WORDS } from "./words";

/** Starts the server again, so that what was written counts. `onBack` is called when it answers again. */
export function Restart({ onBack }: { onBack: () => void }) {
  const [state, setState] = useState<"" | "asked" | "back">("");
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    if (state !== "asked") return undefined;
    const listen = () => {
      setState("back");
      announce(WORDS.restarted);
      onBack();
    };
    addEventListener(REACHED, listen);
    return () => removeEventListener(REACHED, listen);
  }, [state, onBack]);
  const restart = () => {
    setTrouble("");
    setState("asked");
    post("/api/restart").catch((error: unknown) => {
      setState("");
      setTrouble(troubleOf(error));
    });
  };
  if (state === "back") return <p className="tag-ok">{WORDS.restarted}</p>;
  return (
    <>
      <p className="settings-try">
        <button type="button" className="button button-small" disabled={state === "asked"} onClick={restart}>{WORDS.restart}</button>
        <span className="quiet">{state === "asked" ? WORDS.restarting : WORDS.restartWhy}</span>
      </p>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
    </>
  );
}
