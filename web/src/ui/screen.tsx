import type { ReactNode } from "react";
import { Icon } from "./icons";
import { UI } from "./words";
import "./screen.css";

interface ScreenFrameProps {
  title: string;
  /** Shows the sidebar, where it is a drawer. */
  onMenu: () => void;
  /** At the end of the bar. */
  actions?: ReactNode;
  /** As wide as the window allows, for tables and pictures. */
  isWide?: boolean;
  children: ReactNode;
}

/** A screen with its bar. */
export function ScreenFrame({ title, onMenu, actions, isWide = false, children }: ScreenFrameProps) {
  return (
    <main className="frame" aria-label={title}>
      <header className="frame-bar">
        <button type="button" className="button-icon frame-menu" aria-label={UI.screens} onClick={onMenu}><Icon name="menu" /></button>
        <h1 className="cut">{title}</h1>
        <div className="frame-actions">{actions}</div>
      </header>
      <div className="screen" tabIndex={0} role="region" aria-label={title}>
        <div className={isWide ? "screen-column screen-wide" : "screen-column"}>{children}</div>
      </div>
    </main>
  );
}
