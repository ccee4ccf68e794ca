import { useState } from "react";
import { Loading, useLoad } from "../../ui/load";
import { count, moneyColumn } from "../../ui/time";
import { withQuery } from "../../wire/api";
import { WORDS } from "./words";

interface Sum {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  nano_dollars: number;
}

interface CostRow extends Sum {
  name?: string;
  key?: string;
  title?: string;
}

type By = keyof typeof WORDS.by;

/** What the models have cost. The parts add up to the total, to the last digit. */
export function CostsTab() {
  const [by, setBy] = useState<By>("day");
  const costs = useLoad<{ rows: CostRow[]; total: Sum; background: Sum }>(withQuery("/api/costs", { by }));
  const rows = costs.value?.rows ?? [];
  const { parts, total } = moneyColumn(rows.map((row) => row.nano_dollars));
  return (
    <>
      <div className="settings-by" role="group" aria-label={WORDS.byWhat}>
        {(Object.keys(WORDS.by) as By[]).map((each) => <button type="button" className="button button-small" key={each} aria-pressed={each === by} onClick={() => setBy(each)}>{WORDS.by[each]}</button>)}
      </div>
      <Loading of={costs}>
        {rows.length === 0 ? (
          <p className="empty">{WORDS.noCosts}</p>
        ) : (
          <div className="facts-frame">
            <table className="facts settings-costs">
              <thead><tr><th scope="col">{WORDS.columns[by]}</th><th scope="col">{WORDS.calls}</th><th scope="col">{WORDS.tokens}</th><th scope="col">{WORDS.price}</th></tr></thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={nameOf(row, by)}><td dir="auto">{nameOf(row, by)}</td><td className="num">{count(row.calls)}</td><td className="num">{count(row.input_tokens + row.output_tokens)}</td><td className="num">{parts[at]}</td></tr>
                ))}
              </tbody>
              <tfoot>
                <tr><th scope="row">{WORDS.total}</th><td className="num">{count(costs.value?.total.calls ?? 0)}</td><td className="num">{count((costs.value?.total.input_tokens ?? 0) + (costs.value?.total.output_tokens ?? 0))}</td><td className="num">{total}</td></tr>
              </tfoot>
            </table>
          </div>
        )}
      </Loading>
    </>
  );
}

function nameOf(row: CostRow, by: By): string {
  const named = row as unknown as Record<string, unknown>;
  return String(row.title || row.name || row.key || named[by] || "");
}
