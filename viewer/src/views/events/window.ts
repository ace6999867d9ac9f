/** Which part of the time and which lanes are shown: moved and zoomed. */

/** From and to, in nanoseconds, or first and last lane. */
export type Range = readonly [from: number, to: number];

/** The shortest time that can be shown, in nanoseconds. */
export const SHORTEST = 100;

/** `window` of a run of `until` nanoseconds made so many times as long, with `at` staying where it
 * is. */
export function zoomedTime(window: Range, factor: number, at: number, until: number): [number, number] {
  const length = window[1] - window[0];
  const next = Math.min(until, Math.max(Math.min(SHORTEST, until), length * factor));
  const share = length > 0 ? (at - window[0]) / length : 0.5;
  const from = Math.min(until - next, Math.max(0, at - share * next));
  return [Math.floor(from), Math.ceil(from + next)];
}

/** `window` moved by so many nanoseconds, within the run. */
export function movedTime(window: Range, by: number, until: number): [number, number] {
  const length = window[1] - window[0];
  const from = Math.round(Math.min(Math.max(0, until - length), Math.max(0, window[0] + by)));
  return [from, from + length];
}

/** Fewer or more of `count` lanes, around one of them. */
export function zoomedLanes(lanes: Range, factor: number, at: number, count: number): [number, number] {
  const shown = lanes[1] - lanes[0] + 1;
  const wanted = shown * factor;
  const next = Math.min(count, Math.max(1, factor > 1 ? Math.max(shown + 1, Math.round(wanted)) : Math.floor(wanted)));
  const share = (at - lanes[0]) / shown;
  const first = Math.min(count - next, Math.max(0, Math.round(at - share * next)));
  return [first, first + next - 1];
}

/** Lanes moved by so many, within all of them. */
export function movedLanes(lanes: Range, by: number, count: number): [number, number] {
  const shown = lanes[1] - lanes[0] + 1;
  const first = Math.min(count - shown, Math.max(0, lanes[0] + by));
  return [first, first + shown - 1];
}

/** `[begin, end]` with as much again at both sides, within the run. */
export function around(begin: number, end: number, until: number): [number, number] {
  const length = Math.max(SHORTEST, end - begin);
  const from = Math.max(0, begin - length);
  return [Math.floor(from), Math.ceil(Math.min(Math.max(until, from + 1), end + length))];
}

/** A moment with as many digits as its neighbours at a distance of `step` need: `1.2345 s`. */
export function moment(time: number, step: number, until: number): string {
  const [unit, name] = until >= 1e9 ? [1e9, "s"] : until >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const digits = Math.max(0, Math.ceil(Math.log10(unit / Math.max(1, step)) - 1e-9));
  return `${(time / unit).toFixed(digits)} ${name}`;
}
