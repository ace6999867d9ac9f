/** How often the bytes of an object were touched: along its offsets, and as elements of a grid. */

import type { Accessor, Extent } from "../api/types";

export type Access = "all" | "read" | "write";

/** The extents of the accessors that count. */
export function extentsOf(accessors: readonly Accessor[], access: Access, kinds: readonly boolean[]): Extent[] {
  return accessors
    .filter((one) => (access === "all" || one.direction === access) && kinds[one.kind])
    .flatMap((one) => one.extents);
}

/**
 * How often each of `cells` equal pieces of `size` bytes from `from` on was touched, at its most
 * touched byte. Pieces smaller than a byte show the byte they are in.
 */
export function touches(extents: readonly Extent[], from: number, size: number, cells: number): Float64Array {
  const steps: [at: number, change: number][] = [];
  for (const [start, bytes, count] of extents) {
    steps.push([start, count], [start + bytes, -count]);
  }
  // At one offset ends come first: neighbours do not add up.
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const most = new Float64Array(cells);
  let level = 0;
  for (let index = 0; index < steps.length; index += 1) {
    const [at, change] = steps[index]!;
    level += change;
    const until = steps[index + 1]?.[0] ?? at;
    if (until <= at || level <= 0) continue;
    const first = Math.max(0, Math.floor((at - from) / size));
    const last = Math.min(cells, Math.ceil((until - from) / size));
    for (let cell = first; cell < last; cell += 1) most[cell] = Math.max(most[cell]!, level);
  }
  return most;
}

/** The pieces as at most `columns` of them, so that none is lost on screen: each is the most
 * touched in it. */
export function columnsOf(pieces: Float64Array, columns: number): Float64Array {
  if (columns >= pieces.length) return pieces;
  const most = new Float64Array(Math.max(1, columns));
  pieces.forEach((piece, index) => {
    const column = Math.floor((index * most.length) / pieces.length);
    most[column] = Math.max(most[column]!, piece);
  });
  return most;
}

/**
 * The same with columns that stand alone made `reach` wider on either side, so that they are more
 * than a hairline. No gap between two columns is closed.
 */
export function widened(columns: Float64Array, reach: number): Float64Array {
  const wide = columns.slice();
  const apart = 2 * reach + 1;
  columns.forEach((amount, at) => {
    if (amount === 0) return;
    const [from, to] = [Math.max(0, at - apart), Math.min(columns.length, at + apart + 1)];
    for (let other = from; other < to; other += 1) if (other !== at && columns[other] !== 0) return;
    wide.fill(amount, Math.max(0, at - reach), at + reach + 1);
  });
  return wide;
}

/** Accessors that touched any of the bytes, those that touched them most first. */
export function accessorsAt(accessors: readonly Accessor[], from: number, to: number): Accessor[] {
  const hits = (one: Accessor) =>
    one.extents.reduce((sum, [start, bytes, count]) => (start < to && start + bytes > from ? sum + count : sum), 0);
  return accessors
    .map((one) => ({ one, hits: hits(one) }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ one }) => one);
}

/** Elements of a grid beyond which it is not laid out at once. */
export const MAX_ELEMENTS = 1 << 24;

/** A grid of elements, or one plane of three dimensions, as the bytes that it takes. */
export interface Plane {
  rows: number;
  cols: number;
  /** Offset of its first byte. */
  from: number;
  element: number;
}

/** The plane of an object of the given shape. */
export function planeOf(shape: readonly number[], element: number, plane: number): Plane | null {
  const [cols, rows = 1, planes = 1] = shape.toReversed();
  if (cols === undefined || element <= 0 || rows * cols > MAX_ELEMENTS) return null;
  const at = Math.min(planes - 1, Math.max(0, plane));
  return { rows, cols, from: at * rows * cols * element, element };
}

/** Shapes a user may mean by text like `100x200` or `4 × 100 × 200`. */
export function parseShape(text: string): number[] | null {
  const sizes = text
    .trim()
    .split(/\s*[x×*,]\s*|\s+/)
    .map(Number);
  const valid = sizes.length >= 1 && sizes.length <= 3 && sizes.every((size) => Number.isSafeInteger(size) && size > 0);
  return valid ? sizes : null;
}
