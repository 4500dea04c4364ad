/**
 * Numbers, dates, times and plurals in the interface's language, by `Intl`. What is written here is written nowhere else.
 * Units are the SI's symbols and groups of digits stand apart by a narrow space, in every language.
 */

const NARROW = "\u202f";

let language = "en";
let formats = new Map<string, unknown>();

/**
 * Takes the language that everything below is written in. A person who has British English among their languages, and the
 * interface in English, sees British dates.
 */
export function setLocale(spoken: string, asked: readonly string[] = preferred()): void {
  const base = (tag: string) => tag.split("-")[0];
  language = asked.find((tag) => base(tag) === base(spoken) && isKnown(tag)) ?? spoken;
  formats = new Map();
}

/** Languages that the system says the person reads, the preferred one first. */
export function preferred(): readonly string[] {
  return typeof navigator === "undefined" ? [] : (navigator.languages ?? []);
}

function isKnown(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    // Systems give names that are no language tags, such as `C`.
    return false;
  }
}

/** Makes a format once for a language. */
function format<T>(name: string, make: (language: string) => T): T {
  if (!formats.has(name)) formats.set(name, make(language));
  return formats.get(name) as T;
}

/** Is this the number that takes the singular? */
export const isOne = (n: number): boolean =>
  format("plural", (tag) => new Intl.PluralRules(tag)).select(n) === "one";

/** What stands between the things of a list; a space between sentences. */
export type Join = "comma" | "space" | "and" | "or";

/** Things one after another: `a, b, c`, or `a、b、c` in Chinese. */
export function listed(things: readonly string[], join: Join = "comma"): string {
  if (join === "space") return things.join(" ");
  const options = {
    type: join === "or" ? "disjunction" : "conjunction",
    style: join === "comma" ? "narrow" : "long",
  } as const;
  return format(`list ${join}`, (tag) => new Intl.ListFormat(tag, options)).format(things);
}

export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  return format(`number ${JSON.stringify(options)}`, (tag) => new Intl.NumberFormat(tag, options))
    .formatToParts(value)
    .map((part) => (part.type === "group" ? NARROW : part.value))
    .join("");
}

export const count = (value: number): string => number(value);

const fixed = (value: number, digits: number) =>
  number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Small amounts keep the digits that matter. */
export function money(amount: number, currency: string): string {
  const digits = amount === 0 || amount >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return `${fixed(amount, digits)}${NARROW}${currency}`;
}

export function bytes(size: number): string {
  if (size < 1000) return `${size}${NARROW}B`;
  if (size < 1_000_000) return `${fixed(size / 1000, 1)}${NARROW}kB`;
  if (size < 1_000_000_000) return `${fixed(size / 1_000_000, 1)}${NARROW}MB`;
  return `${fixed(size / 1_000_000_000, 1)}${NARROW}GB`;
}

export function duration(millis: number): string {
  if (millis < 1) return `<1${NARROW}ms`;
  if (millis < 1000) return `${Math.round(millis)}${NARROW}ms`;
  if (millis < 10_000) return `${fixed(millis / 1000, 2)}${NARROW}s`;
  if (millis < 60_000) return `${fixed(millis / 1000, 1)}${NARROW}s`;
  const minutes = Math.floor(millis / 60_000);
  const seconds = Math.floor((millis % 60_000) / 1000);
  if (minutes < 60) return `${minutes}${NARROW}min ${String(seconds).padStart(2, "0")}${NARROW}s`;
  return `${Math.floor(minutes / 60)}${NARROW}h ${String(minutes % 60).padStart(2, "0")}${NARROW}min`;
}

/** Elapsed time that ticks: whole seconds, so that the text does not tremble. */
export function elapsed(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  return seconds < 60 ? `${seconds}${NARROW}s` : duration(seconds * 1000);
}

const date = (at: number | Date, options: Intl.DateTimeFormatOptions) =>
  format(`date ${JSON.stringify(options)}`, (tag) => new Intl.DateTimeFormat(tag, options)).format(at);

const DAY: Intl.DateTimeFormatOptions = { year: "numeric", month: "short", day: "numeric" };
const MINUTE: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const CLOCK: Intl.DateTimeFormatOptions = { ...MINUTE, second: "2-digit" };
const FULL: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" };

/** Writes a moment that was stored as text; a text that is none stays as it is. */
function moment(iso: string, write: (at: number) => string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : write(at);
}

/** The time of day to the millisecond. */
export const clock = (at: number): string =>
  `${date(at, CLOCK)}.${String(Math.floor(at) % 1000).padStart(3, "0")}`;

/** The day alone. */
export const day = (at: string | number): string =>
  typeof at === "number" ? date(at, DAY) : moment(at, (known) => date(known, DAY));

export const fullTime = (iso: string): string => moment(iso, (at) => date(at, FULL));

/** The time of day for the last day, with the date before. */
export const when = (iso: string, now: number): string =>
  moment(iso, (at) => date(at, now - at < 86_400_000 ? CLOCK : FULL));

/** The time for today, the day as well for before, the year for other years. */
export function momentText(iso: string, now: Date = new Date()): string {
  return moment(iso, (millis) => {
    const at = new Date(millis);
    if (at.toDateString() === now.toDateString()) return date(at, CLOCK);
    const { year, ...rest } = DAY;
    return date(at, { ...(at.getFullYear() === now.getFullYear() ? rest : { year, ...rest }), ...MINUTE });
  });
}

type Unit = "minute" | "hour" | "day";

/** How long ago something was, in its largest whole unit; null for less than a minute. */
function past(millis: number, round: (value: number) => number): readonly [number, Unit] | null {
  const minutes = round(Math.max(0, millis) / 60_000);
  if (minutes < 1) return null;
  if (minutes < 60) return [minutes, "minute"];
  const hours = round(minutes / 60);
  return hours < 24 ? [hours, "hour"] : [round(hours / 24), "day"];
}

/** "now" for what was just now. */
const justNow = () =>
  format("now", (tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" })).format(0, "second");

/** How long it has been, for narrow places: "5 min", "<1 min". */
export function since(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  const known = past(now - at, Math.floor);
  const [n, unit] = known ?? [1, "minute"];
  const text = number(n, { style: "unit", unit, unitDisplay: "short" });
  return known === null ? `<${text}` : text;
}

/** When it was, as people say it: "5 minutes ago"; the day for what is two weeks old. */
export function ago(iso: string, now: number = Date.now()): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  const known = past(now - at, Math.round);
  if (known === null) return justNow();
  const [n, unit] = known;
  if (unit === "day" && n >= 14) return day(at);
  return format("ago", (tag) => new Intl.RelativeTimeFormat(tag)).format(-n, unit);
}
