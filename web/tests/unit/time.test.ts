import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytes, clock, count, counted, date, dayGroup, duration, moment, money, moneyColumn, percent, stopwatch } from "../../src/ui/time";

const at = (text: string) => new Date(text).getTime() / 1000;
const nano = (text: string) => {
  const [dollars = "0", cents = ""] = text.slice(1).replaceAll(",", "").split(".");
  return BigInt(dollars) * 1_000_000_000n + BigInt(cents.padEnd(9, "0"));
};
const NOW = at("2026-11-18T12:00:00"); // a Wednesday

test("a duration has at most two units and never rounds up to a full larger one", () => {
  expect(duration(640)).toBe("640 ms");
  expect(duration(3_800)).toBe("3.8 s");
  expect(duration(999.7)).toBe("1.0 s");
  expect(duration(59_960)).toBe("1 min");
  expect(duration(125_000)).toBe("2 min 5 s");
  expect(duration(3_599_600)).toBe("1 h");
  expect(duration(3_900_000)).toBe("1 h 5 min");
  expect(duration(27 * 3_600_000)).toBe("1 d 3 h");
  expect(duration(-5)).toBe("0 ms");
});

test("a stopwatch shows minutes, and hours when there are some", () => {
  expect(stopwatch(42_900)).toBe("0:42");
  expect(stopwatch(725_000)).toBe("12:05");
  expect(stopwatch(3_723_000)).toBe("1:02:03");
});

test("days are told as a person tells them", () => {
  expect(dayGroup(at("2026-11-18T00:10:00"), NOW)).toBe("Today");
  expect(dayGroup(at("2026-11-17T23:50:00"), NOW)).toBe("Yesterday");
  expect(dayGroup(at("2026-11-16T08:00:00"), NOW)).toBe("This week");
  expect(dayGroup(at("2026-11-15T08:00:00"), NOW)).toBe("Last week");
  expect(dayGroup(at("2026-11-09T08:00:00"), NOW)).toBe("Last week");
  expect(dayGroup(at("2026-11-08T08:00:00"), NOW)).toBe("November");
  expect(dayGroup(at("2025-10-08T08:00:00"), NOW)).toBe("October 2025");
});

test("a moment is as short as its distance allows", () => {
  expect(clock(at("2026-11-18T18:42:00"))).toBe("18:42");
  expect(moment(at("2026-11-18T08:02:00"), NOW)).toBe("08:02");
  expect(moment(at("2026-11-17T08:02:00"), NOW)).toBe("yesterday 08:02");
  expect(moment(at("2026-11-16T08:02:00"), NOW)).toBe("Monday 08:02");
  expect(moment(at("2026-11-02T08:02:00"), NOW)).toBe("2 Nov 08:02");
  expect(date(at("2025-11-12T08:00:00"), NOW)).toBe("12 Nov 2025");
});

test("an amount of money is never shown as nothing", () => {
  expect(money(5_400_000)).toBe("$0.0054");
  expect(money(0)).toBe("$0.0000");
  expect(money(10)).toBe("<$0.0001");
  expect(money(12_345_678_900)).toBe("$12.35");
});

test("a column of money gets more digits only when its parts would not add up", () => {
  expect(moneyColumn([1_100_000, 2_400_000, 900_000])).toEqual({ parts: ["$0.0011", "$0.0024", "$0.0009"], total: "$0.0044" });
  expect(moneyColumn([1_140_000, 2_440_000, 940_000])).toEqual({ parts: ["$0.00114", "$0.00244", "$0.00094"], total: "$0.00452" });
});

test("no part of a column is shown as nothing", () => {
  expect(moneyColumn([20_000, 5_400_000]).parts).toEqual(["$0.00002", "$0.00540"]);
});

test("the shown parts of any amounts add up to the shown total", () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 50_000_000_000 }), { maxLength: 9 });
  fc.assert(
    fc.property(amounts, (parts) => {
      const shown = moneyColumn(parts);
      expect(shown.parts.reduce((sum, part) => sum + nano(part), 0n)).toBe(nano(shown.total));
    }),
  );
});

test("numbers have separators and units", () => {
  expect(count(27_109)).toBe("27,109");
  expect(counted(1, "entry", "entries")).toBe("1 entry");
  expect(counted(2, "entry", "entries")).toBe("2 entries");
  expect(percent(0.97)).toBe("97%");
  expect(bytes(1)).toBe("1 byte");
  expect(bytes(999)).toBe("999 bytes");
  expect(bytes(1_100_000_000)).toBe("1.1 GB");
  expect(bytes(16_384)).toBe("16 kB");
});
