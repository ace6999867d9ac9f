/** Waits: which rank waits for which, in which state, and at which lines. */

import { useMemo } from "preact/hooks";
import type { Block, StateTotal, WaitLine, WaitLines, WaitMatrix } from "../../api/types";
import { exact, fileLine, integer, seconds, several } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, Choice, Quantity, SourceLink } from "../../ui/parts";
import { type Column, DataTable } from "../../ui/table";
import { ranksAlone, useAxis } from "../axis";
import { type Cell, MatrixFigure } from "../matrix";
import { levelOf, nodesOf } from "../system/grid";
import { ToLongest, useShowLongest, WaitDetails } from "./details";
import { isPair, linesAddress, pairText, useLines, useWaitGrid, waitsAddress, waitsAt } from "./grid";
import { useStates, waited } from "./states";

const FORMS = [
  ["figure", "Matrix"],
  ["table", "Table"],
  ["lines", "Lines"],
] as const;

export function WaitsView() {
  const { run } = useShared();
  if (run.waiting === null) {
    return (
      <div class="view main empty">
        This run was recorded without events (--events 0), or its ranks have left none: who waits for whom is not known.
      </div>
    );
  }
  if (run.waiting.states.length === 0) {
    return (
      <div class="view main empty">
        No rank is known to have waited for another one, by both ends of {integer(run.waiting.compared)} messages and
        collectives.
      </div>
    );
  }
  return <Waits />;
}

function Waits() {
  const { answers, run, route, go } = useShared();
  const axis = useAxis(ranksAlone);
  const asked = useAnswer<WaitMatrix>(waitsAddress(route, run, axis));
  const level = levelOf(route, axis.length, nodesOf(run));
  const form = FORMS.find(([form]) => form === route.form)?.[0] ?? "figure";
  const isWhole = route.rows === null && route.cols === null;
  return (
    <div class="view columns">
      <div class="main">
        <div class="toolbar">
          <Choice label="Form" value={form} options={FORMS} onChange={(form) => go({ form })} />
          {nodesOf(run) > 1 && form !== "lines" && (
            <Choice
              label="Level"
              value={level}
              options={[
                ["node", "Nodes"],
                ["place", "Ranks"],
              ]}
              onChange={(level) => go({ level })}
              disabled={(level) => !answers.holds(waitsAddress({ ...route, level }, run, axis))}
            />
          )}
          {form === "figure" && (
            <Choice
              label="Colour scale"
              value={route.scale}
              options={[
                ["log", "Logarithmic"],
                ["linear", "Linear"],
              ]}
              onChange={(scale) => go({ scale })}
            />
          )}
          {form !== "figure" && !isWhole && (
            <button type="button" onClick={() => go({ rows: null, cols: null })}>
              Show all
            </button>
          )}
          {asked.state === "loading" && (
            <span class="muted" role="status">
              Loading …
            </span>
          )}
        </div>
        <Answered asked={asked}>
          {(matrix) =>
            matrix.rows.length === 0 || matrix.cols.length === 0 ? (
              <div class="empty">
                <p>None of the places shown is a rank.</p>
                <button type="button" onClick={() => go({ rows: null, cols: null })}>
                  Show all
                </button>
              </div>
            ) : form === "table" ? (
              <PairTable matrix={matrix} />
            ) : form === "lines" ? (
              <LineTable />
            ) : (
              <WaitFigure matrix={matrix} />
            )
          }
        </Answered>
      </div>
      <WaitDetails matrix={asked.value} />
    </div>
  );
}

function WaitFigure({ matrix }: { matrix: WaitMatrix }) {
  const { answers } = useShared();
  const { states, filter } = useStates();
  const axis = useAxis(ranksAlone);
  const grid = useWaitGrid(matrix, axis);
  const show = useShowLongest();
  const sides = ({ row, col }: Cell): [Block, Block] => [matrix.rows[row]!, matrix.cols[col]!];
  const open = (cell: Cell) => {
    const [row, col] = sides(cell);
    if (!isPair(row, col)) return false;
    const question = linesAddress([row.first, row.last], [col.first, col.last]);
    if (answers.holds(question)) {
      answers.get(question).then(
        (answer) => {
          const longest = longestOf((answer as WaitLines).lines.filter((line) => filter[line.state]));
          if (longest !== null) show(longest);
        },
        // Beside the matrix it is said why there are none.
        () => undefined,
      );
    }
    return true;
  };
  return (
    <MatrixFigure
      title="Who waits for whom"
      description="Rows are ranks that wait, columns are the ranks that they wait for."
      grid={grid}
      axis={axis}
      sides={["waits", "for"]}
      onOpen={open}
      tell={(cell) => {
        const of = waitsAt(matrix, cell.row, cell.col).filter(([state]) => filter[state]);
        const all = waited(of, filter);
        return (
          <>
            <strong>{pairText(...sides(cell))}</strong>
            <br />
            {all.count === 0 ? "not at all" : `${exact(all.seconds, "time")} in ${several(all.count, "wait")}`}
            {of.map(([state, , time]) => (
              <div key={state}>
                {states[state]?.name}: {seconds(time)}
              </div>
            ))}
          </>
        );
      }}
    />
  );
}

/** The longest wait of some lines. */
export function longestOf(lines: readonly WaitLine[]): WaitLine["longest"] | null {
  const length = ({ longest }: WaitLine) => longest.end - longest.begin;
  return (
    lines.reduce<WaitLine | null>((most, line) => (most !== null && length(most) >= length(line) ? most : line), null)
      ?.longest ?? null
  );
}

interface Row {
  waits: Block;
  late: Block;
  of: readonly StateTotal[];
}

function PairTable({ matrix }: { matrix: WaitMatrix }) {
  const { go } = useShared();
  const { states, filter } = useStates();
  const rows = useMemo(
    () =>
      matrix.cells
        .map(([row, col, of]): Row => ({
          waits: matrix.rows[row]!,
          late: matrix.cols[col]!,
          of: of.filter(([state]) => filter[state]),
        }))
        .filter(({ of }) => of.length > 0)
        .sort((a, b) => waited(b.of, filter).seconds - waited(a.of, filter).seconds),
    [matrix, filter],
  );
  const columns: Column<Row>[] = [
    { title: "waits", value: (row) => row.waits.label },
    { title: "for", value: (row) => row.late.label },
    {
      title: "states",
      value: (row) => row.of.map(([state]) => states[state]?.name ?? "").join(", "),
      width: "minmax(140px, 2fr)",
    },
    { title: "count", numeric: true, value: (row) => waited(row.of, filter).count },
    {
      title: "time",
      numeric: true,
      value: (row) => waited(row.of, filter).seconds,
      show: (row) => <Quantity value={waited(row.of, filter).seconds} unit="time" />,
    },
  ];
  return (
    <DataTable
      fill
      title="Who waits for whom"
      columns={columns}
      rows={rows}
      onOpen={(row) => go({ cell: [row.waits.first, row.late.first] }, "replace")}
      empty="No rank waits for another one here in these states. Switch states on again, or show all ranks."
    />
  );
}

/** Lines that wait for lines, of the ranks shown. */
function LineTable() {
  const { answers, run, route, go } = useShared();
  const { states, filter } = useStates();
  const question = linesAddress(route.rows, route.cols);
  const asked = useLines(question);
  const path = (file: number | null, line: number | null) =>
    file === null ? "" : fileLine(run.files[file]?.path ?? "", line);
  const columns: Column<WaitLine>[] = [
    { title: "state", value: (row) => states[row.state]?.name ?? "" },
    { title: "waits in", value: (row) => row.call },
    {
      title: "at",
      value: (row) => path(row.file, row.line),
      show: (row) => <SourceLink file={row.file} line={row.line} />,
    },
    { title: "for", value: (row) => row.late_call },
    {
      title: "late at",
      value: (row) => path(row.late_file, row.late_line),
      show: (row) => <SourceLink file={row.late_file} line={row.late_line} />,
    },
    { title: "pairs", numeric: true, value: (row) => row.pairs, width: "56px" },
    { title: "count", numeric: true, value: (row) => row.count, width: "64px" },
    {
      title: "time",
      numeric: true,
      value: (row) => row.seconds,
      show: (row) => <Quantity value={row.seconds} unit="time" />,
      width: "72px",
    },
    {
      title: "longest",
      numeric: true,
      value: (row) => (row.longest.end - row.longest.begin) / 1e9,
      show: (row) => <ToLongest longest={row.longest} />,
      width: "72px",
    },
  ];
  if (!answers.holds(question)) {
    return (
      <div class="empty">This export holds lines of all ranks only. Show all of them, or open the run itself.</div>
    );
  }
  return (
    <Answered asked={asked}>
      {(answer) => (
        <DataTable
          fill
          title="Lines that wait"
          columns={columns}
          rows={answer.lines.filter((line) => filter[line.state])}
          onOpen={(row) => go({ cell: [row.longest.place, row.longest.late] }, "replace")}
          note={answer.more > 0 && <span class="muted">without the {answer.more} with least time</span>}
          empty="No line waits for another one here in these states."
        />
      )}
    </Answered>
  );
}
