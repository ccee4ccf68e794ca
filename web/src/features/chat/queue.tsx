import { useState } from "react";
import type { Turn } from "../../state/turn";
import { Icon } from "../../ui/icons";
import { addToTurn, change, drop, type Outgoing, sendNow } from "./outbox";
import { WORDS } from "./words";

/** Messages that are being sent, in the place where their turn will stand. */
export function Pending({ items, isBusy }: { items: readonly Outgoing[]; isBusy: boolean }) {
  const sending = items.filter((item) => item.state === "sending" || item.state === "sent" || (item.state === "waiting" && !isBusy));
  return sending.map((item) => (
    <article className="turn" key={item.key} aria-label={WORDS.sending}>
      <div className="turn-said turn-pending" dir="auto">{item.text}</div>
    </article>
  ));
}

/** Messages that wait for the turn before them: they can be changed until they go. */
export function Queue({ session, items, running }: { session: string; items: readonly Outgoing[]; running: Turn | undefined }) {
  const waiting = items.filter((item) => item.state === "failed" || item.state === "held" || item.state === "away" || (item.state === "waiting" && running));
  if (!waiting.length) return null;
  return (
    <ul className="queue" aria-label={WORDS.queue}>
      {waiting.map((item) => <Waiting key={item.key} session={session} item={item} running={running} />)}
    </ul>
  );
}

function Waiting({ session, item, running }: { session: string; item: Outgoing; running: Turn | undefined }) {
  const [text, setText] = useState<string | undefined>();
  const save = () => {
    if (text?.trim()) change(session, item.key, { text });
    setText(undefined);
  };
  return (
    <li className="queue-item">
      {text === undefined ? (
        <span className="queue-text" dir="auto">{item.text}</span>
      ) : (
        <textarea
          className="queue-field"
          aria-label={WORDS.edit}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person asked for this field
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={save}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) save();
          }}
        />
      )}
      {item.state === "held" && <span className="tag tag-warn"><Icon name="warning" />{WORDS.held}</span>}
      {item.state === "away" && <span className="tag tag-warn"><Icon name="clock" />{WORDS.away}</span>}
      {item.state === "failed" && <span className="tag tag-bad"><Icon name="cross" />{WORDS.notSent}: {item.trouble}</span>}
      {(item.state === "held" || item.state === "failed") && (
        <button type="button" className="button button-small" onClick={() => sendNow(session, item.key)}>
          {item.state === "held" ? WORDS.sendNow : WORDS.tryAgain}
        </button>
      )}
      {item.state === "waiting" && running?.phase === "running" && (
        <button type="button" className="button button-small" onClick={() => void addToTurn(session, item, running.id)}>{WORDS.addNow}</button>
      )}
      <button type="button" className="button-icon" aria-label={WORDS.edit} onClick={() => setText(item.text)}><Icon name="pencil" /></button>
      <button type="button" className="button-icon" aria-label={WORDS.remove} onClick={() => drop(session, item.key)}><Icon name="cross" /></button>
    </li>
  );
}
