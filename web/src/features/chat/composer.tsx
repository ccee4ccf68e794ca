import { type ClipboardEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Turn } from "../../state/turn";
import { Icon } from "../../ui/icons";
import { count } from "../../ui/time";
import { part, post } from "../../wire/api";
import { readDraft, writeDraft } from "./drafts";
import { enqueue } from "./outbox";
import { WORDS } from "./words";

const LONG_PASTE = 2000;
const ESCAPES_WITHIN = 600;

interface ComposerProps {
  session: string;
  running: Turn | undefined;
  lastSaid: string;
  /** Fills the field, for "Ask again" and "Edit". */
  given: { text: string; at: number } | undefined;
  onFiles: (files: readonly File[]) => void;
  onSent: () => void;
}

/** Where a person writes. Its text is its own state, so that a keystroke draws nothing else. */
export function Composer({ session, running, lastSaid, given, onFiles, onSent }: ComposerProps) {
  const [text, setText] = useState(() => readDraft(session));
  const [pasted, setPasted] = useState(0);
  const [mine, setMine] = useState(true);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { stopping, stop } = useStop(running);

  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }, [text]);
  useEffect(() => {
    if (!given) return;
    change(given.text);
    field.current?.focus();
    // Only a new `given` fills the field; typing afterwards is the person's.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [given]);

  const change = (value: string) => {
    setText(value);
    writeDraft(session, value);
  };
  const send = () => {
    if (!text.trim()) return;
    enqueue(session, text, mine);
    change("");
    setPasted(0);
    setMine(true);
    onSent();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // A key that chooses a character of an input method is not meant for the page.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && !text && lastSaid) {
      event.preventDefault();
      change(lastSaid);
    }
  };
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const files = [...event.clipboardData.files];
    if (files.length) {
      event.preventDefault();
      onFiles(files);
      return;
    }
    const length = event.clipboardData.getData("text").length;
    if (length > LONG_PASTE) setPasted(length);
  };
  return (
    <div className="composer">
      {pasted > 0 && (
        <p className="composer-note">
          <Icon name="shield" />
          <span>{WORDS.longPaste(count(pasted))}</span>
          <button type="button" className="button button-small" aria-pressed={!mine} onClick={() => setMine(!mine)}>
            {mine ? WORDS.notMine : WORDS.mine}
          </button>
        </p>
      )}
      <div className="composer-box">
        <button type="button" className="button-icon" aria-label={WORDS.attach} onClick={() => picker.current?.click()}>
          <Icon name="file" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-hidden="true"
          tabIndex={-1}
          onChange={(event) => {
            onFiles([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <textarea
          ref={field}
          id="composer"
          rows={1}
          dir="auto"
          value={text}
          aria-label={WORDS.placeholder}
          placeholder={running ? WORDS.placeholderNext : WORDS.placeholder}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {running && (
          <button type="button" className="button composer-stop" disabled={stopping} onClick={stop}>
            <Icon name="stop" />{stopping ? WORDS.stopping : WORDS.stop}
          </button>
        )}
        <button type="button" className="composer-send" aria-label={WORDS.send} disabled={!text.trim()} onClick={send}>
          <Icon name="up" />
        </button>
      </div>
      <p className="composer-hint">
        <span>{running ? WORDS.waitsHint : WORDS.idleHint}</span>
        <span>{WORDS.allKeys}</span>
      </p>
    </div>
  );
}

/** Stopping is a wish until the turn says that it was stopped. Esc twice stops too. */
function useStop(running: Turn | undefined): { stopping: boolean; stop: () => void } {
  const [asked, setAsked] = useState("");
  const stopping = running !== undefined && asked === running.id;
  const id = running?.id;
  const stop = () => {
    if (!id || asked === id) return;
    setAsked(id);
    post(`/api/turns/${part(id)}/cancel`).catch(() => setAsked(""));
  };
  useEffect(() => {
    let first = 0;
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      const now = performance.now();
      if (now - first < ESCAPES_WITHIN) stop();
      first = now;
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
  return { stopping, stop };
}
