import { useCallback, useEffect, useState } from "react";
import { Icon } from "../../ui/icons";
import { Loading, Trouble } from "../../ui/load";
import { Tag } from "../../ui/tag";
import { ApiError, post } from "../../wire/api";
import { WORDS } from "./words";

interface Check {
  name: string;
  status: "ok" | "warning" | "problem";
  detail: string;
  way_out: string;
}

const STATES = {
  ok: { word: WORDS.checks.ok, icon: "tick", tone: "ok" },
  warning: { word: WORDS.checks.warning, icon: "warning", tone: "warn" },
  problem: { word: WORDS.checks.problem, icon: "cross", tone: "bad" },
} as const;
const ORDER = { problem: 0, warning: 1, ok: 2 };

/** Every check of `sestet doctor`, what is broken first, each with its way out. */
export function DoctorTab() {
  const [found, setFound] = useState<{ healthy: boolean; checks: Check[] }>();
  const [error, setError] = useState<ApiError>();
  const examine = useCallback(() => {
    setFound(undefined);
    setError(undefined);
    post<{ healthy: boolean; checks: Check[] }>("/api/doctor", {}).then(setFound, (problem: unknown) => {
      setError(problem instanceof ApiError ? problem : new ApiError(0, "unknown", String(problem)));
    });
  }, []);
  useEffect(examine, [examine]);
  if (error) return <Trouble error={error} />;
  return (
    <>
      <p className="settings-head">
        <b>{found ? (found.healthy ? WORDS.healthy(found.checks.filter((check) => check.status === "warning").length) : WORDS.unhealthy) : WORDS.examining}</b>
        <button type="button" className="button button-small" disabled={!found} onClick={examine}><Icon name="again" />{WORDS.examine}</button>
      </p>
      <Loading of={{ value: found, error: undefined }} lines={10}>
        <ul className="rows">
          {found?.checks.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]).map((check) => (
            <li className="settings-check" key={check.name}>
              <Tag state={STATES[check.status]} />
              <b>{check.name}</b>
              <span className="settings-detail" dir="auto">{check.detail}{check.way_out && check.status !== "ok" && <span className="settings-way">{check.way_out}</span>}</span>
            </li>
          ))}
        </ul>
      </Loading>
    </>
  );
}
