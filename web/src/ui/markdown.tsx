import { memo, useMemo, useState } from "react";
import { Untrusted } from "./link";
import { type Links, LONGEST_TEXT, NOTHING, readBlock, splitBlocks } from "./markdown-blocks";
import { drawTokens } from "./markdown-tokens";
import { clean } from "./plain";
import { UI } from "./words";
import "./markdown.css";

export interface MarkdownProps {
  text: string;
  /** Whether the text rests on what others wrote: its links are confirmed first. */
  untrusted: boolean;
  /** False while the text grows. */
  complete?: boolean;
}

/** An answer. Blocks that are finished keep their elements while the text grows. */
export const Markdown = memo(function Markdown({ text, untrusted, complete = true }: MarkdownProps) {
  const [split] = useState(createSplitter);
  const whole = useMemo(() => clean(text), [text]);
  const shown = whole.slice(0, LONGEST_TEXT);
  const { blocks, links } = split(shown, complete);
  const rest = whole.slice(LONGEST_TEXT);
  return (
    <Untrusted value={untrusted}>
      <div className="md">
        {blocks.map((raw, at) => (
          <Block key={at} raw={raw} links={links} isDone={complete || at < blocks.length - 1} />
        ))}
        {rest && <p className="quiet">{UI.plainRest(rest.length)}</p>}
        {rest && <p className="md-plain" dir="auto">{rest}</p>}
      </div>
    </Untrusted>
  );
});

/** Splits a text that grows, and remembers the last split. Equal links stay the same object, so that blocks are not drawn again. */
function createSplitter(): (text: string, isComplete: boolean) => { blocks: string[]; links: Links } {
  let last = NOTHING;
  let links: Links = {};
  let isWhole = false;
  return (text, isComplete) => {
    // The end of a text is split as if it had come at once, so that it looks the same after a reload.
    last = splitBlocks(text, isComplete && !isWhole ? NOTHING : last);
    isWhole = isComplete;
    if (JSON.stringify(last.links) !== JSON.stringify(links)) links = last.links;
    return { blocks: last.raws.filter((_, at) => !last.silent[at]), links };
  };
}

const Block = memo(function Block({ raw, links, isDone }: { raw: string; links: Links; isDone: boolean }) {
  const tokens = useMemo(() => readBlock(raw, links), [raw, links]);
  return tokens ? drawTokens(tokens, isDone) : <p className="md-plain" dir="auto">{raw}</p>;
});
