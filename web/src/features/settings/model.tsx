import { type FormEvent, useState } from "react";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { announce } from "../../ui/live";
import { post } from "../../wire/api";
import { Restart } from "./restart";
import { WORDS } from "./words";

interface Choice {
  id: string;
  place: string;
  note: string;
}

interface Trial {
  ready: boolean;
  choice: string;
  answer: string;
  problem: string;
  way_out: string;
  warning: string;
}

const VENDOR = "vendor:";
const SERVER = "server:";
const VENDORS = ["openai", "anthropic", "google", "openrouter"] as const;

/** Choose a model. Nothing is written, nor "Ready" said, before a real turn with a tool. */
export function ModelTab() {
  const models = useLoad<{ provider: string; model: string }>("/api/models");
  const choices = useLoad<{ choices: Choice[]; variables: string[] }>("/api/setup/choices");
  const [picked, setPicked] = useState("");
  const [fields, setFields] = useState({ vendor: "openai", server: "", model: "", key: "" });
  const [isTrying, setTrying] = useState(false);
  const [trial, setTrial] = useState<Trial>();
  const [trouble, setTrouble] = useState("");
  const set = (name: keyof typeof fields) => (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value });

  const attempt = async (event: FormEvent) => {
    event.preventDefault();
    setTrying(true);
    setTrial(undefined);
    setTrouble("");
    try {
      const result = await post<Trial>("/api/setup", wanted(picked, fields));
      setTrial(result);
      announce(result.ready ? WORDS.ready : `${WORDS.notReady}: ${result.problem}`);
      models.reload();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setTrying(false);
  };
  const isBuiltIn = models.value?.provider === "offline";
  return (
    <form className="settings-model" onSubmit={(event) => void attempt(event)}>
      <p>{isBuiltIn ? WORDS.builtIn : models.value ? WORDS.chosen(models.value.model) : ""}</p>
      <Loading of={choices}>
        <fieldset className="card settings-choices">
          <legend className="sr">{WORDS.choose}</legend>
          {choices.value?.choices.map((choice) => (
            <Radio key={choice.id} value={choice.id} picked={picked} onPick={setPicked} name={choice.id} place={choice.place} note={choice.note} />
          ))}
          <Radio value={VENDOR} picked={picked} onPick={setPicked} name={WORDS.vendors} place={WORDS.vendorsNote} note="" />
          {picked === VENDOR && (
            <div className="settings-fields">
              <label>{WORDS.vendor}<select className="field" value={fields.vendor} onChange={set("vendor")}>{VENDORS.map((each) => <option key={each}>{each}</option>)}</select></label>
              <label>{WORDS.key}<input className="field" type="password" autoComplete="off" value={fields.key} onChange={set("key")} /></label>
              <label>{WORDS.model}<input className="field" value={fields.model} placeholder={WORDS.modelHint} onChange={set("model")} /></label>
              <p className="quiet">{WORDS.keyHint(choices.value?.variables.join(", ") ?? "")}</p>
            </div>
          )}
          <Radio value={SERVER} picked={picked} onPick={setPicked} name={WORDS.server} place={WORDS.serverNote} note="" />
          {picked === SERVER && (
            <div className="settings-fields">
              <label>{WORDS.server}<input className="field" inputMode="url" value={fields.server} placeholder={WORDS.serverHint} onChange={set("server")} /></label>
              <label>{WORDS.key}<input className="field" type="password" autoComplete="off" value={fields.key} onChange={set("key")} /></label>
              <label>{WORDS.model}<input className="field" value={fields.model} placeholder={WORDS.modelHint} onChange={set("model")} /></label>
            </div>
          )}
        </fieldset>
        <p className="settings-try">
          <button type="submit" className="button button-main" disabled={!picked || isTrying}>{WORDS.tryIt}</button>
          {isTrying && <span role="status">{WORDS.trying}</span>}
        </p>
      </Loading>
      {trouble && <div className="trouble" role="alert"><p><b>{WORDS.notReady}</b></p><p dir="auto">{trouble}</p><p>{WORDS.nothingWritten}</p></div>}
      {trial && !trial.ready && (
        <div className="trouble" role="alert"><p><b>{WORDS.notReady}</b></p><p dir="auto">{trial.problem}</p>{trial.way_out && <p dir="auto">{trial.way_out}</p>}<p>{WORDS.nothingWritten}</p></div>
      )}
      {trial?.ready && (
        <div className="card settings-ready">
          <p className="tag-ok"><Icon name="tick" /><b>{WORDS.ready}</b></p>
          <p>{WORDS.readyWhy}</p>
          {trial.answer && <blockquote dir="auto">{trial.answer}</blockquote>}
          <Restart onBack={models.reload} />
          {trial.warning && <p className="tag-warn" dir="auto">{trial.warning}</p>}
        </div>
      )}
    </form>
  );
}

function wanted(picked: string, fields: { vendor: string; server: string; model: string; key: string }): Record<string, string> {
  const given = { model: fields.model.trim(), key: fields.key.trim() };
  const own = picked === VENDOR ? { vendor: fields.vendor, ...given } : picked === SERVER ? { server: fields.server.trim(), ...given } : { choice: picked };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value));
}

interface RadioProps {
  value: string;
  picked: string;
  onPick: (value: string) => void;
  name: string;
  place: string;
  note: string;
}

function Radio({ value, picked, onPick, name, place, note }: RadioProps) {
  return (
    <label className="settings-choice">
      <input type="radio" name="model" value={value} checked={picked === value} onChange={() => onPick(value)} />
      <span><b>{name}</b>{place && <span className="quiet">{place}{note ? `, ${note}` : ""}</span>}</span>
    </label>
  );
}
