import { createContext, type KeyboardEvent, type ReactNode, useContext, useState } from "react";
import { type Address, namesItself } from "./address";
import { CopyButton } from "./copy-button";
import { Dialog } from "./dialog";
import { Exact } from "./invisible";
import { UI } from "./words";

/** Whether the answer rests on text from elsewhere: then a link is confirmed first. */
export const Untrusted = createContext(true);

/** A link out of an answer, with its host where the words do not tell it. */
export function Link({ address, words, children }: { address: Address; words: string; children: ReactNode }) {
  const isUntrusted = useContext(Untrusted);
  const [isAsking, setAsking] = useState(false);
  const host = namesItself(words, address) ? null : <span className="md-host">{` (${address.host})`}</span>;
  if (!isUntrusted) {
    return (
      <>
        <a className="md-link" href={address.href} rel="noreferrer noopener" target="_blank">{children}</a>
        {host}
      </>
    );
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    setAsking(true);
  };
  // Without an address, so that no other click, drag or key opens it unseen.
  return (
    <>
      <a className="md-link" role="link" tabIndex={0} onClick={() => setAsking(true)} onKeyDown={onKey}>{children}</a>
      {host}
      <AskFirst address={address} isOpen={isAsking} onClose={() => setAsking(false)} />
    </>
  );
}

function AskFirst({ address, isOpen, onClose }: { address: Address; isOpen: boolean; onClose: () => void }) {
  const footer = (
    <>
      <CopyButton text={address.href} label={UI.copyAddress} withWord />
      <button type="button" className="button button-small" onClick={onClose}>{UI.cancel}</button>
      <a className="button button-small" style={{ textDecoration: "none" }} href={address.href} rel="noreferrer noopener" target="_blank" onClick={onClose}>{UI.open}</a>
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={UI.openTitle} footer={footer}>
      <p className="quiet">{UI.openWhy}</p>
      <p className="md-address mono"><Exact text={address.href} preview={LONGEST_ADDRESS} /></p>
    </Dialog>
  );
}

/** The whole address is shown, however long. */
const LONGEST_ADDRESS = 10_000;
