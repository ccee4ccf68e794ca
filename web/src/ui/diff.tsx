import { Revealed } from "./invisible";
import { UI } from "./words";
import "./diff.css";

/** What a call changes. The mark of a line is `+`, `-` or a blank, and `@` for a heading. */
export interface Changes {
  lines: readonly (readonly [mark: string, text: string])[];
  left_out: number;
}

const KINDS: Readonly<Record<string, { name: string; sign: string; spoken: string }>> = {
  "+": { name: "added", sign: "+", spoken: UI.added },
  "-": { name: "removed", sign: "−", spoken: UI.removed },
  "@": { name: "heading", sign: "", spoken: "" },
};

/** A diff: each line with its sign and colour, invisible characters written out. */
export function Diff({ changes, most = Number.POSITIVE_INFINITY }: { changes: Changes; most?: number }) {
  const shown = changes.lines.slice(0, most);
  const left = changes.left_out + changes.lines.length - shown.length;
  return (
    <div className="diff">
      <div className="diff-lines" dir="ltr">
        {shown.map(([mark, text], at) => {
          const kind = KINDS[mark];
          return (
            <div key={at} className={kind ? `diff-line diff-${kind.name}` : "diff-line"}>
              <span className="diff-sign" aria-hidden="true">{kind?.sign}</span>
              {kind?.spoken && <span className="sr">{`${kind.spoken}: `}</span>}
              <span className="diff-text"><Revealed text={text} /></span>
            </div>
          );
        })}
      </div>
      {left > 0 && <div className="diff-left quiet">{UI.moreLines(left)}</div>}
    </div>
  );
}
