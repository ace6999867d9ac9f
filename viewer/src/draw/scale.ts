/** From amounts to shares of the largest, and the ticks that say which is which. */

import { scaleLinear, scaleLog } from "d3-scale";
import type { Unit } from "../state/traffic";

export interface AmountScale {
  /** The smallest amount above 0; 0 where the scale begins there. */
  least: number;
  most: number;
  /** From 0 to 1; for amounts above 0. */
  share(amount: number): number;
  ticks(wanted: number, unit: Unit): number[];
}

/** How many times the smallest amount the largest one is, at least, for a logarithmic scale. */
const NEAR = 10;

/** The scale of the given amounts; those that are 0 do not count, nothing is drawn for them. */
export function amountScale(amounts: Iterable<number>, kind: "log" | "linear"): AmountScale {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const amount of amounts) {
    if (amount > most) most = amount;
    if (amount > 0 && amount < least) least = amount;
  }
  if (most === 0) return { least: 0, most: 0, share: () => 0, ticks: () => [] };
  // Logarithms would make amounts that are nearly equal look as if they were not.
  if (kind === "linear" || most < NEAR * least) {
    return {
      least: 0,
      most,
      share: scaleLinear([0, most], [0, 1]),
      ticks: (wanted, unit) => evenTicks(most, wanted, unit),
    };
  }
  return {
    least,
    most,
    share: scaleLog([least, most], [0, 1]),
    ticks: (wanted, unit) => powers(least, most, wanted, unit),
  };
}

/** Powers of two for bytes and of ten for counts, every so many of them. */
function powers(least: number, most: number, wanted: number, unit: Unit): number[] {
  const base = unit === "bytes" ? 2 : 10;
  const log = (value: number) => Math.log(value) / Math.log(base);
  const [first, last] = [Math.ceil(log(least) - 1e-9), Math.floor(log(most) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first) / wanted));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += step) ticks.push(base ** power);
  return ticks;
}

/** About as many ticks as wanted from 0 to `most`, round in the unit's own prefixes. */
export function evenTicks(most: number, wanted: number, unit: Unit): number[] {
  if (unit !== "bytes") {
    const ticks = scaleLinear([0, most], [0, 1]).ticks(wanted);
    return unit === "time" ? ticks : ticks.filter(Number.isInteger);
  }
  const step = Math.max(1, 2 ** Math.round(Math.log2(most / wanted)));
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}
