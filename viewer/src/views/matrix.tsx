/** Places × places as a matrix: zoom, pan, a rectangle to look closer, a cell to ask about. */

import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { drawLegend, LEGEND_WIDTH } from "../draw/legend";
import {
  blockAt,
  type Box,
  drawDirections,
  drawLabels,
  drawLines,
  extentOf,
  type Grid,
  rasterise,
  shifted,
  zoomed,
} from "../draw/matrix";
import { heatTable, pixel } from "../draw/palette";
import type { Draw } from "../draw/save";
import { type AmountScale, amountScale } from "../draw/scale";
import { useShared } from "../state/context";
import { Figure, type Size, Tooltip, within } from "../ui/figure";
import { arrow, moved } from "../ui/keys";
import { type Axis, isOn } from "./axis";
import { type MatrixWindow, useMatrixWindow } from "./matrix_window";

const LEFT = 124;
const TOP = 116;

/** The square of cells: as large as it fits, with room for labels and the legend. */
function boxOf({ width, height }: Size): Box {
  const side = Math.max(40, Math.min(width - LEFT - LEGEND_WIDTH - 24, height - TOP - 12));
  return { x: LEFT, y: TOP, width: side, height: side };
}

function colours(scale: AmountScale, palette: Parameters<typeof heatTable>[0]): (amount: number) => number {
  const table = heatTable(palette);
  const none = pixel(palette.panel);
  return (amount) => (amount > 0 ? table[Math.round(scale.share(amount) * (table.length - 1))]! : none);
}

function drawing(
  { grid, axis, sides }: MatrixProps,
  scale: AmountScale,
  window: MatrixWindow,
  shared: ReturnType<typeof useShared>,
): Draw {
  const { palette, run, route } = shared;
  const colour = colours(scale, palette);
  const marked = run.findings
    .flatMap((finding) => finding.places)
    .filter((place) => isOn(axis, place))
    .map((place) => axis.position(place));
  return (painter, width, height) => {
    const box = boxOf({ width, height });
    const sight = { grid, ...window, box };
    drawDirections(painter, sides, box, palette);
    painter.raster(box.x, box.y, box.width, box.height, rasterise(sight, painter.density, colour));
    drawLines(painter, sight, axis.nodes, palette);
    drawLabels(painter, sight, palette, marked);
    const legend = { x: box.x + box.width + 24, y: box.y + 8, width: 12, height: Math.min(220, box.height - 16) };
    drawLegend(painter, scale, grid.unit ?? route.unit, legend, palette);
  };
}

/** A cell, by the positions of its blocks. */
export interface Cell {
  row: number;
  col: number;
}

/** Where a cell lies on the drawing, cut to what is in sight; null if it is elsewhere. */
function boundsOf(cell: Cell, grid: Grid, window: MatrixWindow, box: Box): Box | null {
  const [row, col] = [grid.rows[cell.row], grid.cols[cell.col]];
  if (row === undefined || col === undefined) return null;
  const along = (first: number, last: number, extent: { from: number; to: number }, length: number) => {
    const scale = length / (extent.to - extent.from);
    const from = Math.max(0, (first - extent.from) * scale);
    return [from, Math.min(length, (last + 1 - extent.from) * scale) - from] as const;
  };
  const [x, width] = along(col.first, col.last, window.cols, box.width);
  const [y, height] = along(row.first, row.last, window.rows, box.height);
  return width <= 0 || height <= 0 ? null : { x: box.x + x, y: box.y + y, width, height };
}

function Frame({ bounds, kind }: { bounds: Box | null; kind: string }) {
  if (bounds === null) return null;
  const { x, y, width, height } = bounds;
  return <div class={kind} style={{ left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` }} />;
}

/** The cell that the route selects. */
export function useSelectedCell(grid: Pick<Grid, "rows" | "cols"> | null, axis: Axis): Cell | null {
  const { route } = useShared();
  if (grid === null || route.cell === null) return null;
  const row = blockAt(grid.rows, axis.position(route.cell[0]));
  const col = blockAt(grid.cols, axis.position(route.cell[1]));
  return row < 0 || col < 0 ? null : { row, col };
}

interface Drag {
  x: number;
  y: number;
  from: MatrixWindow;
  brush: boolean;
  moved: boolean;
}

export interface MatrixProps {
  title: string;
  /** What a screen reader says of rows and columns. */
  description: string;
  /** Blocks by their positions on the axis. */
  grid: Grid;
  axis: Axis;
  /** What rows and columns are, in a word or two. */
  sides: readonly [row: string, column: string];
  /** What a cell is, at the point. */
  tell: (cell: Cell) => ComponentChildren;
  /** Opens what there is to see of a cell besides its places; where there is nothing, these are
   * shown alone. */
  onOpen?: (cell: Cell) => boolean;
}

export function MatrixFigure(props: MatrixProps) {
  const shared = useShared();
  const { route, go } = shared;
  const { title, description, grid, axis, tell, onOpen } = props;
  const places = axis.length;
  const scale = useMemo(() => amountScale(grid.amounts, route.scale), [grid, route.scale]);
  const [window, move] = useMatrixWindow(axis);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [hovered, setHovered] = useState<(Cell & { x: number; y: number }) | null>(null);
  const [brush, setBrush] = useState<Box | null>(null);
  const drag = useRef<Drag | null>(null);
  const selected = useSelectedCell(grid, axis);
  const box = boxOf(size);
  const { rows, cols } = window;
  const draw = useMemo(
    () => drawing(props, scale, { rows, cols }, shared),
    [grid, axis, scale, rows.from, rows.to, cols.from, cols.to, shared],
  );

  const placeAt = (x: number, y: number) => ({
    row: window.rows.from + ((y - box.y) / box.height) * (window.rows.to - window.rows.from),
    col: window.cols.from + ((x - box.x) / box.width) * (window.cols.to - window.cols.from),
  });
  const cellAt = (x: number, y: number): Cell | null => {
    if (x < box.x || y < box.y || x >= box.x + box.width || y >= box.y + box.height) return null;
    const at = placeAt(x, y);
    const cell = { row: blockAt(grid.rows, at.row), col: blockAt(grid.cols, at.col) };
    return cell.row < 0 || cell.col < 0 ? null : cell;
  };
  const select = (cell: Cell | null) =>
    go(
      {
        cell: cell === null ? null : [axis.place(grid.rows[cell.row]!.first), axis.place(grid.cols[cell.col]!.first)],
      },
      "replace",
    );
  const zoomBy = (factor: number, row: number, col: number) =>
    move({ rows: zoomed(window.rows, factor, row, places), cols: zoomed(window.cols, factor, col, places) });
  const open = (cell: Cell) => {
    if (onOpen?.(cell)) return;
    const [row, col] = [grid.rows[cell.row]!, grid.cols[cell.col]!];
    go({
      rows: [axis.place(row.first), axis.place(row.last)],
      cols: [axis.place(col.first), axis.place(col.last)],
      level: route.level === "node" ? "auto" : route.level,
    });
  };
  const all = () => go({ rows: null, cols: null });

  const onWheel = useCallback(
    (event: WheelEvent) => {
      const { x, y } = within(event);
      if (x < box.x || y < box.y || x > box.x + box.width || y > box.y + box.height) return;
      event.preventDefault();
      const at = placeAt(x, y);
      zoomBy(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), at.row, at.col);
    },
    [window.rows.from, window.rows.to, window.cols.from, window.cols.to, box.width, move],
  );

  const onPointerDown = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { x, y } = within(event);
    if (event.button !== 0 || cellAt(x, y) === null) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x, y, from: window, brush: event.shiftKey, moved: false };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { x, y } = within(event);
    const from = drag.current;
    if (from === null) {
      const cell = cellAt(x, y);
      return setHovered(cell === null ? null : { ...cell, x, y });
    }
    if (!from.moved && Math.hypot(x - from.x, y - from.y) < 4) return;
    from.moved = true;
    setHovered(null);
    if (from.brush) {
      const clamp = (value: number, low: number, length: number) => Math.min(low + length, Math.max(low, value));
      const [x1, y1] = [clamp(x, box.x, box.width), clamp(y, box.y, box.height)];
      return setBrush({
        x: Math.min(from.x, x1),
        y: Math.min(from.y, y1),
        width: Math.abs(x1 - from.x),
        height: Math.abs(y1 - from.y),
      });
    }
    const perPixel = (extent: { from: number; to: number }, length: number) => (extent.to - extent.from) / length;
    move({
      rows: shifted(from.from.rows, (from.y - y) * perPixel(from.from.rows, box.height), places),
      cols: shifted(from.from.cols, (from.x - x) * perPixel(from.from.cols, box.width), places),
    });
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const from = drag.current;
    drag.current = null;
    if (from === null) return;
    const { x, y } = within(event);
    if (!from.moved) return select(cellAt(x, y));
    if (brush !== null) {
      const [a, b] = [placeAt(brush.x, brush.y), placeAt(brush.x + brush.width, brush.y + brush.height)];
      setBrush(null);
      move(
        {
          rows: { from: Math.floor(a.row), to: Math.ceil(b.row) },
          cols: { from: Math.floor(a.col), to: Math.ceil(b.col) },
        },
        true,
      );
    }
  };

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const at = selected ?? {
      row: blockAt(grid.rows, Math.floor(window.rows.from)),
      col: blockAt(grid.cols, Math.floor(window.cols.from)),
    };
    const way = arrow(event.key);
    const middle = { row: (window.rows.from + window.rows.to) / 2, col: (window.cols.from + window.cols.to) / 2 };
    const focus =
      selected === null
        ? middle
        : { row: grid.rows[selected.row]!.first + 0.5, col: grid.cols[selected.col]!.first + 0.5 };
    if (way !== null) {
      const next = { row: moved(at.row, way[0], grid.rows.length), col: moved(at.col, way[1], grid.cols.length) };
      select(selected === null ? at : next);
    } else if (event.key === "Enter" && selected !== null) open(selected);
    else if (event.key === "Backspace" || event.key === "0") all();
    else if (event.key === "+" || event.key === "=") zoomBy(0.5, focus.row, focus.col);
    else if (event.key === "-") zoomBy(2, focus.row, focus.col);
    else if (event.key === "Escape" && selected !== null) select(null);
    else return;
    event.preventDefault();
  };

  const whole = extentOf(null, places);
  const isWhole = window.rows.to - window.rows.from >= whole.to && window.cols.to - window.cols.from >= whole.to;
  return (
    <Figure
      title={title}
      description={`${description} Arrow keys move between cells, Enter opens one, Backspace shows all, plus and minus zoom. The table holds the same numbers.`}
      draw={draw}
      onSize={setSize}
      onWheel={onWheel}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => (drag.current = null)}
      onPointerLeave={() => setHovered(null)}
      onDblClick={(event) => {
        const { x, y } = within(event);
        const cell = cellAt(x, y);
        if (cell !== null) open(cell);
      }}
      onKeyDown={onKeyDown}
      controls={
        isWhole ? null : (
          <button type="button" onClick={all}>
            Show all
          </button>
        )
      }
    >
      <Frame kind="cell-selected" bounds={selected && boundsOf(selected, grid, window, box)} />
      <Frame kind="cell-hovered" bounds={hovered && boundsOf(hovered, grid, window, box)} />
      <Frame kind="brush" bounds={brush} />
      {hovered && grid.rows[hovered.row] && grid.cols[hovered.col] && (
        <Tooltip x={hovered.x} y={hovered.y} size={size}>
          {tell(hovered)}
        </Tooltip>
      )}
    </Figure>
  );
}
