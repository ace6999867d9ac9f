/** The matrix that the system view shows, as amounts. */

import { useMemo } from "preact/hooks";
import type { KindTotal, Matrix, Run } from "../../api/types";
import type { Grid } from "../../draw/matrix";
import { type Asked, matrixAddress, subjectOf, useAnswer, useShared } from "../../state/context";
import type { Route } from "../../state/route";
import { amount } from "../../state/traffic";

/** Cells wider than this help nobody on a screen. */
const MAX_BLOCKS = 256;

/** Above so many places, all of them are shown as nodes first. */
const PLACES_AT_ONCE = 512;

/** Nodes that are worth a row of their own: not what receives from any source have not told. */
export function nodesOf(run: Run): number {
  return run.nodes.filter((node) => run.places[node.places[0]]?.kind !== "unknown").length;
}

/** Whether nodes or places are rows: the route's wish, or what the number of places suggests. */
export function levelOf(route: Route, places: number, nodes: number): "node" | "place" {
  if (route.level !== "auto") return route.level;
  return places > PLACES_AT_ONCE && nodes > 1 && route.rows === null && route.cols === null ? "node" : "place";
}

/** Asks for the matrix in the route's window. */
export function useMatrix(most = MAX_BLOCKS): Asked<Matrix> {
  const { run, route } = useShared();
  return useAnswer<Matrix>(systemAddress(route, run, most));
}

/** The address of the matrix in the route's window. */
export function systemAddress(route: Route, run: Run, most = MAX_BLOCKS): string {
  const level = levelOf(route, run.places.length, nodesOf(run));
  return matrixAddress(route, run, {
    ...subjectOf(route),
    level: level === "node" ? "node" : null,
    rows: route.rows?.join("-"),
    cols: route.cols?.join("-"),
    max: most === MAX_BLOCKS ? null : most,
  });
}

/** Whether time is shown of a matrix: it is not known by object or region. */
export function isTime(route: Route, matrix: Matrix): boolean {
  return route.measure === "time" && matrix.times !== null;
}

/** Seconds in calls of a cell that name another rank. */
export function timeAt(matrix: Matrix, row: number, col: number): number {
  return matrix.times?.find((cell) => cell[0] === row && cell[1] === col)?.[2] ?? 0;
}

/** Amounts under the current filter, or times; null without a matrix. */
export function useGrid(matrix: Matrix | null): Grid | null {
  const { route, filter } = useShared();
  return useMemo(() => {
    if (matrix === null) return null;
    const amounts = new Float64Array(matrix.rows.length * matrix.cols.length);
    if (isTime(route, matrix)) {
      for (const [row, col, seconds] of matrix.times ?? []) amounts[row * matrix.cols.length + col] = seconds;
      return { rows: matrix.rows, cols: matrix.cols, amounts, unit: "time" };
    }
    for (const [row, col, traffic] of matrix.cells) {
      amounts[row * matrix.cols.length + col] = amount(traffic, filter, route.unit);
    }
    return { rows: matrix.rows, cols: matrix.cols, amounts };
  }, [matrix, filter, route.unit, route.measure]);
}

/** What moved in a cell, by kind. */
export function trafficAt(matrix: Matrix, row: number, col: number): readonly KindTotal[] {
  return matrix.cells.find((cell) => cell[0] === row && cell[1] === col)?.[2] ?? [];
}
