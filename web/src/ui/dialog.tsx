import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { createPortal } from "react-dom";
import { Icon } from "./icons";
import { UI } from "./words";
import "./dialog.css";

export interface DialogProps {
  isOpen: boolean;
  /** Called for Esc, the cross and a click beside the dialog. The dialog closes when `isOpen` becomes false. */
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** The buttons at its end. */
  footer?: ReactNode;
  isWide?: boolean;
  /** Makes it a form: Enter in a field and a button of type "submit" call it. */
  onSubmit?: () => void;
}

/** A modal dialog on the native element. Focus goes in, and back to where it was. A child with `data-first` gets it first. */
export function Dialog({ isOpen, ...rest }: DialogProps) {
  if (!isOpen) return null;
  const dialog = <OpenDialog {...rest} />;
  return typeof document === "undefined" ? dialog : createPortal(dialog, document.body);
}

function OpenDialog({ onClose, title, children, footer, isWide = false, onSubmit }: Omit<DialogProps, "isOpen">) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (!element?.open) element?.showModal();
    // React's own autofocus comes before the dialog is shown, when nothing in it can have the focus.
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const closeOutside = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog
      ref={dialog}
      className={isWide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
      }}
      onMouseDown={closeOutside}
      // The page's own keys are not meant while a dialog is open.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Box onSubmit={onSubmit}>
        <header className="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" className="button-icon" aria-label={UI.close} onClick={onClose}>
            <Icon name="cross" />
          </button>
        </header>
        <div className="dialog-body">{children}</div>
        {footer && <footer className="dialog-foot">{footer}</footer>}
      </Box>
    </dialog>
  );
}

function Box({ onSubmit, children }: { onSubmit: (() => void) | undefined; children: ReactNode }) {
  if (!onSubmit) return <div className="dialog-box">{children}</div>;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return <form className="dialog-box" onSubmit={submit}>{children}</form>;
}

/** Whether a dialog is open, so that the page's own keys do nothing. */
export function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]") !== null;
}
