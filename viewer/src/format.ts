/** Numbers for people: three significant digits at a glance, all of them on demand. */

const IEC = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const grouped = new Intl.NumberFormat("en-GB");
const SI = ["", "k", "M", "G", "T", "P", "E"];

function scaled(value: number, base: number, prefixes: readonly string[]): string {
  let step = 0;
  let rest = Math.abs(value);
  // What would round to a full step is written as one: 1023.9 KiB is 1.00 MiB.
  while (rest >= base - 0.5 && step + 1 < prefixes.length) {
    rest /= base;
    step += 1;
  }
  const digits = step === 0 ? 0 : rest < 9.995 ? 2 : rest < 99.95 ? 1 : 0;
  const sign = value < 0 ? "−" : "";
  return `${sign}${rest.toFixed(digits)} ${prefixes[step]}`.trimEnd();
}

/** `1.50 MiB`. */
export function bytes(value: number): string {
  return scaled(value, 1024, IEC);
}

/** `1,234`, `1.50 M`. */
export function count(value: number): string {
  // Small ones are shown as they are, and need no second look.
  if (Math.abs(value) < 10_000) return value < 0 ? `−${grouped.format(-value)}` : grouped.format(value);
  return scaled(value, 1000, SI);
}

/** In the given unit; times are in seconds. */
export function quantity(value: number, unit: "bytes" | "count" | "time"): string {
  if (unit === "time") return seconds(value);
  return unit === "bytes" ? bytes(value) : count(value);
}

/** Every digit: `1,572,864 bytes`. */
export function exact(value: number, unit: "bytes" | "count" | "time"): string {
  if (unit === "time") return `${Number(value.toPrecision(9))} seconds`;
  const noun = unit === "bytes" ? "byte" : "transfer";
  return several(value, noun);
}

/** `1,234 ranks`, of what has an s in the plural. */
export function several(count: number, what: string): string {
  return `${integer(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** `1,234`. */
export function integer(value: number): string {
  return grouped.format(value);
}

/** `1.5 s`, `20 ms`, `3 µs`. */
export function seconds(value: number): string {
  if (value === 0) return "0 s";
  const magnitude = Math.abs(value);
  if (magnitude >= 0.9995) return `${Number(value.toPrecision(4))} s`;
  if (magnitude >= 0.9995e-3) return `${Number((value * 1e3).toPrecision(3))} ms`;
  return `${Number((value * 1e6).toPrecision(3))} µs`;
}

/** `12.3 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
}

/** What an object is called, where nothing is known of it, too. */
export function objectName(object: { name: string; memory: string }): string {
  if (object.name !== "") return object.name;
  return object.memory === "unknown" ? "unknown memory" : `unnamed (${object.memory})`;
}

/** The last two parts of a path, which tell most files apart. */
export function shortPath(path: string): string {
  return path.split("/").slice(-2).join("/");
}

/** `main.c:12`. */
export function fileLine(path: string, line: number | null): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return line === null ? name : `${name}:${line}`;
}
