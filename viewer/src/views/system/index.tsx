/** The system: what moved from which place to which, from the whole machine down to two ranks. */

import { useMemo } from "preact/hooks";
import type { Block, KindTotal, Matrix } from "../../api/types";
import { coarsen } from "../../api/cut";
import { useShared } from "../../state/context";
import { amount, both } from "../../state/traffic";
import { Answered, Choice, Quantity } from "../../ui/parts";
import { Subject } from "../../ui/subject";
import { type Column, DataTable } from "../../ui/table";
import { Details } from "./details";
import { GraphFigure, MAX_NODES } from "./graph";
import { levelOf, nodesOf, systemAddress, useMatrix } from "./grid";
import { MatrixFigure } from "./matrix";

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
        <Answered asked={asked}>
          {(matrix) =>
            graph ? (
              <GraphFigure matrix={coarsen(matrix, MAX_NODES)} />
            ) : route.form === "table" ? (
              <MatrixTable matrix={matrix} />
            ) : (
              <MatrixFigure matrix={matrix} />
            )
          }
        </Answered>
      </div>
      <Details matrix={graph && asked.value !== null ? coarsen(asked.value, MAX_NODES) : asked.value} />
    </div>
  );
}

interface Row {
  source: Block;
  target: Block;
  traffic: readonly KindTotal[];
}

function MatrixTable({ matrix }: { matrix: Matrix }) {
  const { run, route, filter, go } = useShared();
  const rows = useMemo(
    () =>
      matrix.cells
        .map(([row, col, traffic]): Row => ({ source: matrix.rows[row]!, target: matrix.cols[col]!, traffic }))
        .filter((row) => amount(row.traffic, filter, "count") > 0)
        .sort((a, b) => amount(b.traffic, filter, route.unit) - amount(a.traffic, filter, route.unit)),
    [matrix, filter, route.unit],
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
