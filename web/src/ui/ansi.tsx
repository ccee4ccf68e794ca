import { memo } from "react";
import { readAnsi, type Run } from "./terminal";
import "./ansi.css";

/** One line of a terminal's text. */
export function AnsiLine({ runs }: { runs: readonly Run[] }) {
  return runs.map((run, at) => (run.style ? <span key={at} className={run.style}>{run.text}</span> : run.text));
}

/** Text from a terminal with its colours. Short texts only: `Output` shows long ones. */
export const Ansi = memo(function Ansi({ text }: { text: string }) {
  return (
    <span className="ansi" dir="auto">
      {readAnsi(text).map((runs, at) => (
        <span key={at}>
          {at > 0 && "\n"}
          <AnsiLine runs={runs} />
        </span>
      ))}
    </span>
  );
});
