import type { Turn } from "../state/turn";
import { Mark } from "../ui/mark";
import { count, moneyColumn } from "../ui/time";
import { costsOf } from "./view";
import { WORDS } from "./words";
import "./turn.css";

/** What each agent cost; the parts add up to the turn, to the last digit. */
export function Costs({ turn }: { turn: Turn }) {
  const rows = costsOf(turn);
  const { parts, total } = moneyColumn(rows.map((row) => row.nanoDollars));
  const spentAnything = rows.some((row) => row.nanoDollars > 0);
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  return (
    <table className="costs">
      <thead>
        <tr><th scope="col">{WORDS.cost}</th><th scope="col">{WORDS.tokens}</th><th scope="col">{WORDS.price}</th></tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={row.agent}>
            <td><span className="costs-agent"><Mark agent={row.agent} small />{row.agent}</span></td>
            <td className="num quiet">{count(row.tokens)}</td>
            <td className="num">{row.nanoDollars ? parts[at] : <Unpriced isFree={row.isFree} />}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr><th scope="row">{WORDS.turn}</th><td className="num">{count(tokens)}</td><td className="num">{spentAnything ? total : <Unpriced isFree={rows.every((row) => row.isFree)} />}</td></tr>
      </tfoot>
    </table>
  );
}

function Unpriced({ isFree }: { isFree: boolean }) {
  return <span className="quiet">{isFree ? WORDS.free : WORDS.unknownPrice}</span>;
}
