import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ApiError, get, REACHED } from "../wire/api";

const PATIENCE = 300;

export interface Loaded<T> {
  value: T | undefined;
  error: ApiError | undefined;
  reload: () => void;
  set: (value: T) => void;
}

/** Fetch something, again whenever its path changes. An empty path fetches nothing. */
export function useLoad<T>(path: string): Loaded<T> {
  const [state, setState] = useState<{ path: string; value?: T; error?: ApiError }>({ path: "" });
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (!path) return undefined;
    const leaving = new AbortController();
    get<T>(path, leaving.signal).then(
      (value) => setState({ path, value }),
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        setState({ path, error: error instanceof ApiError ? error : new ApiError(0, "unknown", String(error)) });
      },
    );
    return () => leaving.abort();
  }, [path, times]);
  const reload = useCallback(() => setTimes((number) => number + 1), []);
  const isCut = state.error?.status === 0;
  useEffect(() => {
    if (!isCut) return undefined;
    addEventListener(REACHED, reload);
    return () => removeEventListener(REACHED, reload);
  }, [isCut, reload]);
  const set = useCallback((value: T) => setState({ path, value }), [path]);
  // What another path gave is not shown, unless it is only a newer answer of the same kind.
  return { value: state.path === path ? state.value : undefined, error: state.path === path ? state.error : undefined, reload, set };
}

/** Nothing for a moment, then grey lines of the height to come; an error says what, why and the way out. */
export function Loading({ of, lines = 4, children }: { of: Pick<Loaded<unknown>, "value" | "error">; lines?: number; children: ReactNode }) {
  const [isSlow, setSlow] = useState(false);
  const isLoading = of.value === undefined && of.error === undefined;
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setTimeout(() => setSlow(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [isLoading]);
  if (of.error) return <Trouble error={of.error} />;
  if (!isLoading) return children;
  if (!isSlow) return null;
  return <div aria-busy="true">{Array.from({ length: lines }, (_, at) => <div className="loading-line" key={at} style={{ width: `${90 - 12 * (at % 4)}%` }} />)}</div>;
}

export function Trouble({ error }: { error: ApiError }) {
  return (
    <div className="trouble" role="alert">
      <p><b>{sentence(error.message)}</b></p>
      {error.wayOut && <p>{sentence(error.wayOut)}</p>}
    </div>
  );
}

/** The words of an error for a line beside what failed. */
export function troubleOf(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.wayOut].filter(Boolean).map(sentence).join(" ");
  return error instanceof Error ? error.message : String(error);
}

/** The server's words begin small, since programs put them behind others; a person reads a sentence. */
export function sentence(text: string): string {
  const whole = text.charAt(0).toLocaleUpperCase() + text.slice(1);
  return /[.!?…:]$/.test(whole) ? whole : `${whole}.`;
}
