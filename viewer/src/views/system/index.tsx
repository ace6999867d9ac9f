/** The system: what moved from which place to which, from the whole machine down to two ranks. */

import { useMemo } from "preact/hooks";
import type { Block, KindTotal, Matrix } from "../../api/types";
import { coarsen } from "../../api/cut";
import { exact, seconds } from "../../format";
import { useSelection, useShared } from "../../state/context";
import { amount, both } from "../../state/traffic";
import { Answered, Choice, Quantity } from "../../ui/parts";
import { Subject } from "../../ui/subject";
import { type Column, DataTable } from "../../ui/table";
import { allPlaces, useAxis } from "../axis";
import { MatrixFigure } from "../matrix";
import { Details } from "./details";
import { GraphFigure, MAX_NODES } from "./graph";
import { isTime, levelOf, nodesOf, systemAddress, timeAt, useGrid, useMatrix } from "./grid";

const FORMS = [
  ["figure", "Matrix"],
  ["graph", "Graph"],
  ["table", "Table"],
] as const;

export function SystemView() {
  const { answers, run, route, go } = useShared();
  const graph = route.form === "graph";
  const asked = useMatrix(graph ? MAX_NODES : undefined);
  const level = levelOf(route, run.places.length, nodesOf(run));
  return (
    <div class="view columns">
      <div class="main">
        <div class="toolbar">
          <Choice label="Form" value={route.form} options={FORMS} onChange={(form) => go({ form })} />
          {nodesOf(run) > 1 && (
            <Choice
              label="Level"
              value={level}
              options={[
                ["node", "Nodes"],
                ["place", "Places"],
              ]}
              onChange={(level) => go({ level })}
              disabled={(level) => !answers.holds(systemAddress({ ...route, level }, run))}
            />
          )}
          <Choice
            label="Colour scale"
            value={route.scale}
            options={[
              ["log", "Logarithmic"],
              ["linear", "Linear"],
            ]}
            onChange={(scale) => go({ scale })}
          />
          <Subject />
          {asked.state === "loading" && (
            <span class="muted" role="status">
              Loading …
            </span>
          )}
        </div>
        {asked.value !== null && route.measure === "time" && <OfTime matrix={asked.value} />}
        <Answered asked={asked}>
          {(matrix) =>
            graph ? (
              <GraphFigure matrix={coarsen(matrix, MAX_NODES)} />
            ) : route.form === "table" ? (
              <MatrixTable matrix={matrix} />
            ) : (
              <TrafficMatrix matrix={matrix} />
            )
          }
        </Answered>
      </div>
      <Details matrix={graph && asked.value !== null ? coarsen(asked.value, MAX_NODES) : asked.value} />
    </div>
  );
}

function TrafficMatrix({ matrix }: { matrix: Matrix }) {
  const { route } = useShared();
  const grid = useGrid(matrix)!;
  return (
    <MatrixFigure
      title={grid.unit === "time" ? "Time in calls between places" : "Traffic between places"}
      description="Rows are sources, columns are targets."
      grid={grid}
      axis={useAxis(allPlaces)}
      sides={["source", "target"]}
      tell={({ row, col }) => (
        <>
          <strong>
            {grid.rows[row]!.label} → {grid.cols[col]!.label}
          </strong>
          <br />
          {exact(grid.amounts[row * grid.cols.length + col] ?? 0, grid.unit ?? route.unit)}
        </>
      )}
    />
  );
}

/** What part of the time in calls a matrix has. */
function OfTime({ matrix }: { matrix: Matrix }) {
  const { value: selection } = useSelection();
  if (matrix.times === null) {
    return <p class="notice">Time in calls is not known by object or region: amounts are shown.</p>;
  }
  const shown = matrix.times.reduce((sum, [, , time]) => sum + time, 0);
  const all = selection?.calls.by_rank.reduce((sum, rank) => sum + rank.seconds, 0) ?? shown;
  return (
    <p class="muted">
      Time of ranks in calls, by the one rank that the call names: {seconds(shown)} of {seconds(all)}. Collectives, and
      what completes requests, name none.
    </p>
  );
}

interface Row {
  source: Block;
  target: Block;
  traffic: readonly KindTotal[];
  seconds: number;
}

/** Pairs that nothing is known to move between, as where receivers alone name the other end. */
function onlyTime(matrix: Matrix): Row[] {
  const moved = new Set(matrix.cells.map(([row, col]) => row * matrix.cols.length + col));
  return (matrix.times ?? [])
    .filter(([row, col]) => !moved.has(row * matrix.cols.length + col))
    .map(([row, col, seconds]) => ({ source: matrix.rows[row]!, target: matrix.cols[col]!, traffic: [], seconds }));
}

function MatrixTable({ matrix }: { matrix: Matrix }) {
  const { run, route, filter, go } = useShared();
  const time = isTime(route, matrix);
  const rows = useMemo(
    () =>
      matrix.cells
        .map(([row, col, traffic]): Row => ({
          source: matrix.rows[row]!,
          target: matrix.cols[col]!,
          traffic,
          seconds: timeAt(matrix, row, col),
        }))
        .concat(time ? onlyTime(matrix) : [])
        .filter((row) => amount(row.traffic, filter, "count") > 0 || (time && row.seconds > 0))
        .sort((a, b) =>
          time ? b.seconds - a.seconds : amount(b.traffic, filter, route.unit) - amount(a.traffic, filter, route.unit),
        ),
    [matrix, filter, route.unit, time],
  );
  const columns: Column<Row>[] = [
    { title: "source", value: (row) => row.source.label },
    { title: "target", value: (row) => row.target.label },
    {
      title: "kinds",
      value: (row) =>
        row.traffic
          .filter(([kind]) => filter[kind])
          .map(([kind]) => run.kinds[kind])
          .join(", "),
      width: "minmax(140px, 2fr)",
    },
    {
      title: "transfers",
      numeric: true,
      value: (row) => both(row.traffic, filter).count,
      show: (row) => <Quantity value={both(row.traffic, filter).count} unit="count" />,
    },
    {
      title: "bytes",
      numeric: true,
      value: (row) => both(row.traffic, filter).bytes,
      show: (row) => <Quantity value={both(row.traffic, filter).bytes} unit="bytes" />,
    },
  ];
  if (time) {
    columns.push({
      title: "time in calls",
      numeric: true,
      value: (row) => row.seconds,
      show: (row) => <Quantity value={row.seconds} unit="time" />,
    });
  }
  return (
    <DataTable
      fill
      title="Traffic between places"
      columns={columns}
      rows={rows}
      onOpen={(row) => go({ cell: [row.source.first, row.target.first] }, "replace")}
      empty="Nothing moved between these places under this filter. Switch kinds on again, or show all places."
    />
  );
}
