import { useId, useState } from "react";
import { Dialog } from "../../ui/dialog";
import { troubleOf } from "../../ui/load";
import { ApiError } from "../../wire/api";
import { WORDS } from "./words";

export interface Written {
  name: string;
  text: string;
  /** Keep it although it looks like a secret. */
  anyway: boolean;
}

interface TextDialogProps {
  title: string;
  hint: string;
  text?: string;
  /** Also asks for a title. */
  isNew?: boolean;
  onClose: () => void;
  save: (written: Written) => Promise<void>;
}

/** A text in the person's own words. One that looks like a secret is refused once, and kept if they insist. */
export function TextDialog({ title, hint, text = "", isNew = false, onClose, save }: TextDialogProps) {
  const [name, setName] = useState("");
  const [written, setWritten] = useState(text);
  const [trouble, setTrouble] = useState("");
  const [isRefused, setRefused] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const isWhole = written.trim() !== "" && (!isNew || name.trim() !== "");
  const submit = async (anyway: boolean) => {
    if (!isWhole || isBusy) return;
    setBusy(true);
    setTrouble("");
    try {
      await save({ name: name.trim(), text: written, anyway });
      onClose();
    } catch (error) {
      setRefused(error instanceof ApiError && error.status === 409);
      setTrouble(error instanceof ApiError && error.status === 409 ? error.message : troubleOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      footer={
        <>
          {isRefused && <button type="button" className="button" onClick={() => void submit(true)}>{WORDS.anyway}</button>}
          <button type="submit" form={id} className="button button-main" disabled={!isWhole || isBusy}>{WORDS.save}</button>
        </>
      }
    >
      <form
        id={id}
        className="memory-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(false);
        }}
      >
        <p className="quiet">{hint}</p>
        {isNew && <label>{WORDS.entryTitle}<input className="field" data-first dir="auto" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} /></label>}
        <label>
          {WORDS.text}
          <textarea
            className="field memory-area"
            data-first={isNew ? undefined : ""}
            dir="auto"
            rows={6}
            value={written}
            onChange={(event) => {
              setWritten(event.target.value);
              setRefused(false);
            }}
          />
        </label>
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      </form>
    </Dialog>
  );
}
