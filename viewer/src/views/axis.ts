/** What lies along the sides of a matrix: places one after the other, or ranks alone. Addresses
 * name places, drawings have positions. */

import { useMemo } from "preact/hooks";
import type { Block, Node, Run } from "../api/types";
import type { Span } from "../api/cut";
import { type Extent, extentOf, spanOf } from "../draw/matrix";
import { useShared } from "../state/context";

export interface Axis {
  /** How many places it has. */
  length: number;
  /** The position of a place; of one that is not on it, that of the next one. */
  position(place: number): number;
  /** The place at a position. */
  place(position: number): number;
  /** Nodes with their first and last position. */
  nodes: readonly Node[];
}

/** All places. */
export function allPlaces(run: Pick<Run, "places" | "nodes">): Axis {
  return { length: run.places.length, position: (place) => place, place: (position) => position, nodes: run.nodes };
}

/** Ranks alone. */
export function ranksAlone(run: Pick<Run, "places" | "nodes">): Axis {
  const ranks = run.places.filter((place) => place.kind === "rank").map((place) => place.id);
  /** How many ranks come before each place. */
  const before = new Int32Array(run.places.length + 1);
  run.places.forEach((place, index) => (before[index + 1] = before[index]! + (place.kind === "rank" ? 1 : 0)));
  const position = (place: number) => before[Math.min(before.length - 1, Math.max(0, place))]!;
  const nodes = run.nodes
    .map(({ name, places: [first, last] }): Node => ({ name, places: [position(first), position(last + 1) - 1] }))
    .filter(({ places: [first, last] }) => first <= last);
  return { length: ranks.length, position, place: (at) => ranks[at] ?? ranks.at(-1) ?? 0, nodes };
}

/** Whether a place is on the axis. */
export function isOn(axis: Axis, place: number): boolean {
  return axis.length > 0 && axis.place(axis.position(place)) === place;
}

/** Blocks of places by their positions. */
export function positioned(axis: Axis, blocks: readonly Block[]): Block[] {
  return blocks.map(({ label, first, last }) => ({
    label,
    first: axis.position(first),
    last: axis.position(last + 1) - 1,
  }));
}

/** The part of the axis that places from the first to the last are; all of it for null. */
export function extentOn(axis: Axis, span: Span | null): Extent {
  if (span === null) return extentOf(null, axis.length);
  const from = axis.position(span[0]);
  return { from, to: Math.max(from + 1, axis.position(span[1] + 1)) };
}

/** The places of a part of the axis; null if those are all. */
export function placesOf(axis: Axis, extent: Extent): Span | null {
  const span = spanOf(extent, axis.length);
  return span === null ? null : [axis.place(span[0]), axis.place(span[1])];
}

/** An axis of the run, the same one as long as the run is. */
export function useAxis(of: (run: Run) => Axis): Axis {
  const { run } = useShared();
  return useMemo(() => of(run), [of, run]);
}
