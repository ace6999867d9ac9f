/** The keyboard map: what `?` shows, and what the page listens to. */

import type { View } from "../state/route";

/** Which way an arrow key points, in rows and columns. */
export function arrow(key: string): readonly [rows: number, cols: number] | null {
  const ways: Record<string, readonly [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  return ways[key] ?? null;
}

/** Whether an arrow key points back or forth, in things that are in a row. */
export function backOrForth(key: string): -1 | 1 | null {
  const way = arrow(key);
  if (way === null) return null;
  return way[0] + way[1] > 0 ? 1 : -1;
}

/** `value` moved by `by` among `length`. */
export function moved(value: number, by: number, length: number): number {
  return Math.min(length - 1, Math.max(0, value + by));
}

/** Keys that work everywhere, and the view they go to. */
export const VIEW_KEYS: readonly (readonly [key: string, view: View, name: string])[] = [
  ["1", "system", "System"],
  ["2", "objects", "Objects"],
  ["3", "code", "Code"],
  ["4", "places", "Places"],
  ["5", "timeline", "Timeline"],
  ["6", "events", "Events"],
  ["7", "waits", "Waits"],
  ["8", "findings", "Findings"],
  ["9", "compare", "Compare"],
];

/** Further keys, by where they work. */
export const KEYS: readonly (readonly [where: string, keys: readonly (readonly [keys: string, what: string])[]])[] = [
  [
    "Everywhere",
    [
      ["1 … 9", "go to a view"],
      ["u", "bytes, transfers or time"],
      ["f", "next form: figure, table, …"],
      ["t", "light, dark, as the system"],
      ["/", "search everything"],
      ["l", "search the list of the view"],
      ["?", "this help"],
      ["Tab", "next control, list or figure"],
    ],
  ],
  [
    "Matrix",
    [
      ["arrow keys", "select a cell"],
      ["Enter", "zoom into the cell; of waits between two ranks, see the longest"],
      ["+  −", "zoom in, zoom out"],
      ["Backspace", "show all"],
      ["Esc", "select nothing"],
      ["wheel, drag", "zoom, move"],
      ["Shift + drag", "zoom into a rectangle"],
    ],
  ],
  [
    "Lists and tables",
    [
      ["↑ ↓ Page ↑ Page ↓ Home End", "select a row"],
      ["Enter", "open the row"],
    ],
  ],
  [
    "Bytes of an object",
    [
      ["arrow keys", "move the point; with Shift further"],
      ["Enter", "show as rows and columns"],
    ],
  ],
  [
    "Source",
    [
      ["↑ ↓", "previous, next line"],
      ["n  p", "next, previous line with traffic"],
    ],
  ],
  [
    "Timeline",
    [
      ["← →", "move between bins"],
      ["Shift + ← →, drag", "select time for the system view"],
      ["Enter", "select one bin"],
      ["Esc", "select all of the time"],
    ],
  ],
  [
    "Events",
    [
      ["↑ ↓, ← →", "lanes; previous, next event"],
      ["+  −, wheel", "zoom into the time, out of it"],
      ["Shift + wheel", "fewer lanes, more lanes"],
      ["Shift + arrow keys, drag", "move"],
      ["Shift + drag, Enter", "zoom into a rectangle, into the event"],
      ["c", "mark the critical path"],
      ["n  p", "next, previous finding; Enter opens it"],
      ["Backspace, Esc", "show all, select nothing"],
    ],
  ],
];

/** Forms of each view, in the order that `f` goes through. */
export const FORMS: Record<View, readonly string[]> = {
  system: ["figure", "graph", "table"],
  objects: ["figure", "shape", "table"],
  code: ["figure"],
  places: ["figure"],
  timeline: ["figure", "table"],
  events: ["figure", "table", "path"],
  waits: ["figure", "table", "lines"],
  findings: ["figure", "table"],
  compare: ["figure", "table"],
};
