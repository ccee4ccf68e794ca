/** Documents on their way to the librarian, as a list of lines. */
import { useState } from "react";
import { get } from "../wire/api";
import { sendDocument } from "../wire/uploads";
import { announce } from "./live";
import { percent } from "./time";
import { UPLOADS } from "./words";

export interface Upload {
  id: number;
  name: string;
  state: "reading" | "ready" | "failed";
  text: string;
}

export interface Uploads {
  uploads: readonly Upload[];
  take: (files: readonly File[]) => void;
  /** Take a line off the list; the document stays. */
  forget: (id: number) => void;
}

let next = 1;

export function useUploads(): Uploads {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const tell = (upload: Upload) => setUploads((all) => put(all, upload));
  const take = (files: readonly File[]) => {
    for (const file of files) void read(file, tell);
  };
  return { uploads, take, forget: (id) => setUploads((all) => all.filter((each) => each.id !== id)) };
}

/** A line that is known stays where it is. */
function put(all: readonly Upload[], upload: Upload): readonly Upload[] {
  const isKnown = all.some((each) => each.id === upload.id);
  return isKnown ? all.map((each) => (each.id === upload.id ? upload : each)) : [...all, upload];
}

async function read(file: File, tell: (upload: Upload) => void): Promise<void> {
  const upload = { id: next++, name: file.name };
  if (file.type.startsWith("image/")) {
    const facts = await get<{ model?: string }>("/api/models").catch(() => ({ model: "" }));
    tell({ ...upload, state: "failed", text: UPLOADS.imageUnreadable(facts.model || UPLOADS.model) });
    return;
  }
  tell({ ...upload, state: "reading", text: UPLOADS.reading(file.name) });
  try {
    await sendDocument(file, (share) => tell({ ...upload, state: "reading", text: `${UPLOADS.reading(file.name)} ${percent(share)}` }));
    tell({ ...upload, state: "ready", text: UPLOADS.read(file.name) });
    announce(UPLOADS.read(file.name));
  } catch (error) {
    tell({ ...upload, state: "failed", text: `${file.name}: ${error instanceof Error ? error.message : String(error)}` });
  }
}
