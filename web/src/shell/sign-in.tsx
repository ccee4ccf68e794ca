import { type FormEvent, useState } from "react";
import { troubleOf } from "../ui/load";
import { post } from "../wire/api";
import { WORDS } from "./words";

/** For a browser that has no cookie of this server: on a phone, a token is pasted once. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [trouble, setTrouble] = useState("");
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await post("/enter", { token: token.trim() });
      location.reload();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={(event) => void enter(event)}>
        <h1>{WORDS.signIn}</h1>
        <p>{WORDS.signInWhy}</p>
        <label>
          <span>{WORDS.signInToken}</span>
          <input className="field" type="password" autoComplete="current-password" value={token} onChange={(event) => setToken(event.target.value)} />
        </label>
        <p className="quiet">{WORDS.signInHint}</p>
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
        <button type="submit" className="button button-main" disabled={!token.trim()}>{WORDS.enter}</button>
      </form>
    </main>
  );
}
