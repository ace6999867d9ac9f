/** What is shown, as the part of the address after `#`: opening it again shows the same. */

export const VIEWS = [
  "system",
  "objects",
  "code",
  "places",
  "timeline",
  "events",
  "waits",
  "findings",
  "compare",
] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  /** What amounts mean. */
  unit: "bytes" | "count";
  /** Whether amounts or the time in calls are shown, where that is known. */
  measure: "amount" | "time";
  /** Names of the kinds shown; empty means all. */
  kinds: string[];
  /** Names of the wait states shown; empty means all. */
  states: string[];
  region: string;
  /** Selected time, in bins. */
  time: [number, number] | null;
  /** `figure` or the view's other forms of the same data. */
  form: string;
  level: "auto" | "node" | "place";
  scale: "log" | "linear";
  rows: [number, number] | null;
  cols: [number, number] | null;
  /** Selected cell: blocks of row and column, by their first places. */
  cell: [number, number] | null;
  object: number | null;
  file: number | null;
  line: number | null;
  place: number | null;
  /** Dimensions an object is shown with, outermost first. */
  shape: number[];
  /** Bytes of an element of that shape; 0 as suggested. */
  element: number;
  /** Which plane of three dimensions. */
  plane: number;
  /** Whether reads, writes or both are shown. */
  access: "all" | "read" | "write";
  /** Whether matrix and timeline are of everything, or of the selected object, line or place. */
  of: "all" | "object" | "line" | "place";
  /** What a timeline is split by. */
  by: "kind" | "place" | "node";
  /** Time that events are shown of, in nanoseconds from the beginning of the run. */
  window: [number, number] | null;
  /** First and last lane that events are shown of. */
  lanes: [number, number] | null;
  /** The selected lane. */
  lane: number | null;
  /** The selected event, by its beginning and end. */
  at: [number, number] | null;
  /** Whether the critical path is marked among events. */
  path: "off" | "on";
  /** The selected finding, by its position in the run's. */
  finding: number | null;
  /** Text that lists are searched for. */
  search: string;
  /** Text that everything is searched for, if the box is open. */
  find: string;
}

interface Field<T> {
  parse(text: string): T | undefined;
  format(value: T): string;
  initial: T;
}

function choice<T extends string>(values: readonly T[], initial: T): Field<T> {
  return { parse: (text) => values.find((value) => value === text), format: String, initial };
}

function whole(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const text: Field<string> = { parse: String, format: String, initial: "" };

const identifier: Field<number | null> = { parse: whole, format: String, initial: null };

function number(initial: number): Field<number> {
  return { parse: whole, format: String, initial };
}

const span: Field<[number, number] | null> = {
  parse(text) {
    const [first, last, more] = text.split("-").map(whole);
    return first === undefined || last === undefined || more !== undefined ? undefined : [first, last];
  },
  format: (value) => value?.join("-") ?? "",
  initial: null,
};

const names: Field<string[]> = {
  parse: (text) => text.split(",").filter((name) => name !== ""),
  format: (value) => value.join(","),
  initial: [],
};

const dimensions: Field<number[]> = {
  parse(text) {
    const sizes = text.split("x").map(whole);
    return sizes.every((size) => size !== undefined && size > 0) ? (sizes as number[]) : undefined;
  },
  format: (value) => value.join("x"),
  initial: [],
};

const FIELDS: { [K in Exclude<keyof Route, "view">]: Field<Route[K]> } = {
  unit: choice(["bytes", "count"], "bytes"),
  measure: choice(["amount", "time"], "amount"),
  kinds: names,
  states: names,
  region: text,
  time: span,
  form: { ...text, initial: "figure" },
  level: choice(["auto", "node", "place"], "auto"),
  scale: choice(["log", "linear"], "log"),
  rows: span,
  cols: span,
  cell: span,
  object: identifier,
  file: identifier,
  line: identifier,
  place: identifier,
  shape: dimensions,
  element: number(0),
  plane: number(0),
  access: choice(["all", "read", "write"], "all"),
  of: choice(["all", "object", "line", "place"], "all"),
  by: choice(["kind", "place", "node"], "kind"),
  window: span,
  lanes: span,
  lane: identifier,
  at: span,
  path: choice(["off", "on"], "off"),
  finding: identifier,
  search: text,
  find: text,
};

export const START: Route = {
  view: "system",
  ...(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field.initial])) as Omit<Route, "view">),
};

/** Reads a hash; what it does not say, or says wrongly, is as at the start. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const route: Route = { ...START, view: VIEWS.find((view) => view === path) ?? "system" };
  const given = new URLSearchParams(query);
  for (const name of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
    const value = given.get(name);
    if (value !== null) read(route, name, value);
  }
  return route;
}

function read<K extends keyof typeof FIELDS>(route: Route, name: K, text: string): void {
  const value = FIELDS[name].parse(text);
  if (value !== undefined) (route as Pick<Route, K>)[name] = value;
}

/** The hash that `parseRoute` reads back. */
export function formatRoute(route: Route): string {
  const query = (Object.keys(FIELDS) as (keyof typeof FIELDS)[])
    .map((name) => [name, spell(route, name)] as const)
    .filter(([name, value]) => value !== spell(START, name))
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`)
    .join("&");
  return query === "" ? `#/${route.view}` : `#/${route.view}?${query}`;
}

function spell<K extends keyof typeof FIELDS>(route: Route, name: K): string {
  return FIELDS[name].format(route[name]);
}

/** What belongs to a view alone, and is left behind when going to another one. */
const LOCAL: Partial<Route> = { form: "figure", search: "", cell: null, finding: null };

/** `route` changed by `change`. */
export function follow(route: Route, change: Partial<Route>): Route {
  const leaves = change.view !== undefined && change.view !== route.view;
  const other = change.object !== undefined && change.object !== route.object;
  return {
    ...route,
    ...(leaves ? LOCAL : {}),
    ...(other ? { shape: [], element: 0, plane: 0 } : {}),
    ...change,
  };
}
