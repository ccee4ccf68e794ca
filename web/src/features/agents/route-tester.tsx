import { useEffect, useState } from "react";
import { Loading, useLoad } from "../../ui/load";
import { Mark } from "../../ui/mark";
import { percent } from "../../ui/time";
import { withQuery } from "../../wire/api";
import { WORDS } from "./words";

interface Weighted {
  feature: string;
  weight: number;
}

interface Explained {
  agent: string;
  confidence: number;
  sure: boolean;
  threshold: number;
  scores: Record<string, number>;
  evidence: Weighted[];
  nearest: { agent: string; request: string }[];
  shown: string;
}

const PAUSE = 250;

/** Explains where a request would go. Nothing is sent, and nothing is done. */
export function RouteTester() {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const route = useLoad<Explained>(asked ? withQuery("/api/route", { text: asked }) : "");
  return (
    <section className="agents-route" aria-label={WORDS.route}>
      <h2>{WORDS.route}</h2>
      <input className="field" dir="auto" value={text} aria-label={WORDS.route} placeholder={WORDS.routeHint} onChange={(event) => setText(event.target.value)} />
      {asked && <Loading of={route}>{route.value && <Explanation route={route.value} />}</Loading>}
    </section>
  );
}

function Explanation({ route }: { route: Explained }) {
  const words = route.evidence.filter((each) => each.weight > 0).slice(0, 6);
  const scores = Object.entries(route.scores).toSorted((a, b) => b[1] - a[1]);
  return (
    <div className="agents-explained card">
      <p className="agents-winner">
        {route.agent === "direct" ? <Mark agent="orchestrator" /> : <Mark agent={route.agent} />}
        <b>{route.agent === "direct" ? WORDS.direct : route.agent}</b>
        <span className="quiet">{route.sure ? WORDS.sure(percent(route.confidence)) : WORDS.notSure(percent(route.confidence, 1), percent(route.threshold, 1))}</span>
      </p>
      <table className="agents-scores" aria-label={WORDS.scores}>
        <tbody>
          {scores.map(([agent, score]) => (
            <tr key={agent}>
              <th scope="row">{agent}</th>
              <td><span className={`agents-score agent-${agent === "direct" ? "orchestrator" : agent}`} style={{ width: `${100 * score}%` }} /></td>
              <td className="num quiet">{percent(score)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {words.length > 0 && <p>{WORDS.speaksFor}: {words.map((each) => `${each.feature} +${each.weight.toFixed(1)}`).join(", ")}</p>}
      {route.nearest.length > 0 && (
        <p>{WORDS.nearest}: {route.nearest.slice(0, 3).map((each) => `"${each.request}"`).join(", ")}</p>
      )}
      {route.shown && <details><summary>{WORDS.shown}</summary><pre className="agents-shown">{route.shown}</pre></details>}
    </div>
  );
}
