import type { ReactNode } from "react";

/** The glyphs of agents and actions, drawn in a square of 16. */
const SHAPES = {
  operator: <path d="M3 4.5 6.5 8 3 11.5M8.5 12H13"/>,
  navigator: <><circle cx="8" cy="8" r="5.8"/><path d="m10.4 5.6-1.5 3.3-3.3 1.5 1.5-3.3z"/></>,
  vault: <><rect x="3" y="7" width="10" height="6.5" rx="1.5"/><path d="M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2"/></>,
  librarian: <path d="M8 4.2C6.4 3 4.4 2.8 2.3 3.2v9c2.1-.4 4.1-.2 5.7 1 1.6-1.2 3.6-1.4 5.7-1v-9C11.6 2.8 9.6 3 8 4.2zm0 0v9"/>,
  planner: <><circle cx="3.8" cy="4" r="1.5"/><circle cx="3.8" cy="12" r="1.5"/><path d="M3.8 5.5v5M8 4h5.5M8 8h4M8 12h5.5"/></>,
  chronicler: <path d="M4 2.5h8M4 13.5h8M5 2.5c0 3 6 4 6 5.5s-6 2.5-6 5.5M11 2.5c0 3-6 4-6 5.5s6 2.5 6 5.5"/>,
  orchestrator: <path d="M3 4h10M3 8h6M3 12h8"/>,
  remote: <path d="M5 11 11 5M6 5h5v5"/>,
  inbox: <path d="M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5H6a2 2 0 0 0 4 0h3.5"/>,
  agents: <><rect x="5.5" y="2" width="5" height="4" rx="1"/><rect x="1.5" y="10" width="4" height="4" rx="1"/><rect x="10.5" y="10" width="4" height="4" rx="1"/><path d="M8 6v2M3.5 10V8h9v2"/></>,
  trace: <path d="M2 4h6M5 8h6M9 12h5"/>,
  graph: <><circle cx="4" cy="12" r="2"/><circle cx="12" cy="10" r="2"/><circle cx="7" cy="4" r="2"/><path d="m4.7 10.1 1.6-4.2M8.3 5.5l2.5 3M6 11.6l4-.9"/></>,
  gear: <><circle cx="8" cy="8" r="2"/><path d="M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4"/></>,
  plus: <path d="M8 3v10M3 8h10"/>,
  search: <><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3 3"/></>,
  fold: <><rect x="2" y="3" width="12" height="10" rx="2"/><path d="M6.5 3v10"/></>,
  foldRight: <><rect x="2" y="3" width="12" height="10" rx="2"/><path d="M9.5 3v10"/></>,
  dots: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2"/>,
  waits: <><circle cx="8" cy="8" r="6"/><path d="M6.5 5.5v5M9.5 5.5v5"/></>,
  tick: <path d="m3 8.5 3.3 3.3L13 5"/>,
  cross: <path d="m4 4 8 8M12 4l-8 8"/>,
  down: <path d="m4 6 4 4 4-4"/>,
  right: <path d="m6 4 4 4-4 4"/>,
  up: <path d="M8 13V3M3.5 7.5 8 3l4.5 4.5"/>,
  stop: <rect x="4" y="4" width="8" height="8" rx="1.5"/>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 3.5v-1h-8v8h1"/></>,
  again: <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3"/>,
  eye: <><path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="2"/></>,
  shield: <path d="M8 1.8 13 3.5v4c0 3.3-2 5.6-5 6.7-3-1.1-5-3.4-5-6.7v-4zM8 5v3.5M8 11h.01"/>,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>,
  recall: <path d="M8 2.5v3l2 1.5M2.5 8a5.5 5.5 0 1 0 2-4.2M2.5 2.5v2.6h2.6"/>,
  sun: <><circle cx="8" cy="8" r="3" /><path d="M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1" /></>,
  file: <path d="M4 1.8h5l3.2 3.2v9.2H4zM9 1.8V5h3.2" />,
  link: <path d="M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7" />,
  pencil: <path d="M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z" />,
  trash: <path d="M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9" />,
  undo: <path d="M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6" />,
  warning: <path d="M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.7h.01" />,
  clock: <><circle cx="8" cy="8" r="6" /><path d="M8 4.8V8l2.2 1.6" /></>,
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

/** A picture beside a word; a screen reader reads the word alone. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}
