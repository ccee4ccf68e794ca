import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "./copy-button";
import { UI } from "./words";
import "./code.css";

/** Longer code stays plain. */
const MOST_COLOURED = 20_000;

export interface CodeProps {
  text: string;
  language?: string;
  /** False while the text grows: it stays plain until then. */
  isComplete?: boolean;
}

/** A block of code: its language, a button that copies it, and shades of grey once they are loaded. */
export const Code = memo(function Code({ text, language = "", isComplete = true }: CodeProps) {
  const coloured = useColours(text, language, isComplete);
  return (
    <div className="code">
      <div className="code-head">
        <span className="code-language">{language || UI.code}</span>
        <CopyButton text={text} label={UI.copyCode} />
      </div>
      <pre className="code-text" dir="ltr" tabIndex={0} role="group" aria-label={language ? `${UI.code}, ${language}` : UI.code}>
        <code>{coloured ?? text}</code>
      </pre>
    </div>
  );
});

function useColours(text: string, language: string, isComplete: boolean): ReactNode {
  const [coloured, setColoured] = useState<{ text: string; language: string; node: ReactNode } | null>(null);
  useEffect(() => {
    if (!isComplete || !language || text.length > MOST_COLOURED) return undefined;
    let isWanted = true;
    const colour = async () => {
      const { highlight } = await import("./highlight");
      if (isWanted) setColoured({ text, language, node: highlight(text, language) });
    };
    // Code can be read without colours.
    colour().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [text, language, isComplete]);
  return coloured?.text === text && coloured.language === language ? coloured.node : null;
}
