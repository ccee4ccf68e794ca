import { useState } from "react";
import { address, type ScreenProps } from "../../state/route";
import { useStore, type WaitingCall } from "../../state/store";
import type { Question } from "../../state/turn";
import { QuestionCard } from "../../turn/question-card";
import { Mark } from "../../ui/mark";
import { Loading, troubleOf, useLoad } from "../../ui/load";
import { ScreenFrame } from "../../ui/screen";
import { moment } from "../../ui/time";
import { part, request } from "../../wire/api";
import "./inbox.css";
import { WORDS } from "./words";

interface Grant {
  id: number;
  agent: string;
  tool: string;
  pattern: Record<string, unknown>;
  session_id: string | null;
  granted_at: number;
}

/** Every call that waits, wherever it was asked, and the answers that hold for longer. */
export default function Inbox({ onMenu }: ScreenProps) {
  const waiting = useStore((state) => state.waiting);
  const rows = useStore((state) => state.rows) ?? [];
  const groups = joined(waiting);
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      <h2>{WORDS.waiting(waiting.length)}</h2>
      {groups.length === 0 && <p className="empty">{WORDS.nothing}</p>}
      {groups.map((group) => (
        <section className="inbox-group" key={group[0]?.id}>
          {group.length > 1 && <p className="quiet">{WORDS.same(group.length)}</p>}
          {group.map((call) => (
            <div key={call.id}>
              <p className="inbox-where">
                <a href={address("s", call.session_id, call.turn_id)}>
                  <span dir="auto">{rows.find((row) => row.id === call.session_id)?.title || call.session_id}</span>
                </a>
                <span className="quiet num">{moment(call.asked_at)}</span>
              </p>
              <QuestionCard question={asQuestion(call)} />
            </div>
          ))}
        </section>
      ))}
      <Grants />
    </ScreenFrame>
  );
}

/** Questions with equal agent, tool and targets stand together. */
function joined(calls: readonly WaitingCall[]): WaitingCall[][] {
  const groups = new Map<string, WaitingCall[]>();
  for (const call of calls) {
    const key = JSON.stringify([call.agent, call.tool, call.pattern]);
    groups.set(key, [...(groups.get(key) ?? []), call]);
  }
  return [...groups.values()];
}

function asQuestion(call: WaitingCall): Question {
  return {
    approval: call.id,
    delegation: "",
    agent: call.agent,
    seq: 0,
    at: call.asked_at,
    call: { name: call.tool, arguments: call.arguments, id: "", malformed: "" },
    reason: call.reason,
    sources: call.sources,
    expiresAt: call.expires_at,
    changes: call.changes ?? undefined,
    decision: undefined,
    scope: undefined,
  };
}

function Grants() {
  const grants = useLoad<{ grants: Grant[] }>("/api/grants");
  const [trouble, setTrouble] = useState("");
  const revoke = (id: number) => {
    request("DELETE", `/api/grants/${part(id)}`).then(grants.reload, (error: unknown) => setTrouble(troubleOf(error)));
  };
  const all = grants.value?.grants ?? [];
  return (
    <>
      <h2>{WORDS.standing(all.length)}</h2>
      {trouble && <p className="tag-bad" role="alert">{trouble}</p>}
      <Loading of={grants} lines={2}>
        {all.length === 0 ? (
          <p className="empty">{WORDS.noStanding}</p>
        ) : (
          <ul className="rows">
            {all.map((grant) => (
              <li className="inbox-grant" key={grant.id}>
                <Mark agent={grant.agent} />
                <span className="inbox-grant-words">
                  {grant.agent} <code className="mono">{grant.tool}</code> <span dir="auto">{bound(grant)}</span>
                  <span className="quiet"> · {grant.session_id ? WORDS.inSession : WORDS.everywhere} · {WORDS.since(moment(grant.granted_at))}</span>
                </span>
                <button type="button" className="button button-small" onClick={() => revoke(grant.id)}>{WORDS.revoke}</button>
              </li>
            ))}
          </ul>
        )}
      </Loading>
    </>
  );
}

function bound(grant: Grant): string {
  return Object.entries(grant.pattern).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
}
