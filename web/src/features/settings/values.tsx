import { useState } from "react";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { request } from "../../wire/api";
import { Restart } from "./restart";
import { WORDS } from "./words";

interface Setting {
  key: string;
  value: unknown;
  source: string;
}

/** Every value in force and where it comes from; secrets come masked. */
export function ValuesTab() {
  const settings = useLoad<{ file: string | null; settings: Setting[] }>("/api/settings");
  const [words, setWords] = useState("");
  const [editing, setEditing] = useState<Setting>();
  const [text, setText] = useState("");
  const [told, setTold] = useState("");
  const shown = settings.value?.settings.filter((each) => each.key.toLowerCase().includes(words.toLowerCase())) ?? [];
  const save = async () => {
    if (!editing) return;
    try {
      await request("PATCH", "/api/settings", { changes: [{ key: editing.key, value: readValue(text) }] });
      setEditing(undefined);
      setTold(WORDS.saved);
      settings.reload();
    } catch (error) {
      setTold(troubleOf(error));
    }
  };
  return (
    <Loading of={settings} lines={10}>
      <p className="settings-head"><span className="quiet">{settings.value?.file ? WORDS.file(settings.value.file) : WORDS.noFile}</span></p>
      <input className="field settings-find" type="search" aria-label={WORDS.find} placeholder={WORDS.find} value={words} onChange={(event) => setWords(event.target.value)} />
      {told && !editing && <div className="card settings-ready"><p role="status">{told}</p><Restart onBack={settings.reload} /></div>}
      <div className="facts-frame">
        <table className="facts settings-values">
          <thead><tr><th scope="col">{WORDS.setting}</th><th scope="col">{WORDS.value}</th><th scope="col">{WORDS.source}</th><th><span className="sr">{WORDS.change}</span></th></tr></thead>
          <tbody>
            {shown.map((setting) => (
              <tr key={setting.key}>
                <td><code className="mono">{setting.key}</code></td>
                <td className="settings-value" dir="auto">{written(setting.value)}</td>
                <td className="quiet">{setting.source}</td>
                <td>
                  <button type="button" className="button-icon" aria-label={`${WORDS.change} ${setting.key}`} onClick={() => {
                    setEditing(setting);
                    setText(written(setting.value));
                    setTold("");
                  }}><Icon name="pencil" /></button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Dialog isOpen={editing !== undefined} onClose={() => setEditing(undefined)} onSubmit={() => void save()} title={editing?.key ?? ""} footer={<button type="submit" className="button button-main">{WORDS.save}</button>}>
        <label className="settings-edit">{WORDS.check}<input className="field mono" data-first value={text} onChange={(event) => setText(event.target.value)} /></label>
        {told && <p className="tag-bad" role="alert">{told}</p>}
      </Dialog>
    </Loading>
  );
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a person typed: JSON where it is JSON, else the words themselves. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
