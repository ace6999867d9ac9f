/** Parts of matrices. */

import type { Block, KindTotal, Matrix, WaitMatrix } from "./types";

/** Places from the first to the last. */
export type Span = [first: number, last: number];

/** Positions of the blocks that `span` touches: contiguous, since blocks are in order of places. */
function touched(blocks: Block[], span: Span | null): [from: number, kept: Block[]] {
  if (span === null) return [0, blocks];
  const from = blocks.findIndex((block) => block.last >= span[0]);
  if (from < 0) return [0, []];
  return [from, blocks.slice(from).filter((block) => block.first <= span[1])];
}

type Cell<T> = [row: number, column: number, T];

/** The blocks that the spans touch, and how cells are taken there. */
function taken<T>(
  { rows, cols }: { rows: Block[]; cols: Block[] },
  ofRows: Span | null,
  ofCols: Span | null,
): { rows: Block[]; cols: Block[]; take: <C extends Cell<T>>(cells: readonly C[]) => C[] } {
  const [row, keptRows] = touched(rows, ofRows);
  const [col, keptCols] = touched(cols, ofCols);
  const take = <C extends Cell<T>>(cells: readonly C[]) =>
    cells.flatMap(([r, c, what]) =>
      r >= row && r < row + keptRows.length && c >= col && c < col + keptCols.length
        ? [[r - row, c - col, what] as C]
        : [],
    );
  return { rows: keptRows, cols: keptCols, take };
}

/** The blocks of `matrix` that the spans touch. */
export function cut(matrix: Matrix, rows: Span | null, cols: Span | null): Matrix {
  const part = taken<unknown>(matrix, rows, cols);
  const times = matrix.times && part.take(matrix.times);
  return { rows: part.rows, cols: part.cols, cells: part.take(matrix.cells), times: times ?? null };
}

/** The blocks of a matrix of waits that the spans touch. */
export function cutWaits(matrix: WaitMatrix, rows: Span | null, cols: Span | null): WaitMatrix {
  const part = taken<unknown>(matrix, rows, cols);
  return { rows: part.rows, cols: part.cols, cells: part.take(matrix.cells) };
}

/** Joins runs of blocks so that at most `most` rows and columns remain. */
export function coarsen(matrix: Matrix, most: number): Matrix {
  const [rows, rowOf] = join(matrix.rows, most);
  const [cols, colOf] = join(matrix.cols, most);
  const sums = new Map<number, Map<number, KindTotal>>();
  for (const [row, col, traffic] of matrix.cells) {
    const key = rowOf[row]! * cols.length + colOf[col]!;
    const cell = sums.get(key) ?? new Map<number, KindTotal>();
    sums.set(key, cell);
    for (const [kind, count, bytes] of traffic) {
      const sum = cell.get(kind) ?? [kind, 0, 0];
      cell.set(kind, [kind, sum[1] + count, sum[2] + bytes]);
    }
  }
  const cells = [...sums].map(([key, cell]): Matrix["cells"][number] => [
    Math.floor(key / cols.length),
    key % cols.length,
    [...cell.values()],
  ]);
  if (matrix.times === null) return { rows, cols, cells, times: null };
  const seconds = new Map<number, number>();
  for (const [row, col, more] of matrix.times) {
    const key = rowOf[row]! * cols.length + colOf[col]!;
    seconds.set(key, (seconds.get(key) ?? 0) + more);
  }
  const times = [...seconds].map(([key, time]): [number, number, number] => [
    Math.floor(key / cols.length),
    key % cols.length,
    time,
  ]);
  return { rows, cols, cells, times };
}

function join(blocks: Block[], most: number): [Block[], Int32Array] {
  const size = Math.max(1, Math.ceil(blocks.length / most));
  const joined: Block[] = [];
  const position = new Int32Array(blocks.length);
  blocks.forEach((block, index) => {
    const at = Math.floor(index / size);
    position[index] = at;
    const present = joined[at];
    if (present === undefined) joined.push({ ...block });
    else {
      present.last = block.last;
      present.label = `${present.label.split(" … ")[0]} … ${block.label}`;
    }
  });
  return [joined, position];
}
