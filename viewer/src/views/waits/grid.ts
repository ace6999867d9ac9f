/** The matrix of waits that the view shows, and the lines of a part of it. */

import { useMemo } from "preact/hooks";
import { address } from "../../api/answers";
import type { Block, Run, StateTotal, WaitLines, WaitMatrix } from "../../api/types";
import type { Grid } from "../../draw/matrix";
import { type Asked, useAnswer, useShared } from "../../state/context";
import type { Route } from "../../state/route";
import { type Axis, positioned, ranksAlone, useAxis } from "../axis";
import { type Cell, useSelectedCell } from "../matrix";
import { levelOf, nodesOf } from "../system/grid";
import { useStates, waited } from "./states";

/** The address of the matrix in the route's window. */
export function waitsAddress(route: Route, run: Run, axis: Axis): string {
  const level = levelOf(route, axis.length, nodesOf(run));
  return address("waits", {
    level: level === "node" ? "node" : null,
    rows: route.rows?.join("-"),
    cols: route.cols?.join("-"),
  });
}

/** The address of the lines at which some places wait for others; null for all of them. */
export function linesAddress(rows: readonly [number, number] | null, cols: readonly [number, number] | null): string {
  return address("waits/lines", { rows: rows?.join("-"), cols: cols?.join("-") });
}

/** Asks for these lines, if they are known. */
export function useLines(question: string | null): Asked<WaitLines> {
  const { answers } = useShared();
  return useAnswer<WaitLines>(question !== null && answers.holds(question) ? question : null);
}

/** Seconds by pair under the current filter; blocks have positions on the axis. */
export function useWaitGrid(matrix: WaitMatrix, axis: Axis): Grid {
  const { filter } = useStates();
  return useMemo(() => {
    const amounts = new Float64Array(matrix.rows.length * matrix.cols.length);
    for (const [row, col, of] of matrix.cells) amounts[row * matrix.cols.length + col] = waited(of, filter).seconds;
    return { rows: positioned(axis, matrix.rows), cols: positioned(axis, matrix.cols), amounts, unit: "time" };
  }, [matrix, axis, filter]);
}

/** What ranks of a cell wait for, by state. */
export function waitsAt(matrix: WaitMatrix, row: number, col: number): readonly StateTotal[] {
  return matrix.cells.find((cell) => cell[0] === row && cell[1] === col)?.[2] ?? [];
}

/** Who waits for whom, as a sentence: `rank 3 waits for rank 0`. */
export function pairText(row: Block, col: Block): string {
  const verb = row.first === row.last ? "waits" : "wait";
  const isOne = row.first === row.last && row.first === col.first && col.first === col.last;
  return `${row.label} ${verb} for ${isOne ? "itself" : col.label}`;
}

/** Whether both sides are one rank. */
export function isPair(row: Block, col: Block): boolean {
  return row.first === row.last && col.first === col.last;
}

/** The cell that the route selects, of a matrix that may not be there yet. */
export function useCell(matrix: WaitMatrix | null): Cell | null {
  const axis = useAxis(ranksAlone);
  const sides = useMemo(
    () => matrix && { rows: positioned(axis, matrix.rows), cols: positioned(axis, matrix.cols) },
    [matrix, axis],
  );
  return useSelectedCell(sides, axis);
}
