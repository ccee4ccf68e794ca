import { useState } from "react";
import { useStore } from "../../state/store";
import { WORDS } from "./words";

const STORED = "sestet.theme";
type Theme = keyof typeof WORDS.themes;

/** What this browser remembers for itself. */
export function PageTab() {
  const version = useStore((state) => state.version);
  const [theme, setTheme] = useState<Theme>(() => (localStorage.getItem(STORED) as Theme | null) ?? "auto");
  const choose = (next: Theme) => {
    setTheme(next);
    if (next === "auto") localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, next);
    dispatchEvent(new Event("sestet-theme"));
  };
  return (
    <>
      <fieldset className="card settings-choices">
        <legend>{WORDS.theme}</legend>
        {(Object.keys(WORDS.themes) as Theme[]).map((each) => (
          <label className="settings-choice" key={each}>
            <input type="radio" name="theme" checked={theme === each} onChange={() => choose(each)} /><span><b>{WORDS.themes[each]}</b></span>
          </label>
        ))}
      </fieldset>
      {version && <p className="quiet settings-version">{WORDS.version(version)}</p>}
    </>
  );
}
