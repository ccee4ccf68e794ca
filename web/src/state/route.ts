/** The address of a screen, behind the `#`. */
import { useSyncExternalStore } from "react";

export interface Route {
  screen: string;
  /** The parts behind the screen's name. */
  rest: readonly string[];
  query: URLSearchParams;
}

/** What every screen but the conversation gets. */
export interface ScreenProps {
  route: Route;
  /** Shows the sidebar, where it is a drawer. */
  onMenu: () => void;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return readRoute(hash);
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen = "", ...rest] = path.split("/").map(decoded);
  return { screen: screen || "new", rest, query: new URLSearchParams(query) };
}

export function address(screen: string, ...rest: (string | number)[]): string {
  return `#/${[screen, ...rest].map((each) => encodeURIComponent(String(each))).join("/")}`;
}

export function go(to: string): void {
  location.hash = to.replace(/^#/, "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
