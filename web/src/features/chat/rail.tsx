import { useState } from "react";
import { address } from "../../state/route";
import type { Turn } from "../../state/turn";
import { AgentTree } from "../../turn/agent-tree";
import { Costs } from "../../turn/costs";
import { useNow } from "../../turn/now";
import { delegations, isOver, roundsUsed, scoreOf, workTime } from "../../turn/view";
import { Icon } from "../../ui/icons";
import { Score } from "../../ui/score";
import { Tag } from "../../ui/tag";
import { duration } from "../../ui/time";
import { stateWord, TURN_STATES } from "../../ui/words";
import { part, post } from "../../wire/api";
import { WORDS } from "./words";

/** The work of one turn, whole: score, tree, what was asked, cost. */
export function Rail({ turn, onClose }: { turn: Turn; onClose: () => void }) {
  const now = useNow(turn.phase === "running");
  const [selected, setSelected] = useState("");
  const node = delegations(turn).find((each) => each.delegation === selected) ?? delegations(turn).at(-1);
  // Before the first reply nothing is known about its cost.
  const wasCalled = turn.nodes.some((each) => each.steps.some((step) => step.kind === "model"));
  const firstCall = (node ?? turn.nodes[0])?.steps.find((step) => step.kind === "model");
  return (
    <aside className="rail" aria-label={WORDS.turn(turn.number)}>
      <header className="rail-head">
        <span>{WORDS.turn(turn.number)}</span>
        <Tag state={stateWord(TURN_STATES, turn.phase)} />
        <button type="button" className="button-icon" aria-label={WORDS.hideRail} onClick={onClose}><Icon name="foldRight" /></button>
      </header>
      <div className="rail-body">
        <section>
          <h2><span>{WORDS.score}</span><span className="num">{duration(workTime(turn, now))}</span></h2>
          <Score {...scoreOf(turn, now)} width={296} glyphs />
        </section>
        <section>
          <h2><span>{WORDS.delegations}</span><span className="num">{roundsUsed(turn)}</span></h2>
          <AgentTree turn={turn} now={now} selected={node?.delegation ?? ""} onSelect={setSelected} />
        </section>
        {node && (
          <section>
            <h2>{WORDS.wasAsked(node.agent)}</h2>
            <p className="rail-asked" dir="auto">{node.request}</p>
          </section>
        )}
        {wasCalled && <section><Costs turn={turn} /></section>}
      </div>
      <nav className="rail-foot" aria-label={WORDS.turn(turn.number)}>
        <a href={address("t", turn.id)}><Icon name="trace" />{WORDS.trace}</a>
        <a href={firstCall ? address("t", turn.id, "saw", firstCall.seq) : address("t", turn.id)}><Icon name="eye" />{WORDS.saw}</a>
        {!isOver(turn) && (
          <button type="button" onClick={() => void post(`/api/turns/${part(turn.id)}/cancel`).catch(() => {})}>
            <Icon name="stop" />{WORDS.stopIt}
          </button>
        )}
      </nav>
    </aside>
  );
}
