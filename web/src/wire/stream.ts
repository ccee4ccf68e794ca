/**
 * What happens on the server, as it happens. A browser allows few connections to one server, so one tab reads the
 * stream and tells the others; when it goes, the next one takes over. Without locks, as over plain HTTP from another
 * machine, only a visible tab reads.
 */
import type { Event } from "../state/event";

export type Hint =
  | { kind: "hello"; version: string; started_at: number }
  | { kind: "session_changed"; session: string }
  | { kind: "session_deleted"; session: string };
export type StreamMessage = Event | Hint;
/** After any status but `open`, messages may have been missed: fetch the journal. */
export type Status = "connecting" | "open" | "lost" | "refused";

const PAUSES = [500, 1000, 2000, 4000, 8000];
/** Longer than the server ever stays silent. */
const SILENCE = 30_000;
const NAME = "sestet-stream";

interface Reader {
  onMessage: (message: StreamMessage) => void;
  onStatus: (status: Status) => void;
}

export function followStream(reader: Reader): () => void {
  const shared = "locks" in navigator && "BroadcastChannel" in globalThis;
  return shared ? followShared(reader) : followVisible(reader);
}

function followShared(reader: Reader): () => void {
  const channel = new BroadcastChannel(NAME);
  const leaving = new AbortController();
  let stop: (() => void) | undefined;
  let status: Status = "connecting";
  let leads = false;
  channel.addEventListener("message", ({ data }: MessageEvent<{ message?: StreamMessage; status?: Status; ask?: true }>) => {
    if (data.message) reader.onMessage(data.message);
    if (data.status) reader.onStatus(data.status);
    if (data.ask && leads) channel.postMessage({ status });
  });
  channel.postMessage({ ask: true });
  const lead = () =>
    new Promise<void>((done) => {
      if (leaving.signal.aborted) return done();
      leads = true;
      stop = connect({
        onMessage: (message) => {
          reader.onMessage(message);
          channel.postMessage({ message });
        },
        onStatus: (now) => {
          status = now;
          reader.onStatus(now);
          channel.postMessage({ status: now });
        },
      });
      leaving.signal.addEventListener("abort", () => done());
    });
  navigator.locks.request(NAME, { signal: leaving.signal }, lead).catch(() => {});
  return () => {
    stop?.();
    leaving.abort();
    channel.close();
  };
}

function followVisible(reader: Reader): () => void {
  let stop: (() => void) | undefined;
  const look = () => {
    if (document.visibilityState === "visible") stop ??= connect(reader);
    else {
      stop?.();
      stop = undefined;
    }
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop?.();
  };
}

/** One connection, made again whenever it breaks. */
function connect({ onMessage, onStatus }: Reader): () => void {
  let ended = false;
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;

  const again = () => {
    clearTimeout(silence);
    running?.abort();
    running = undefined;
    if (ended) return;
    onStatus("lost");
    clearTimeout(retry);
    retry = setTimeout(open, PAUSES[Math.min(failures, PAUSES.length - 1)]);
    failures += 1;
  };
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(again, SILENCE);
  };
  const open = async () => {
    clearTimeout(retry);
    const mine = new AbortController();
    running = mine;
    heard();
    try {
      const response = await fetch("/api/stream", { signal: mine.signal, cache: "no-store", credentials: "same-origin" });
      if (response.status === 401 || response.status === 403) {
        ended = true;
        clearTimeout(silence);
        return onStatus("refused");
      }
      if (!response.ok || !response.body) throw new Error(String(response.status));
      failures = 0;
      onStatus("open");
      await read(response.body, heard, onMessage);
    } catch {
      // Broken or unreachable: the same as an end.
    }
    if (running === mine) again();
  };
  const now = () => {
    if (!running && !ended) void open();
  };
  const cut = () => {
    if (running && !ended) again();
  };
  addEventListener("offline", cut);
  addEventListener("online", now);
  addEventListener("focus", now);
  onStatus("connecting");
  void open();
  return () => {
    ended = true;
    clearTimeout(retry);
    clearTimeout(silence);
    running?.abort();
    removeEventListener("offline", cut);
    removeEventListener("online", now);
    removeEventListener("focus", now);
  };
}

async function read(body: ReadableStream<Uint8Array>, heard: () => void, onMessage: (m: StreamMessage) => void) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data) onMessage(JSON.parse(data) as StreamMessage);
    }
  }
}
