/** Places as nodes on a circle, traffic as arrows: readable for up to 32. */

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Matrix } from "../../api/types";
import { drawLegend, LEGEND_WIDTH } from "../../draw/legend";
import { type Grid, shortened } from "../../draw/matrix";
import type { Painter } from "../../draw/painter";
import { heat } from "../../draw/palette";
import type { Draw } from "../../draw/save";
import { type AmountScale, amountScale } from "../../draw/scale";
import { exact, quantity } from "../../format";
import { useShared } from "../../state/context";
import { Figure, type Size, Tooltip, within } from "../../ui/figure";
import { backOrForth } from "../../ui/keys";
import { useGrid } from "./grid";
import { allPlaces, useAxis } from "../axis";
import { useSelectedCell } from "../matrix";

/** More nodes than this are a hairball. */
export const MAX_NODES = 32;

/** Edges that carry their amount as text, if there are no more. */
const MAX_TEXTS = 16;

interface Point {
  x: number;
  y: number;
}

interface Edge {
  row: number;
  col: number;
  amount: number;
}

interface Layout {
  nodes: (Point & { angle: number })[];
  radius: number;
  centre: Point;
}

function layoutOf(count: number, { width, height }: Size): Layout {
  const centre = { x: (width - LEGEND_WIDTH) / 2, y: height / 2 };
  const around = Math.max(40, Math.min(centre.x - 110, centre.y - 48));
  const nodes = Array.from({ length: count }, (_, index) => {
    const angle = (2 * Math.PI * index) / count - Math.PI / 2;
    return { x: centre.x + around * Math.cos(angle), y: centre.y + around * Math.sin(angle), angle };
  });
  return { nodes, radius: Math.min(18, Math.max(5, (Math.PI * around) / (2.2 * count))), centre };
}

/** Edges from the least, so that the most lie on top. */
function edgesOf(grid: Grid): Edge[] {
  const edges: Edge[] = [];
  grid.amounts.forEach((amount, index) => {
    if (amount > 0) edges.push({ row: Math.floor(index / grid.cols.length), col: index % grid.cols.length, amount });
  });
  return edges.sort((a, b) => a.amount - b.amount);
}

const at = (value: number) => value.toFixed(1);

/** A curve from one node to another, bent aside so that both directions can be told apart. */
function curve(layout: Layout, edge: Edge): { from: Point; bend: Point; to: Point } {
  const { nodes, radius, centre } = layout;
  const [a, b] = [nodes[edge.row]!, nodes[edge.col]!];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const aside = 0.12 * length + 6;
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  const bend = {
    x: middle.x + 0.25 * (centre.x - middle.x) - (dy / length) * aside,
    y: middle.y + 0.25 * (centre.y - middle.y) + (dx / length) * aside,
  };
  return { from: towards(a, bend, radius + 2), bend, to: towards(b, bend, radius + 4) };
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

/** Pixels of the thickest of so many edges: the more there are, the thinner, or they hide each
 * other. */
function thickest(edges: number): number {
  return Math.max(1.5, Math.min(6, 6 * Math.sqrt(64 / Math.max(1, edges))));
}

interface Stroke {
  width: number;
  colour: string;
  opacity: number;
}

/** Where the edge of a node to itself goes round: outside of all others, beside the node's name. */
function loopOf(layout: Layout, index: number): { centre: Point; r: number; text: Point; right: boolean } {
  const node = layout.nodes[index]!;
  const [ux, uy] = [Math.cos(node.angle + 1.15), Math.sin(node.angle + 1.15)];
  const r = layout.radius * 0.7 + 3;
  const out = (distance: number) => ({ x: node.x + ux * distance, y: node.y + uy * distance });
  const centre = out(layout.radius + 0.7 * r);
  return { centre, r, text: out(layout.radius + 1.7 * r + 6), right: ux >= 0 };
}

function drawEdge(painter: Painter, layout: Layout, edge: Edge, { width, colour, opacity }: Stroke): void {
  if (edge.row === edge.col) {
    const { centre: c, r } = loopOf(layout, edge.row);
    painter.path(
      `M${at(c.x - r)} ${at(c.y)}a${at(r)} ${at(r)} 0 1 0 ${at(2 * r)} 0a${at(r)} ${at(r)} 0 1 0 ${at(-2 * r)} 0`,
      { stroke: colour, width, opacity },
    );
    return;
  }
  const { from, bend, to } = curve(layout, edge);
  const tip = 6 + 1.4 * width;
  const base = towards(to, bend, tip);
  painter.path(`M${at(from.x)} ${at(from.y)}Q${at(bend.x)} ${at(bend.y)} ${at(base.x)} ${at(base.y)}`, {
    stroke: colour,
    width,
    opacity,
  });
  const [nx, ny] = [(to.y - base.y) / tip, -(to.x - base.x) / tip];
  const half = 2.5 + 0.9 * width;
  painter.path(
    `M${at(to.x)} ${at(to.y)}L${at(base.x + nx * half)} ${at(base.y + ny * half)}L${at(base.x - nx * half)} ${at(base.y - ny * half)}z`,
    { fill: colour, opacity },
  );
}

function drawing(
  grid: Grid,
  edges: Edge[],
  scale: AmountScale,
  focus: number,
  shared: ReturnType<typeof useShared>,
): Draw {
  const { palette, route, run } = shared;
  const marked = new Set(run.findings.flatMap((finding) => finding.places));
  return (painter, width, height) => {
    const layout = layoutOf(grid.rows.length, { width, height });
    const near = (edge: Edge) => focus < 0 || edge.row === focus || edge.col === focus;
    const most = thickest(edges.length);
    for (const edge of edges) {
      // Width is in proportion to the amount, as far as thin lines can be seen.
      const width = 1 + (most - 1) * (edge.amount / scale.most);
      const colour = heat(0.15 + 0.85 * scale.share(edge.amount), palette);
      drawEdge(painter, layout, edge, { width, colour, opacity: near(edge) ? 1 : 0.08 });
    }
    const texts = edges.filter(near);
    if (texts.length <= MAX_TEXTS) {
      for (const edge of texts) {
        const text = quantity(edge.amount, grid.unit ?? route.unit);
        if (edge.row === edge.col) {
          const loop = loopOf(layout, edge.row);
          painter.text(loop.text.x, loop.text.y, text, { fill: palette.text, anchor: loop.right ? "start" : "end" });
          continue;
        }
        const { from, bend, to } = curve(layout, edge);
        const [x, y] = [(from.x + 2 * bend.x + to.x) / 4, (from.y + 2 * bend.y + to.y) / 4];
        painter.rect(x - text.length * 3.2 - 3, y - 8, text.length * 6.4 + 6, 16, palette.surface);
        painter.text(x, y, text, { fill: palette.text, anchor: "middle" });
      }
    }
    layout.nodes.forEach((node, index) => {
      const block = grid.rows[index]!;
      const r = layout.radius;
      const circle = `M${at(node.x - r)} ${at(node.y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
      const device = block.first === block.last && run.places[block.first]?.kind === "device";
      painter.path(circle, {
        fill: device ? palette.panel : palette.surface,
        stroke: index === focus ? palette.accent : palette.text,
        width: index === focus ? 3 : 1.5,
      });
      const finding = [...marked].some((place) => place >= block.first && place <= block.last);
      const [ux, uy] = [Math.cos(node.angle), Math.sin(node.angle)];
      // Of many, those beside the topmost one would run into its name.
      const upright = layout.nodes.length > 16 ? 0.02 : 0.2;
      const anchor = Math.abs(ux) < upright ? "middle" : ux > 0 ? "start" : "end";
      const label = `${finding ? "▲ " : ""}${shortened(block.label)}`;
      painter.text(node.x + ux * (r + 8), node.y + uy * (r + 12), label, {
        fill: palette.text,
        anchor,
        weight: index === focus ? 700 : 400,
      });
    });
    const legend = { x: width - LEGEND_WIDTH, y: 16, width: 12, height: Math.min(220, height - 40) };
    drawLegend(painter, scale, grid.unit ?? route.unit, legend, palette);
  };
}

/** The node under a point, or -1. */
function nodeAt(layout: Layout, { x, y }: Point): number {
  return layout.nodes.findIndex((node) => Math.hypot(node.x - x, node.y - y) <= layout.radius + 6);
}

export function GraphFigure({ matrix }: { matrix: Matrix }) {
  const shared = useShared();
  const { route, go } = shared;
  const grid = useGrid(matrix)!;
  const edges = useMemo(() => edgesOf(grid), [grid]);
  const scale = useMemo(() => amountScale(grid.amounts, route.scale), [grid, route.scale]);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [hovered, setHovered] = useState<(Point & { node: number }) | null>(null);
  const chosen = useSelectedCell(grid, useAxis(allPlaces))?.row ?? -1;
  const focus = hovered?.node ?? chosen;
  const draw = useMemo(() => drawing(grid, edges, scale, focus, shared), [grid, edges, scale, focus, shared]);
  const select = (node: number) => {
    const block = grid.rows[node];
    go({ cell: block === undefined ? null : [block.first, strongest(grid, node)] }, "replace");
  };
  const find = (event: MouseEvent) => nodeAt(layoutOf(grid.rows.length, size), within(event));
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const step = backOrForth(event.key);
    if (step !== null) select((Math.max(chosen, step > 0 ? -1 : 0) + step + grid.rows.length) % grid.rows.length);
    else if (event.key === "Escape" && chosen >= 0) select(-1);
    else return;
    event.preventDefault();
  };
  const node = hovered === null ? undefined : grid.rows[hovered.node];
  return (
    <Figure
      title={grid.unit === "time" ? "Time in calls as a graph" : "Traffic as a graph"}
      description="Arrows point from source to target. Arrow keys go from node to node. The table holds the same numbers."
      draw={draw}
      onSize={setSize}
      onPointerMove={(event) => {
        const found = find(event);
        setHovered(found < 0 ? null : { node: found, ...within(event) });
      }}
      onPointerLeave={() => setHovered(null)}
      onClick={(event) => select(find(event))}
      onKeyDown={onKeyDown}
    >
      {hovered !== null && node !== undefined && (
        <Tooltip x={hovered.x} y={hovered.y} size={size}>
          <strong>{node.label}</strong>
          <br />
          sends {exact(sum(grid, hovered.node, "row"), grid.unit ?? route.unit)}
          <br />
          receives {exact(sum(grid, hovered.node, "col"), grid.unit ?? route.unit)}
        </Tooltip>
      )}
    </Figure>
  );
}

/** The first place of the block that `node` sends most to. */
function strongest(grid: Grid, node: number): number {
  const row = grid.amounts.subarray(node * grid.cols.length, (node + 1) * grid.cols.length);
  const most = row.reduce((best, amount, index) => (amount > row[best]! ? index : best), 0);
  return grid.cols[most]?.first ?? 0;
}

function sum(grid: Grid, node: number, side: "row" | "col"): number {
  let total = 0;
  for (let other = 0; other < grid.cols.length; other += 1) {
    total += grid.amounts[side === "row" ? node * grid.cols.length + other : other * grid.cols.length + node] ?? 0;
  }
  return total;
}
