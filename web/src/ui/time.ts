/** How times, amounts and numbers are written. Moments are seconds since 1970, as in events. */

const NUMBERS = "en-US";
const DATES = "en-GB";
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NANO_DIGITS = 9;

const whole = new Intl.NumberFormat(NUMBERS, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(NUMBERS, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredth = new Intl.NumberFormat(NUMBERS, { style: "percent", maximumFractionDigits: 0 });
const thousandth = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const hourAndMinute = new Intl.DateTimeFormat(DATES, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(DATES, { weekday: "long" });
const dayAndMonth = new Intl.DateTimeFormat(DATES, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(DATES, { day: "numeric", month: "short", year: "numeric" });
const month = new Intl.DateTimeFormat(DATES, { month: "long" });
const monthOfYear = new Intl.DateTimeFormat(DATES, { month: "long", year: "numeric" });

/** `6,104` */
export function count(number: number): string {
  return whole.format(number);
}

/** `1 line`, `6,104 lines` */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `97%`, of a share between 0 and 1 */
export function percent(share: number, digits: 0 | 1 = 0): string {
  return (digits ? thousandth : hundredth).format(share);
}

/** `640 ms`, `3.8 s`, `2 min 5 s`, `1 h 5 min`, `2 d 3 h`: at most two units. */
export function duration(milliseconds: number): string {
  const time = Math.max(0, milliseconds);
  if (Math.round(time) < SECOND) return `${whole.format(time)} ms`;
  if (Math.round(time / 100) < MINUTE / 100) return `${tenth.format(time / SECOND)} s`;
  if (Math.round(time / SECOND) < HOUR / SECOND) return twoUnits(time, MINUTE, "min", SECOND, "s");
  if (Math.round(time / MINUTE) < DAY / MINUTE) return twoUnits(time, HOUR, "h", MINUTE, "min");
  return twoUnits(time, DAY, "d", HOUR, "h");
}

function twoUnits(time: number, large: number, largeName: string, small: number, smallName: string): string {
  const rounded = Math.round(time / small) * small;
  const rest = (rounded % large) / small;
  const first = `${whole.format(Math.floor(rounded / large))} ${largeName}`;
  return rest ? `${first} ${rest} ${smallName}` : first;
}

/** `0:42`, `12:05`, `1:02:03`: a clock that runs. */
export function stopwatch(milliseconds: number): string {
  const seconds = Math.floor(Math.max(0, milliseconds) / SECOND);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** `18:42` */
export function clock(at: number): string {
  return hourAndMinute.format(at * SECOND);
}

/** `12 Nov`, and `12 Nov 2025` in another year. */
export function date(at: number, now = Date.now() / SECOND): string {
  const sameYear = new Date(at * SECOND).getFullYear() === new Date(now * SECOND).getFullYear();
  return (sameYear ? dayAndMonth : dayOfYear).format(at * SECOND);
}

/** `18:42` of today, `yesterday 18:42`, `Monday 18:42` of the last days, else `12 Nov 18:42`. */
export function moment(at: number, now = Date.now() / SECOND): string {
  const days = daysBetween(at, now);
  if (days === 0) return clock(at);
  if (days === 1) return `yesterday ${clock(at)}`;
  if (days > 1 && days < 7) return `${weekday.format(at * SECOND)} ${clock(at)}`;
  return `${date(at, now)} ${clock(at)}`;
}

/** The heading of a list by days: Today, Yesterday, This week, Last week, `October`, `October 2025`. */
export function dayGroup(at: number, now = Date.now() / SECOND): string {
  const days = daysBetween(at, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  const sinceMonday = (new Date(now * SECOND).getDay() + 6) % 7;
  if (days <= sinceMonday) return "This week";
  if (days <= sinceMonday + 7) return "Last week";
  const sameYear = new Date(at * SECOND).getFullYear() === new Date(now * SECOND).getFullYear();
  return (sameYear ? month : monthOfYear).format(at * SECOND);
}

/** Calendar days, so that a day with 23 or 25 hours counts as one. */
function daysBetween(at: number, now: number): number {
  const [then, today] = [new Date(at * SECOND), new Date(now * SECOND)];
  return Math.round((midnight(today) - midnight(then)) / DAY);
}

function midnight(day: Date): number {
  return Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
}

/** `$0.0054`; from a dollar on, `$12.34`. An amount that would be shown as 0 is `<$0.0001`. */
export function money(nanoDollars: number, digits = nanoDollars < 10 ** NANO_DIGITS ? 4 : 2): string {
  const unit = 10 ** (NANO_DIGITS - digits);
  if (nanoDollars > 0 && Math.round(nanoDollars / unit) === 0) return `<${inDollars(unit, digits)}`;
  return inDollars(Math.round(nanoDollars / unit) * unit, digits);
}

function inDollars(nanoDollars: number, digits: number): string {
  const format = new Intl.NumberFormat(NUMBERS, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(nanoDollars / 10 ** NANO_DIGITS);
}

export interface MoneyColumn {
  parts: string[];
  total: string;
}

/** Amounts below each other with the fewest digits (4 or more) with which the shown parts add up to the shown total. */
export function moneyColumn(parts: readonly number[]): MoneyColumn {
  const total = parts.reduce((sum, part) => sum + part, 0);
  let digits = 4;
  while (digits < NANO_DIGITS && !addsUp(parts, total, digits)) digits += 1;
  return { parts: parts.map((part) => inDollars(part, digits)), total: inDollars(total, digits) };
}

function addsUp(parts: readonly number[], total: number, digits: number): boolean {
  const unit = 10 ** (NANO_DIGITS - digits);
  const shown = parts.map((part) => Math.round(part / unit));
  const nothingVanishes = shown.every((part, at) => part > 0 || parts[at] === 0);
  return nothingVanishes && shown.reduce((sum, part) => sum + part, 0) === Math.round(total / unit);
}

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** `1 byte`, `640 bytes`, `1.1 GB` */
export function bytes(number: number): string {
  let [amount, at] = [number, 0];
  while (amount >= 999.5 && at < BYTE_UNITS.length - 1) [amount, at] = [amount / 1000, at + 1];
  if (at === 0) return counted(amount, "byte");
  return `${(amount < 9.95 ? tenth : whole).format(amount)} ${BYTE_UNITS[at]}`;
}
