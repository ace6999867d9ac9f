/** Matrices: where blocks of places lie on a drawing, and their amounts as pixels. */

import type { Block, Node } from "../api/types";
import type { Span } from "../api/cut";
import type { Painter, Raster } from "./painter";
import type { Palette } from "./palette";

/** Part of an axis, in positions; fractions while it is dragged. */
export interface Extent {
  from: number;
  to: number;
}

/** Amounts of a matrix, row by row; 0 where nothing moved. */
export interface Grid {
  rows: Block[];
  cols: Block[];
  amounts: Float64Array;
  /** What they are, if not amounts in the unit shown. */
  unit?: "time";
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A matrix, the part of it that is in sight, and where. */
export interface Sight {
  grid: Grid;
  rows: Extent;
  cols: Extent;
  box: Box;
}

export function extentOf(span: Span | null, places: number): Extent {
  return span === null ? { from: 0, to: Math.max(1, places) } : { from: span[0], to: span[1] + 1 };
}

/** The whole places of `extent`; null if those are all. */
export function spanOf(extent: Extent, places: number): Span | null {
  const first = Math.max(0, Math.floor(extent.from + 1e-6));
  const last = Math.min(places, Math.ceil(extent.to - 1e-6)) - 1;
  return first === 0 && last === places - 1 ? null : [first, Math.max(first, last)];
}

/** `extent` scaled by `factor` around `at`, within the places that there are. */
export function zoomed(extent: Extent, factor: number, at: number, places: number): Extent {
  const width = Math.min(places, Math.max(1, (extent.to - extent.from) * factor));
  const share = (at - extent.from) / (extent.to - extent.from);
  return shifted({ from: at - share * width, to: at - share * width + width }, 0, places);
}

/** `extent` moved by `by` places, within the places that there are. */
export function shifted(extent: Extent, by: number, places: number): Extent {
  const width = extent.to - extent.from;
  const from = Math.min(places - width, Math.max(0, extent.from + by));
  return { from, to: from + width };
}

/** The block that holds `place`, or -1; blocks are in order. */
export function blockAt(blocks: readonly Block[], place: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle]!;
    if (place < block.first) high = middle - 1;
    else if (place >= block.last + 1) low = middle + 1;
    else return middle;
  }
  return -1;
}

/** For each pixel of an axis, the block under it. */
function blocksUnder(blocks: readonly Block[], extent: Extent, pixels: number): Int32Array {
  const width = (extent.to - extent.from) / pixels;
  return Int32Array.from({ length: pixels }, (_, index) => blockAt(blocks, extent.from + (index + 0.5) * width));
}

/** The matrix as pixels: one look-up each, and equal rows of pixels are copied. */
export function rasterise(
  { grid, rows, cols, box }: Sight,
  density: number,
  colour: (amount: number) => number,
): Raster {
  const [width, height] = [Math.max(1, Math.round(box.width * density)), Math.max(1, Math.round(box.height * density))];
  const colours = Uint32Array.from(grid.amounts, colour);
  const colOf = blocksUnder(grid.cols, cols, width);
  const rowOf = blocksUnder(grid.rows, rows, height);
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const start = y * width;
    const row = rowOf[y]!;
    if (y > 0 && rowOf[y - 1] === row) {
      pixels.copyWithin(start, start - width, start);
    } else if (row >= 0) {
      const base = row * grid.cols.length;
      for (let x = 0; x < width; x += 1) {
        const col = colOf[x]!;
        if (col >= 0) pixels[start + x] = colours[base + col]!;
      }
    }
  }
  return { width, height, pixels };
}

/** Room between labels, in pixels. */
const LABEL_ROOM = 15;

/** Which blocks get labels: all that fit, evenly. */
function labelled(blocks: readonly Block[], extent: Extent, pixels: number): { block: Block; at: number }[] {
  const scale = pixels / (extent.to - extent.from);
  const inSight = blocks.filter((block) => block.last + 1 > extent.from && block.first < extent.to);
  const each = pixels / Math.max(1, inSight.length);
  const step = Math.max(1, Math.ceil(LABEL_ROOM / each));
  return inSight
    .filter((_, index) => index % step === 0)
    .map((block) => {
      const from = Math.max(block.first, extent.from);
      const to = Math.min(block.last + 1, extent.to);
      return { block, at: ((from + to) / 2 - extent.from) * scale };
    });
}

const MAX_LETTERS = 17;

export function shortened(label: string, letters = MAX_LETTERS): string {
  return label.length <= letters ? label : `${label.slice(0, letters - 1)}…`;
}

/** Which side of the matrix is which. */
export function drawDirections(
  painter: Painter,
  [row, column]: readonly [string, string],
  box: Box,
  palette: Palette,
): void {
  painter.text(box.x - 8, box.y - 20, `${row} ↓`, { fill: palette.muted, anchor: "end", size: 10 });
  painter.text(box.x - 8, box.y - 34, `${column} →`, { fill: palette.muted, anchor: "end", size: 10 });
}

/** The labels of rows, left of the box, and of columns, above it; those of `marked` blocks stand
 * out. */
export function drawLabels(
  painter: Painter,
  { rows, cols, box, grid }: Sight,
  palette: Palette,
  marked: readonly number[] = [],
): void {
  const text = ({ label, first, last }: Block) => {
    const mark = marked.some((place) => place >= first && place <= last);
    return [`${mark ? "▲ " : ""}${shortened(label)}`, mark ? palette.warning : palette.muted] as const;
  };
  for (const { block, at } of labelled(grid.rows, rows, box.height)) {
    const [label, fill] = text(block);
    painter.text(box.x - 8, box.y + at, label, { fill, anchor: "end" });
  }
  for (const { block, at } of labelled(grid.cols, cols, box.width)) {
    const [label, fill] = text(block);
    painter.text(box.x + at, box.y - 8, label, { fill, rotate: -90 });
  }
}

/** Lines between cells where these are large, and between nodes where those are. */
export function drawLines(
  painter: Painter,
  { grid, rows, cols, box }: Sight,
  nodes: readonly Node[],
  palette: Palette,
): void {
  const firsts = (blocks: readonly Block[]) => blocks.map((block) => block.first);
  // Where each block is a node, its borders are the cells' own.
  const between = (blocks: readonly Block[]) =>
    blocks.length > nodes.length ? nodes.map((node) => node.places[0]) : [];
  const line = (row: boolean, place: number) => {
    const extent = row ? rows : cols;
    const length = row ? box.height : box.width;
    const at = ((place - extent.from) / (extent.to - extent.from)) * length;
    if (at <= 0.5 || at >= length - 0.5) return "";
    const [x, y] = [Math.round(box.x + at) + 0.5, Math.round(box.y + at) + 0.5];
    return row ? `M${box.x} ${y}H${box.x + box.width}` : `M${x} ${box.y}V${box.y + box.height}`;
  };
  const lines = (blocks: number[], extent: Extent, pixels: number, room: number, row: boolean) => {
    const inSight = blocks.filter((place) => place > extent.from && place < extent.to);
    return inSight.length * room > pixels ? "" : inSight.map((place) => line(row, place)).join("");
  };
  const cells =
    lines(firsts(grid.rows), rows, box.height, 8, true) + lines(firsts(grid.cols), cols, box.width, 8, false);
  if (cells !== "") painter.path(cells, { stroke: palette.surface, width: 1 });
  const borders =
    lines(between(grid.rows), rows, box.height, 8, true) + lines(between(grid.cols), cols, box.width, 8, false);
  if (borders !== "") painter.path(borders, { stroke: palette.muted, width: 1, opacity: 0.7 });
  const { x, y, width, height } = box;
  painter.path(`M${x - 0.5} ${y - 0.5}h${width + 1}v${height + 1}h${-width - 1}z`, { stroke: palette.border });
}
