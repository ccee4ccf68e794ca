import { type ReactNode, useState } from "react";
import { address } from "../../state/route";
import { useStore } from "../../state/store";
import { Dialog } from "../../ui/dialog";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { part, request, withQuery } from "../../wire/api";
import type { Memory } from "./kinds";
import { WIPES, WORDS } from "./words";

interface Consequences {
  goes: Memory[];
  counts_again: string[];
  turns: { session: string; turn: string; number: number }[];
}

interface Forgotten {
  forgotten: string[];
  counts_again: string[];
  ended: string[];
  wipe: string;
}

/** Says what goes and what stays before a memory is forgotten. */
export function ForgetMemory({ memory, onClose, done }: { memory: Memory; onClose: () => void; done: (text: string) => void }) {
  const path = `/api/memory/items/${part(memory.id)}`;
  const found = useLoad<Consequences>(`${path}/forgetting`);
  const sessions = useStore((state) => state.rows) ?? [];
  const [everywhere, setEverywhere] = useState(false);
  const forget = async () => {
    const told = await request<Forgotten>("DELETE", withQuery(path, { everywhere: everywhere || undefined }));
    done(sumUp(told));
  };
  const others = found.value?.goes.filter((each) => each.id !== memory.id) ?? [];
  const turns = found.value?.turns ?? [];
  return (
    <ForgetDialog name={memory.id} onClose={onClose} forget={forget} isReady={found.value !== undefined}>
      <Loading of={found}>
        <blockquote className="memory-quote" dir="auto">{memory.text}</blockquote>
        <Consequence name={WORDS.goes}>
          <li>{WORDS.itself}</li>
          {others.map((each) => <li key={each.id}><code className="mono">{each.id}</code> <span dir="auto">{each.text}</span></li>)}
        </Consequence>
        {found.value && found.value.counts_again.length > 0 && (
          <Consequence name={WORDS.countsAgain}><li><code className="mono">{found.value.counts_again.join(", ")}</code></li></Consequence>
        )}
        <Consequence name={everywhere ? WORDS.goes : WORDS.stays}>
          {turns.length === 0 && <li>{WORDS.noTurn}</li>}
          {turns.map((turn) => (
            <li key={turn.turn}>
              <a href={address("s", turn.session, turn.turn)} dir="auto">{WORDS.turnOf(turn.number, sessions.find((row) => row.id === turn.session)?.title || turn.session)}</a>
            </li>
          ))}
        </Consequence>
        <label className="memory-check"><input type="checkbox" checked={everywhere} onChange={(event) => setEverywhere(event.target.checked)} />{WORDS.blank}</label>
      </Loading>
    </ForgetDialog>
  );
}

interface ForgetDialogProps {
  name: string;
  onClose: () => void;
  forget: () => Promise<void>;
  isReady?: boolean;
  children: ReactNode;
}

/** The frame of every such question. */
export function ForgetDialog({ name, onClose, forget, isReady = true, children }: ForgetDialogProps) {
  const [trouble, setTrouble] = useState("");
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await forget();
      onClose();
    } catch (error) {
      setTrouble(troubleOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={WORDS.forgetTitle(name)}
      footer={
        <>
          <button type="button" className="button" data-first onClick={onClose}>{WORDS.cancel}</button>
          <button type="button" className="button" disabled={!isReady || isBusy} onClick={() => void act()}>{WORDS.forgetSure}</button>
        </>
      }
    >
      {children}
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
    </Dialog>
  );
}

export function Consequence({ name, children }: { name: string; children: ReactNode }) {
  return <><h3 className="memory-consequence">{name}</h3><ul className="memory-list">{children}</ul></>;
}

function sumUp({ forgotten, counts_again, ended, wipe }: Forgotten): string {
  const told = [WORDS.forgotten(forgotten.join(", "))];
  if (counts_again.length) told.push(WORDS.counting(counts_again.join(", ")));
  if (ended.length) told.push(WORDS.ended(ended.join(", ")));
  return [...told, WIPES[wipe] ?? ""].filter(Boolean).join(" ");
}
