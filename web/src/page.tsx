import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { Chat } from "./features/chat";
import { Keys } from "./shell/keys";
import { SignIn } from "./shell/sign-in";
import { Sidebar } from "./shell/sidebar";
import "./shell/shell.css";
import { WORDS } from "./shell/words";
import { type ScreenProps, useRoute } from "./state/route";
import { start, useStore } from "./state/store";
import { focusSoon, useKeptFocus } from "./ui/focus";
import { Icon } from "./ui/icons";
import { LiveRegions } from "./ui/live";
import { useNarrow } from "./ui/narrow";
import { Scrim } from "./ui/scrim";

/** The screens that are loaded on first use, by the first part of their address. */
const SCREENS: Readonly<Record<string, ComponentType<ScreenProps>>> = {
  agents: lazy(() => import("./features/agents")),
  graph: lazy(() => import("./features/graph")),
  inbox: lazy(() => import("./features/inbox")),
  memory: lazy(() => import("./features/memory")),
  search: lazy(() => import("./features/search")),
  settings: lazy(() => import("./features/settings")),
  t: lazy(() => import("./features/trace")),
  traces: lazy(() => import("./features/traces")),
};

export function Page() {
  const route = useRoute();
  const status = useStore((state) => state.status);
  const waiting = useStore((state) => state.waiting.length);
  const place = `${route.screen}/${route.rest[0] ?? ""}`;
  const [isFolded, setFolded] = useState(() => innerWidth < 800);
  const isNarrow = useNarrow();
  useEffect(start, []);
  useKeptFocus();
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ""}${WORDS.name}`;
  }, [waiting]);
  useEffect(() => {
    // On a phone the sidebar is a drawer: choosing something closes it.
    if (innerWidth < 800) setFolded(true);
  }, [place]);
  if (status === "refused") return <SignIn />;
  const Screen = SCREENS[route.screen];
  const unfold = () => {
    setFolded(false);
    focusSoon(".side-brand button");
  };
  const fold = () => {
    setFolded(true);
    focusSoon(isNarrow ? ".chat-tap, .frame-menu" : ".shell-unfold");
  };
  const isDrawer = !isFolded && isNarrow;
  return (
    <div className={isFolded ? "shell shell-folded" : "shell"}>
      <a className="shell-skip" href="#page" onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>("#composer, .screen")?.focus();
      }}>{WORDS.skip}</a>
      {status === "lost" && <p className="shell-status" role="status"><Icon name="warning" />{WORDS.lost}</p>}
      {isDrawer && <Scrim onClose={fold} />}
      {!isFolded && <div className="shell-side"><Sidebar route={route} onHide={fold} /></div>}
      <div className="shell-main">
        {isFolded && <button type="button" className="button-icon shell-unfold" aria-label={WORDS.show} onClick={unfold}><Icon name="fold" /></button>}
        {Screen ? <Suspense fallback={null}><Screen route={route} onMenu={unfold} /></Suspense> : <Chat route={route} onMenu={unfold} />}
      </div>
      <Keys />
      <LiveRegions />
    </div>
  );
}
