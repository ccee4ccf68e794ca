/** A document on its way to the server, which says how far it has read it. */
import { errorOf, withQuery } from "./api";

interface Told {
  done?: number;
  total?: number;
  error?: { message: string };
}

/** Send a file; `onShare` hears how much of it was read, between 0 and 1. Fails with the server's reason. */
export async function sendDocument(file: File, onShare: (share: number) => void): Promise<void> {
  const response = await fetch(withQuery("/api/documents", { name: file.name, progress: true }), {
    method: "POST",
    body: file,
    headers: { "Content-Type": "application/octet-stream" },
    credentials: "same-origin",
  });
  if (!response.ok) throw await errorOf(response);
  const reader = response.body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
    const piece = await reader?.read();
    if (!piece || piece.done) return;
    const blocks = (rest + piece.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const share = readProgress(block);
      if (share !== undefined) onShare(share);
    }
  }
}

/** The share that one message of the stream tells, if any; a message about an error is thrown. */
export function readProgress(block: string): number | undefined {
  const data = /^data: ?(.*)$/m.exec(block)?.[1];
  if (!data) return undefined;
  const told = JSON.parse(data) as Told;
  if (/^event: ?error$/m.test(block)) throw new Error(told.error?.message ?? data);
  return told.total ? (told.done ?? 0) / told.total : undefined;
}
