import { useEffect, useState } from "react";
import { address } from "../../state/route";
import { get } from "../../wire/api";

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
      A small built-in model answers. <a href={address("settings", "model")}>Choose a real one</a>
    </p>
  );
}
