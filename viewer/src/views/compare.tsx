/** Two runs: what this one moves more or less than the other. */

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Amount, Change, Comparison, PairChange, Run, TimeChange } from "../api/types";
import { type Box, drawDirections, drawLabels, drawLines, type Grid, rasterise } from "../draw/matrix";
import { divergence, type Palette, pixel } from "../draw/palette";
import type { Draw } from "../draw/save";
import { exact, integer, percent, quantity, seconds, several } from "../format";
import { useShared } from "../state/context";
import type { Route } from "../state/route";
import type { Unit } from "../state/traffic";
import { Figure, type Size, Tooltip, within } from "../ui/figure";
import { arrow, moved } from "../ui/keys";
import { Choice } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";

/** Pairs in a matrix beyond this many places are left to the table. */
const MAX_PLACES = 256;
const LEFT = 124;
const TOP = 116;
const LEGEND = 120;

/** From −1, all gone, over 0, as before, to 1, all new. */
export function relative(before: number, after: number): number {
  return before === after ? 0 : (after - before) / Math.max(before, after);
}

/** `+1.50 MiB`. */
function signed(change: number, unit: Unit): string {
  return `${change > 0 ? "+" : ""}${quantity(change, unit)}`;
}

/** What became of an amount, in words. */
function verdict(before: number, after: number): string {
  if (before === 0) return after === 0 ? "none" : "new";
  if (after === 0) return "gone";
  const share = (after - before) / before;
  return share === 0 ? "same" : `${share > 0 ? "+" : "−"}${percent(Math.abs(share))}`;
}

interface Changed {
  before: Amount;
  after: Amount;
}

function useChanges<T extends Changed>(): Column<T>[] {
  const { route } = useShared();
  const unit = route.unit;
  const cell = (value: number) => <span title={exact(value, unit)}>{quantity(value, unit)}</span>;
  return [
    { title: "before", numeric: true, value: (row) => row.before[unit], show: (row) => cell(row.before[unit]) },
    { title: "after", numeric: true, value: (row) => row.after[unit], show: (row) => cell(row.after[unit]) },
    {
      title: "change",
      numeric: true,
      value: (row) => row.after[unit] - row.before[unit],
      show: (row) => (
        <span title={exact(row.after[unit] - row.before[unit], unit)}>
          {signed(row.after[unit] - row.before[unit], unit)}
        </span>
      ),
    },
    {
      title: "relative",
      numeric: true,
      width: "72px",
      value: (row) => relative(row.before[unit], row.after[unit]),
      show: (row) => verdict(row.before[unit], row.after[unit]),
    },
  ];
}

export function CompareView() {
  const { run, comparison } = useShared();
  if (comparison === null) {
    return (
      <div class="view empty">
        One run is open. <code>commsan view AFTER BEFORE</code> opens two and shows their differences here.
      </div>
    );
  }
  const { other } = comparison;
  return (
    <div class="view scroll">
      <header class="title">
        <h2>
          {run.name} compared with {other.name}
        </h2>
        <span class="muted">
          before: {several(other.ranks, "rank")}, {seconds(other.seconds)} · after:{" "}
          {several(run.places.filter((place) => place.kind === "rank").length, "rank")}, {seconds(run.seconds)}
        </span>
      </header>
      <Changes comparison={comparison} />
    </div>
  );
}

function Changes({ comparison }: { comparison: Comparison }) {
  const { run, route, filter, go } = useShared();
  const shown = useMemo(() => {
    const hidden = new Set(run.kinds.filter((_, index) => !filter[index]));
    return comparison.pairs.filter((pair) => !hidden.has(pair.kind));
  }, [comparison, run, filter]);
  const changes = useChanges<Change>();
  const named = (title: string): Column<Change>[] => [
    {
      title,
      value: (row) => row.name,
      show: (row) => <span class="mono">{row.name}</span>,
      width: "minmax(140px, 2fr)",
    },
    ...changes,
  ];
  const same = "No amounts differ.";
  return (
    <div class="tables">
      {route.measure === "time" && <CallTable comparison={comparison} />}
      <DataTable title="Kinds" columns={named("kind")} rows={comparison.kinds} empty={same} />
      <div class="toolbar">
        <Choice
          label="Form"
          value={route.form === "table" ? "table" : "figure"}
          options={[
            ["figure", "Matrix"],
            ["table", "Table"],
          ]}
          onChange={(form) => go({ form })}
        />
      </div>
      <More count={comparison.more[0]} of="pairs" />
      {route.form === "table" ? <PairTable pairs={shown} /> : <PairFigure pairs={shown} />}
      <DataTable title="Lines" columns={named("line")} rows={comparison.lines} empty={same} />
      <More count={comparison.more[1]} of="lines" />
      <DataTable
        title="Objects"
        columns={named("object")}
        rows={comparison.objects}
        empty={`${same} Which bytes are touched is not compared.`}
      />
      <More count={comparison.more[2]} of="objects" />
      {route.measure === "amount" && <CallTable comparison={comparison} />}
    </div>
  );
}

/** Time in calls by call and line, of all ranks together. */
function CallTable({ comparison }: { comparison: Comparison }) {
  const { calls, more } = comparison;
  const cell = ([count, time]: [number, number]) => <span title={several(count, "call")}>{seconds(time)}</span>;
  const change = (row: TimeChange) => row.after[1] - row.before[1];
  return (
    <>
      <DataTable<TimeChange>
        title="Time in calls"
        columns={[
          { title: "call", value: (row) => row.call, show: (row) => <span class="mono">{row.call}</span> },
          {
            title: "line",
            value: (row) => row.line,
            show: (row) => <span class="mono">{row.line}</span>,
            width: "minmax(140px, 2fr)",
          },
          { title: "before", numeric: true, value: (row) => row.before[1], show: (row) => cell(row.before) },
          { title: "after", numeric: true, value: (row) => row.after[1], show: (row) => cell(row.after) },
          { title: "change", numeric: true, value: change, show: (row) => signed(change(row), "time") },
          {
            title: "relative",
            numeric: true,
            width: "72px",
            value: (row) => relative(row.before[1], row.after[1]),
            show: (row) => verdict(row.before[1], row.after[1]),
          },
        ]}
        rows={calls}
        empty="No call takes longer or shorter."
      />
      <More count={more[3]} of="calls" />
    </>
  );
}

/** Says how many of the smaller differences are not shown. */
function More({ count, of }: { count: number; of: string }) {
  if (count === 0) return null;
  return (
    <p class="muted">
      The largest differences are shown; {integer(count)} more {of} differ by less.
    </p>
  );
}

function PairTable({ pairs }: { pairs: readonly PairChange[] }) {
  const columns: Column<PairChange>[] = [
    { title: "source", value: (row) => row.source },
    { title: "target", value: (row) => row.target },
    { title: "kind", value: (row) => row.kind },
    ...useChanges<PairChange>(),
  ];
  return (
    <DataTable
      title="Pairs of places"
      columns={columns}
      rows={pairs}
      empty="No amounts differ between any two places."
    />
  );
}

interface Difference {
  names: string[];
  grid: Grid;
  before: Float64Array;
  after: Float64Array;
}

/** Names of places or nodes as the system has them; behind these, what only the other run has. */
export function inOrder(names: Iterable<string>, run: Pick<Run, "places" | "nodes">): string[] {
  // Runs with many places are compared node by node, or blocks of nodes, which begin with a node's
  // name.
  const position = new Map<string, number>();
  for (const node of run.nodes) position.set(node.name, node.places[0]);
  for (const place of run.places) position.set(place.name, place.id);
  const at = (name: string) => position.get(name) ?? position.get(name.split(" – ")[0]!) ?? Number.POSITIVE_INFINITY;
  return [...names].sort((a, b) => {
    const [x, y] = [at(a), at(b)];
    return x === y ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  });
}

/** Pairs, all kinds together, as a matrix of the places in them. */
function differenceOf(pairs: readonly PairChange[], unit: Route["unit"], run: Run): Difference | null {
  const names = inOrder(new Set(pairs.flatMap((pair) => [pair.source, pair.target])), run);
  if (names.length > MAX_PLACES) return null;
  const position = new Map(names.map((name, index) => [name, index]));
  const before = new Float64Array(names.length ** 2);
  const after = new Float64Array(names.length ** 2);
  for (const pair of pairs) {
    const at = position.get(pair.source)! * names.length + position.get(pair.target)!;
    before[at] = before[at]! + pair.before[unit];
    after[at] = after[at]! + pair.after[unit];
  }
  const blocks = names.map((label, index) => ({ label, first: index, last: index }));
  // Positions, so that the colour of a cell can tell "as before" from "nothing".
  return {
    names,
    grid: { rows: blocks, cols: blocks, amounts: Float64Array.from(before, (_, index) => index) },
    before,
    after,
  };
}

function boxOf({ width, height }: Size): Box {
  const side = Math.max(40, Math.min(width - LEFT - LEGEND - 24, height - TOP - 12));
  return { x: LEFT, y: TOP, width: side, height: side };
}

function drawing(difference: Difference, palette: Palette): Draw {
  const { grid, before, after, names } = difference;
  const extent = { from: 0, to: Math.max(1, names.length) };
  const none = pixel(palette.panel);
  const colour = (index: number) =>
    before[index] === 0 && after[index] === 0
      ? none
      : pixel(divergence(relative(before[index]!, after[index]!), palette));
  return (painter, width, height) => {
    const box = boxOf({ width, height });
    const sight = { grid, rows: extent, cols: extent, box };
    painter.raster(box.x, box.y, box.width, box.height, rasterise(sight, painter.density, colour));
    drawLines(painter, sight, [], palette);
    drawLabels(painter, sight, palette);
    drawDirections(painter, ["source", "target"], box, palette);
    const [x, steps, tall] = [box.x + box.width + 24, 41, Math.min(180, box.height - 16)];
    for (let step = 0; step < steps; step += 1) {
      const change = 1 - (2 * step) / (steps - 1);
      painter.rect(x, box.y + (step * tall) / steps, 12, tall / steps + 0.5, divergence(change, palette));
    }
    const texts = [
      ["all new", 0],
      ["+ doubled", 0.25],
      ["as before", 0.5],
      ["− halved", 0.75],
      ["all gone", 1],
    ] as const;
    for (const [text, at] of texts) painter.text(x + 18, box.y + at * tall, text, { fill: palette.text });
  };
}

function PairFigure({ pairs }: { pairs: readonly PairChange[] }) {
  const { palette, route, run } = useShared();
  const difference = useMemo(() => differenceOf(pairs, route.unit, run), [pairs, route.unit, run]);
  const draw = useMemo(() => (difference === null ? () => {} : drawing(difference, palette)), [difference, palette]);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [cell, setCell] = useState<{ row: number; col: number } | null>(null);
  if (difference === null || pairs.length === 0) {
    return (
      <div class="empty">
        {pairs.length === 0
          ? "No amounts differ between any two places."
          : `More than ${integer(MAX_PLACES)} places differ: the table lists the largest differences.`}
      </div>
    );
  }
  const { names, before, after } = difference;
  const box = boxOf(size);
  const each = box.width / names.length;
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const way = arrow(event.key);
    if (event.key === "Escape") setCell(null);
    else if (way !== null) {
      const next = (value: number, by: number) => moved(value, by, names.length);
      setCell(cell === null ? { row: 0, col: 0 } : { row: next(cell.row, way[0]), col: next(cell.col, way[1]) });
    } else return;
    event.preventDefault();
  };
  const at = cell === null ? 0 : cell.row * names.length + cell.col;
  const text = cell !== null && (
    <>
      <strong>
        {names[cell.row]} → {names[cell.col]}
      </strong>
      <div>before {exact(before[at]!, route.unit)}</div>
      <div>after {exact(after[at]!, route.unit)}</div>
      <div>{verdict(before[at]!, after[at]!)}</div>
    </>
  );
  return (
    <Figure
      title="Change between places"
      description="Rows are sources, columns are targets; orange is more than before, violet less. Arrow keys move between cells. The table holds the same numbers."
      height={560}
      draw={draw}
      onSize={setSize}
      onPointerMove={(event) => {
        const { x, y } = within(event);
        const [row, col] = [Math.floor((y - box.y) / each), Math.floor((x - box.x) / each)];
        setCell(row < 0 || col < 0 || row >= names.length || col >= names.length ? null : { row, col });
      }}
      onPointerLeave={() => setCell(null)}
      onKeyDown={onKeyDown}
    >
      {cell !== null && (
        <>
          <div
            class="cell-hovered"
            style={{
              left: `${box.x + cell.col * each}px`,
              top: `${box.y + cell.row * each}px`,
              width: `${each}px`,
              height: `${each}px`,
            }}
          />
          <Tooltip x={box.x + (cell.col + 0.5) * each} y={box.y + (cell.row + 0.5) * each} size={size}>
            {text}
          </Tooltip>
          <div class="hidden" aria-live="polite">
            {text}
          </div>
        </>
      )}
    </Figure>
  );
}
