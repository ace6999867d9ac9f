/** Amounts of traffic under the current unit and filter. */

import type { KindTotal, Run } from "../api/types";
import type { Route } from "./route";

export type Unit = Route["unit"] | "time";

/** Which kinds count, by their position in `Run.kinds`. */
export type KindFilter = readonly boolean[];

export function kindFilter(run: Pick<Run, "kinds">, names: readonly string[]): KindFilter {
  return run.kinds.map((name) => names.length === 0 || names.includes(name));
}

/** Transfers or bytes of the kinds that count. */
export function amount(traffic: readonly KindTotal[], filter: KindFilter, unit: Route["unit"]): number {
  let sum = 0;
  for (const [kind, count, bytes] of traffic) {
    if (filter[kind]) sum += unit === "bytes" ? bytes : count;
  }
  return sum;
}

/** Transfers and bytes of the kinds that count. */
export function both(traffic: readonly KindTotal[], filter: KindFilter): { count: number; bytes: number } {
  return { count: amount(traffic, filter, "count"), bytes: amount(traffic, filter, "bytes") };
}
