import { useEffect, useState } from "react";
import { copyText } from "./copy";
import { Icon } from "./icons";
import { announce } from "./live";
import { UI } from "./words";

const SHOWN_FOR = 2_000;

export interface CopyButtonProps {
  /** The text, or a function that gives it when it is needed. */
  text: string | (() => string | Promise<string>);
  label?: string;
  /** With the word beside the icon. */
  withWord?: boolean;
}

/** Copies a text, and says whether it worked. */
export function CopyButton({ text, label = UI.copy, withWord = false }: CopyButtonProps) {
  const [result, setResult] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!result) return undefined;
    const timer = setTimeout(() => setResult(""), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    const isDone = await (async () => copyText(typeof text === "string" ? text : await text()))().catch(() => false);
    setResult(isDone ? "copied" : "failed");
    announce(isDone ? UI.copied : UI.copyFailed);
  };
  const word = result === "copied" ? UI.copied : result === "failed" ? UI.copyFailed : label;
  return (
    <button type="button" className={withWord ? "button button-small" : "button-icon"} aria-label={withWord ? undefined : label} title={withWord ? undefined : word} onClick={() => void copy()}>
      <Icon name={result === "copied" ? "tick" : result === "failed" ? "cross" : "copy"} />
      {withWord && word}
    </button>
  );
}
