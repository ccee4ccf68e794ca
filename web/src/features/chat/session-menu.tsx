import { useState } from "react";
import { go } from "../../state/route";
import { refresh, type SessionRow } from "../../state/store";
import { Dialog } from "../../ui/dialog";
import { troubleOf } from "../../ui/load";
import { Menu } from "../../ui/menu";
import { UI } from "../../ui/words";
import { get, part, request, withQuery } from "../../wire/api";
import { WORDS } from "./words";

interface Deletion {
  turns: number;
  questions: number;
  undoable: number;
  in_doubt: string[];
  saved: Record<string, number>;
}

/** What can be done with a session as a whole. */
export function SessionMenu({ row }: { row: SessionRow }) {
  const [title, setTitle] = useState<string | undefined>();
  const [deletion, setDeletion] = useState<Deletion | undefined>();
  const [withMemories, setWithMemories] = useState(false);
  const [trouble, setTrouble] = useState("");
  const path = `/api/sessions/${part(row.id)}`;
  const attempt = (work: Promise<unknown>) => {
    setTrouble("");
    return work.catch((error: unknown) => setTrouble(troubleOf(error)));
  };

  const rename = async () => {
    await request("PATCH", path, { title });
    setTitle(undefined);
    await refresh();
  };
  const exportIt = async () => {
    const text = await get<string>(`${path}/export?form=markdown`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
    link.download = `${row.title || row.id}.md`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const remove = async () => {
    await request("DELETE", withQuery(path, { with_memories: withMemories || undefined }));
    setDeletion(undefined);
    go("#/new");
    await refresh();
  };
  const saved = Object.entries(deletion?.saved ?? {}).filter(([, number]) => number > 0);
  return (
    <>
      <Menu
        items={[
          { label: WORDS.rename, icon: "pencil", onSelect: () => setTitle(row.title) },
          { label: WORDS.export, icon: "file", onSelect: () => void attempt(exportIt()) },
          {
            label: WORDS.remove_session,
            icon: "trash",
            isDangerous: true,
            onSelect: () => void attempt(get<Deletion>(`${path}/deletion`).then(setDeletion)),
          },
        ]}
      />
      <Dialog
        isOpen={title !== undefined}
        onClose={() => setTitle(undefined)}
        onSubmit={() => title?.trim() && void attempt(rename())}
        title={WORDS.rename}
        footer={<button type="submit" className="button button-main" disabled={!title?.trim()}>{WORDS.save}</button>}
      >
        <input className="field" data-first aria-label={WORDS.title} value={title ?? ""} dir="auto" maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      </Dialog>
      <Dialog
        isOpen={deletion !== undefined}
        onClose={() => setDeletion(undefined)}
        title={WORDS.deleteTitle}
        footer={
          <>
            <button type="button" className="button" data-first onClick={() => setDeletion(undefined)}>{UI.cancel}</button>
            <button type="button" className="button" onClick={() => void attempt(remove())}>{WORDS.deleteSure}</button>
          </>
        }
      >
        <p><b>{WORDS.goes}</b>: {WORDS.turns(deletion?.turns ?? 0)}{deletion?.questions ? `, ${WORDS.questions(deletion.questions)}` : ""}</p>
        {saved.length > 0 && (
          <>
            <p><b>{WORDS.stays}</b>: {saved.map(([kind, number]) => `${number} ${kind}`).join(", ")}</p>
            <label className="tick"><input type="checkbox" checked={withMemories} onChange={(event) => setWithMemories(event.target.checked)} />{WORDS.withMemories}</label>
          </>
        )}
        {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      </Dialog>
    </>
  );
}
