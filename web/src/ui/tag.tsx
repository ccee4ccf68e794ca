import { Icon } from "./icons";
import type { StateWord } from "./words";

/** A state as icon and word. `detail` follows the word, such as a running clock. */
export function Tag({ state, detail = "" }: { state: StateWord; detail?: string }) {
  return (
    <span className={`tag${state.tone ? ` tag-${state.tone}` : ""}`}>
      <Icon name={state.icon} />
      {state.word}
      {detail && ` ${detail}`}
    </span>
  );
}
