import { useState } from "react";
import { address } from "../../state/route";
import { useStore } from "../../state/store";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { moment } from "../../ui/time";
import { UI } from "../../ui/words";
import { get, post } from "../../wire/api";
import { WORDS } from "./words";

interface ChangeSet {
  id: number;
  session: string;
  turn: string;
  at: number;
  done?: string[];
}

interface Plan extends ChangeSet {
  steps: { path: string; action: string }[];
  changed_since: string[];
  undone: boolean;
}

/** What the agents changed in files, and the way back. */
export function ChangesTab() {
  const titles = new Map((useStore((state) => state.rows) ?? []).map((row) => [row.id, row.title]));
  const sets = useLoad<{ changes: ChangeSet[] }>("/api/changes");
  const [plan, setPlan] = useState<Plan>();
  const [trouble, setTrouble] = useState("");
  const undo = async () => {
    try {
      await post(`/api/changes/${plan?.id}/undo`, undefined);
      setPlan(undefined);
      sets.reload();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <Loading of={sets}>
      {sets.value?.changes.length === 0 && <p className="empty">{WORDS.noChanges}</p>}
      {(sets.value?.changes.length ?? 0) > 0 && (
        <ul className="rows">
          {sets.value?.changes.map((set) => (
            <li className="settings-change" key={set.id}>
              <span>
                <span dir="auto">{(set.done ?? []).join(" ")}</span>
                <small className="num"><a href={address("s", set.session, set.turn)}>{titles.get(set.session) || set.session}</a> · {moment(set.at)}</small>
              </span>
              <button type="button" className="button button-small" onClick={() => {
                setTrouble("");
                get<Plan>(`/api/changes/${set.id}/undo`).then(setPlan, (error: unknown) => setTrouble(troubleOf(error)));
              }}><Icon name="undo" />{WORDS.undo}</button>
            </li>
          ))}
        </ul>
      )}
      {trouble && !plan && <p className="tag-bad" role="alert">{trouble}</p>}
      <Dialog
        isOpen={plan !== undefined}
        onClose={() => setPlan(undefined)}
        title={WORDS.undoTitle}
        footer={
          <>
            <button type="button" className="button" data-first onClick={() => setPlan(undefined)}>{UI.cancel}</button>
            <button type="button" className="button" disabled={(plan?.changed_since.length ?? 0) > 0} onClick={() => void undo()}>{WORDS.undo}</button>
          </>
        }
      >
        {plan && plan.changed_since.length > 0 && <p className="tag-bad">{WORDS.undoBlocked} {plan.changed_since.join(", ")}</p>}
        <ul className="settings-steps">{plan?.steps.map((step, at) => <li key={at} dir="auto">{WORDS.undoSteps[step.action] ?? step.action} <span className="mono">{step.path}</span></li>)}</ul>
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      </Dialog>
    </Loading>
  );
}
