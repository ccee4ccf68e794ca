import { useEffect, useState } from "react";
import { address } from "../../state/route";
import { get } from "../../wire/api";
import { WORDS } from "./words";

/** While the built-in model answers: where to choose a real one. */
export function SetUpHint() {
  const [provider, setProvider] = useState("");
  useEffect(() => {
    get<{ provider: string }>("/api/models")
      .then((facts) => setProvider(facts.provider))
      .catch(() => {});
  }, []);
  if (provider !== "offline") return null;
  return (
    <p className="welcome-setup card">
      {WORDS.builtIn} <a href={address("settings", "model")}>{WORDS.chooseModel}</a>
    </p>
  );
}
