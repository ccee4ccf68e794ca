import { useEffect, useRef, useState } from "react";
import { Icon } from "../../ui/icons";
import { Loading, useLoad } from "../../ui/load";
import { bytes, date } from "../../ui/time";
import { useUploads } from "../../ui/uploads";
import { request, withQuery } from "../../wire/api";
import { Consequence, ForgetDialog } from "./forget";
import { type Document, fileName } from "./kinds";
import { WORDS } from "./words";

const MOST = 200;

/** The documents that were read in, and a way to add one. */
export function Documents({ tell }: { tell: (text: string) => void }) {
  const list = useLoad<{ documents: Document[] }>(`/api/documents?limit=${MOST}`);
  const { uploads, take, forget } = useUploads();
  const [unwanted, setUnwanted] = useState<Document | undefined>();
  const field = useRef<HTMLInputElement>(null);
  const rows = list.value?.documents ?? [];
  const ready = uploads.filter((upload) => upload.state === "ready").length;
  const { reload } = list;
  useEffect(() => {
    if (ready) reload();
  }, [ready, reload]);
  return (
    <>
      <div className="memory-bar">
        <button type="button" className="button button-small" onClick={() => field.current?.click()}><Icon name="plus" />{WORDS.addDocument}</button>
        <span className="quiet">{WORDS.documentHint}</span>
        <input
          ref={field}
          className="sr"
          type="file"
          multiple
          tabIndex={-1}
          aria-label={WORDS.addDocument}
          onChange={(event) => {
            take([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
      </div>
      {uploads.length > 0 && (
        <ul className="memory-uploads">
          {uploads.map((upload) => (
            <li key={upload.id} className={upload.state === "failed" ? "tag-bad" : undefined}>
              <Icon name={upload.state === "failed" ? "cross" : upload.state === "ready" ? "tick" : "clock"} />
              <span dir="auto">{upload.text}</span>
              <button type="button" className="button-icon" aria-label={`${WORDS.remove}: ${upload.name}`} onClick={() => forget(upload.id)}><Icon name="cross" /></button>
            </li>
          ))}
        </ul>
      )}
      <Loading of={list} lines={6}>
        {rows.length === 0 ? <p className="empty">{WORDS.empty.documents}</p> : (
          <ul className="rows memory-rows">
            {rows.map((document) => (
              <li className="memory-row" key={document.id}>
                <div className="memory-line">
                  <div className="memory-line-words">
                    <p className="memory-title" dir="auto">{fileName(document.path)}</p>
                    <p className="memory-path" title={document.path}>{document.path}</p>
                  </div>
                  <button type="button" className="button button-small" aria-label={`${WORDS.forget}: ${fileName(document.path)}`} onClick={() => setUnwanted(document)}>{WORDS.forget}</button>
                </div>
                <p className="memory-facts num">
                  <span>{document.kind}</span><span>{bytes(document.bytes)}</span><span>{WORDS.passages(document.chunks)}</span><span>{date(document.ingested_at)}</span>
                </p>
              </li>
            ))}
          </ul>
        )}
        {rows.length === MOST && <p className="quiet memory-note">{WORDS.onlyLatest(MOST)}</p>}
      </Loading>
      {unwanted && (
        <ForgetDialog
          name={fileName(unwanted.path)}
          onClose={() => setUnwanted(undefined)}
          forget={async () => {
            await request("DELETE", withQuery("/api/documents", { path: unwanted.path }));
            list.reload();
            tell(WORDS.forgotten(fileName(unwanted.path)));
          }}
        >
          <Consequence name={WORDS.goes}>
            <li>{WORDS.documentGoes(unwanted.chunks)}</li>
            {unwanted.uploaded && <li>{WORDS.uploadGoes}</li>}
          </Consequence>
          <Consequence name={WORDS.stays}>
            {!unwanted.uploaded && <li dir="auto">{WORDS.fileStays(unwanted.path)}</li>}
            <li>{WORDS.otherConversations}</li>
          </Consequence>
        </ForgetDialog>
      )}
    </>
  );
}
