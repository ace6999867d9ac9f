/** Findings at their moments, in the lanes of the threads that have found them or are in them. */

import { useMemo } from "preact/hooks";
import type { Finding, Lanes, MomentOf } from "../../api/types";
import { useShared } from "../../state/context";

/** A finding in a lane. */
export interface Pin {
  /** Position among the run's findings. */
  finding: number;
  lane: number;
  time: number;
  what: MomentOf;
}

/** What a rank does at a finding's moment, in words: `found by rank 0 at 6 ms`. */
export function momentText(what: MomentOf, rank: string, time: string): string {
  if (what === "found") return `found by ${rank} at ${time}`;
  return what === "called" ? `called by ${rank} at ${time}` : `${rank} stands still from ${time}`;
}

/** The lane of each rank's thread; of threads that have recorded no call, the rank's first. */
export function lanesOf(lanes: Lanes): (place: number, thread: number) => number | null {
  const byPlace = new Map<number, number[]>();
  lanes.lanes.forEach(({ place }, lane) => {
    const known = byPlace.get(place);
    if (known === undefined) byPlace.set(place, [lane]);
    else known.push(lane);
  });
  return (place, thread) => {
    const own = byPlace.get(place);
    return own?.find((lane) => lanes.lanes[lane]!.thread === thread) ?? own?.[0] ?? null;
  };
}

/** All of the findings' moments, by time. */
export function pinsOf(findings: readonly Finding[], lanes: Lanes): Pin[] {
  const laneOf = lanesOf(lanes);
  const pins = findings.flatMap(({ moments }, finding) =>
    moments.flatMap(({ place, thread, time, what }): Pin[] => {
      const lane = laneOf(place, thread);
      return lane === null ? [] : [{ finding, lane, time: Math.min(time, lanes.until), what }];
    }),
  );
  return pins.sort((a, b) => a.time - b.time || a.lane - b.lane || a.finding - b.finding);
}

export function usePins(lanes: Lanes): Pin[] {
  const { run } = useShared();
  return useMemo(() => pinsOf(run.findings, lanes), [run, lanes]);
}

/** The next or previous pin after the selected one, or after a moment. */
export function nextPin(pins: readonly Pin[], by: -1 | 1, from: Pin | null, time: number): Pin | null {
  const at = from === null ? -1 : pins.indexOf(from);
  if (at >= 0) return pins[at + by] ?? null;
  return (by > 0 ? pins.find((pin) => pin.time >= time) : pins.findLast((pin) => pin.time <= time)) ?? null;
}

/** Time around a moment, a hundredth of the run or less. */
export function aroundMoment(time: number, until: number): [number, number] {
  const half = Math.max(500, until / 200);
  return [Math.max(0, Math.floor(time - half)), Math.ceil(Math.min(Math.max(until, 1), time + half))];
}
