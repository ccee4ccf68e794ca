import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Icon, type IconName } from "./icons";
import { moveFocus, rowKeys } from "./tree";
import { UI } from "./words";
import "./dialog.css";

export interface MenuItem {
  label: string;
  onSelect: () => void;
  icon?: IconName;
  /** A quieter line below the label, such as what it covers or why it is impossible. */
  note?: string;
  isDisabled?: boolean;
  isDangerous?: boolean;
}

export interface MenuProps {
  items: readonly MenuItem[];
  /** The name of a button that shows an icon alone. */
  label?: string;
  /** What the button shows; three dots without it. */
  children?: ReactNode;
  buttonClass?: string;
  /** At which end of the button the list begins. */
  align?: "start" | "end";
}

/** A button that opens a list of actions: arrows and letters move, Esc and a click outside close it. */
export function Menu({ items, label = UI.menu, children, buttonClass = "button-icon", align = "end" }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [isUp, setUp] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const listId = useId();

  useLayoutEffect(() => {
    if (!isOpen || !list.current || !button.current) return;
    // What scrolls around it cuts the list off at its end.
    const frame = button.current.closest(".log, .screen, .dialog-body, .rail-body")?.getBoundingClientRect();
    const { top, bottom } = button.current.getBoundingClientRect();
    const [above, below] = [top - (frame?.top ?? 0), (frame?.bottom ?? window.innerHeight) - bottom];
    setUp(below < list.current.offsetHeight + 8 && below < above);
    moveFocus(itemsOf(list.current), 0);
  }, [isOpen]);

  useEffect(() => {
    if (!isOpen) return undefined;
    const closeOutside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside, true);
    return () => document.removeEventListener("pointerdown", closeOutside, true);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  const onKeys = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      if (event.key === "Escape") event.preventDefault();
      close();
    } else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const elements = itemsOf(event.currentTarget);
      const to = findByLetter(items, event.key, elements.indexOf(event.target as HTMLElement));
      if (to >= 0) moveFocus(elements, to);
      event.stopPropagation();
    } else {
      rowKeys(event, "[role=menuitem]", true);
    }
  };
  return (
    <div ref={root} className={`menu menu-${align}${isUp ? " menu-up" : ""}`}>
      <button
        ref={button}
        type="button"
        className={buttonClass}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? listId : undefined}
        aria-label={children ? undefined : label}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children ?? <Icon name="dots" />}
      </button>
      {isOpen && (
        <div ref={list} id={listId} className="menu-list" role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeys}>
          {items.map((item, at) => (
            <button
              key={at}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={item.isDangerous ? "menu-item menu-danger" : "menu-item"}
              aria-disabled={item.isDisabled || undefined}
              onClick={() => {
                if (item.isDisabled) return;
                close();
                item.onSelect();
              }}
            >
              {item.icon ? <Icon name={item.icon} /> : <span />}
              <span className="menu-word">{item.label}</span>
              {item.note && <span className="menu-note">{item.note}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function itemsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("[role=menuitem]")];
}

/** The next item after a place whose label begins with the letter, or -1. */
export function findByLetter(items: readonly { label: string }[], letter: string, at: number): number {
  const wanted = letter.toLocaleLowerCase();
  const places = items.map((_, step) => (at + 1 + step) % items.length);
  return places.find((place) => items[place]?.label.toLocaleLowerCase().startsWith(wanted)) ?? -1;
}
