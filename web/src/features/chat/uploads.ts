/** Documents on their way to the librarian. */
import { useState } from "react";
import { announce } from "../../ui/live";
import { errorOf, get, withQuery } from "../../wire/api";
import { WORDS } from "./words";

export interface Upload {
  id: number;
  name: string;
  state: "reading" | "ready" | "failed";
  text: string;
}

let next = 1;

export function useUploads(): { uploads: readonly Upload[]; take: (files: readonly File[]) => void; forget: (id: number) => void } {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const tell = (upload: Upload) => setUploads((all) => [...all.filter((each) => each.id !== upload.id), upload]);
  const take = (files: readonly File[]) => {
    for (const file of files) void read(file, tell);
  };
  return { uploads, take, forget: (id) => setUploads((all) => all.filter((each) => each.id !== id)) };
}

async function read(file: File, tell: (upload: Upload) => void): Promise<void> {
  const id = next++;
  const upload = { id, name: file.name };
  if (file.type.startsWith("image/")) {
    const facts = await get<{ model?: string }>("/api/models").catch(() => ({ model: "" }));
    tell({ ...upload, state: "failed", text: WORDS.imageUnreadable(facts.model || "The model") });
    return;
  }
  tell({ ...upload, state: "reading", text: WORDS.reading(file.name) });
  try {
    const response = await fetch(withQuery("/api/documents", { name: file.name, progress: true }), {
      method: "POST",
      body: file,
      headers: { "Content-Type": "application/octet-stream" },
      credentials: "same-origin",
    });
    if (!response.ok) throw await errorOf(response);
    await progress(response, (percent) => tell({ ...upload, state: "reading", text: `${WORDS.reading(file.name)} ${percent}` }));
    tell({ ...upload, state: "ready", text: WORDS.read(file.name) });
    announce(WORDS.read(file.name));
  } catch (error) {
    tell({ ...upload, state: "failed", text: `${file.name}: ${error instanceof Error ? error.message : String(error)}` });
  }
}

async function progress(response: Response, onPart: (text: string) => void): Promise<void> {
  const text = response.body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
    const part = await text?.read();
    if (!part || part.done) return;
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (!data) continue;
      const facts = JSON.parse(data) as { done?: number; total?: number; error?: { message: string }; message?: string };
      if (/^event: ?error$/m.test(block)) throw new Error(facts.error?.message ?? facts.message ?? data);
      if (facts.total) onPart(`${Math.round((100 * (facts.done ?? 0)) / facts.total)} %`);
    }
  }
}
