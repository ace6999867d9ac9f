/** Beside the matrix of waits: the selected pair with its lines, or the run as a whole. */

import type { Block, LongestWait, StateTotal, WaitLine, WaitMatrix } from "../../api/types";
import { percent, seconds, several } from "../../format";
import { useShared } from "../../state/context";
import { Answered, Bar, Link, PlaceLink, Quantity, SourceLink } from "../../ui/parts";
import { around } from "../events/window";
import { Waits } from "../system/waits";
import { isPair, linesAddress, pairText, useCell, useLines, waitsAt } from "./grid";
import { useStates, waited } from "./states";

/** Lines that are listed of a pair; the form *Lines* has all of them. */
const LISTED = 12;

export function WaitDetails({ matrix }: { matrix: WaitMatrix | null }) {
  const cell = useCell(matrix);
  return (
    <aside class="details" aria-label="Wait details">
      {matrix !== null && cell !== null ? (
        <OfCell row={matrix.rows[cell.row]!} col={matrix.cols[cell.col]!} of={waitsAt(matrix, cell.row, cell.col)} />
      ) : (
        <OfRun matrix={matrix} />
      )}
    </aside>
  );
}

/** Goes to a wait among the events, with its call selected. */
export function useShowLongest(): (longest: LongestWait) => void {
  const { answers, run, go } = useShared();
  return ({ begin, end, lane }) =>
    go({
      view: "events",
      window: around(begin, end, run.seconds * 1e9),
      lanes: null,
      lane,
      // Of a call that an export does not hold, its moment is shown alone.
      at: lane !== null && answers.holds("/api/happened?from=0&lanes=0-0&to=1") ? [begin, end] : null,
    });
}

/** How long the longest wait is, as the way to it. */
export function ToLongest({ longest }: { longest: LongestWait }) {
  const show = useShowLongest();
  return (
    <Link to={() => show(longest)} title="Show it among the events">
      {seconds((longest.end - longest.begin) / 1e9)}
    </Link>
  );
}

function StateTable({ of }: { of: readonly StateTotal[] }) {
  const { states, filter } = useStates();
  const shown = of.filter(([state]) => filter[state]).toSorted((a, b) => b[2] - a[2]);
  if (shown.length === 0) return null;
  return (
    <table class="plain" aria-label="Waits by state">
      <tbody>
        {shown.map(([state, count, time]) => (
          <tr key={state}>
            <th scope="row">{states[state]?.name}</th>
            <td>
              <Bar share={time / shown[0]![2]} />
            </td>
            <td class="number" title={several(count, "wait")}>
              <Quantity value={time} unit="time" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function OfCell({ row, col, of }: { row: Block; col: Block; of: readonly StateTotal[] }) {
  const { answers } = useShared();
  const { filter } = useStates();
  const question = linesAddress([row.first, row.last], [col.first, col.last]);
  const all = waited(of, filter);
  const asked = useLines(all.count > 0 ? question : null);
  return (
    <div aria-live="polite">
      <h2>{pairText(row, col)}</h2>
      {all.count === 0 ? (
        <p class="muted">{of.length === 0 ? "They do not wait for each other." : "Not in the states that count."}</p>
      ) : (
        <>
          <p>
            {seconds(all.seconds)} in {several(all.count, "wait")}
          </p>
          <StateTable of={of} />
          {answers.holds(question) ? (
            <Answered asked={asked}>{(answer) => <Lines lines={answer.lines} isPair={isPair(row, col)} />}</Answered>
          ) : (
            <p class="muted">This export does not hold the lines of this pair; `commsan view` shows them.</p>
          )}
        </>
      )}
      {isPair(row, col) ? (
        <p>
          <PlaceLink place={row.first} />
          {row.first !== col.first && (
            <>
              {" · "}
              <PlaceLink place={col.first} />
            </>
          )}
        </p>
      ) : (
        <p class="muted">Enter, or a double click, zooms into these ranks.</p>
      )}
    </div>
  );
}

/** Which line waits for which, and the way to the longest of these waits. */
function Lines({ lines, isPair }: { lines: readonly WaitLine[]; isPair: boolean }) {
  const { states, filter } = useStates();
  const counting = lines.filter((line) => filter[line.state]);
  const shown = counting.slice(0, LISTED);
  if (shown.length === 0) return null;
  return (
    <>
      <h2>Where, and the cause</h2>
      <table class="plain" aria-label="Lines that wait">
        {shown.map((line, index) => (
          <tbody key={index}>
            <tr>
              <th scope="row">{states[line.state]?.name}</th>
              <td>
                <Bar share={line.seconds / shown[0]!.seconds} />
              </td>
              <td class="number">
                <Quantity value={line.seconds} unit="time" />
              </td>
            </tr>
            <tr>
              <td colSpan={3} class="wrap">
                late: <At call={line.late_call} file={line.late_file} line={line.late_line} />
                <div class="muted">
                  waits: <At call={line.call} file={line.file} line={line.line} />
                </div>
                <div class="muted">
                  {several(line.count, "wait")}, the longest <ToLongest longest={line.longest} />
                  {!isPair && `, ${several(line.pairs, "pair")} of ranks`}
                </div>
              </td>
            </tr>
          </tbody>
        ))}
      </table>
      {counting.length > shown.length && (
        <p class="muted">{several(counting.length - shown.length, "line")} more with less, in the form Lines</p>
      )}
    </>
  );
}

function At({ call, file, line }: { call: string; file: number | null; line: number | null }) {
  return (
    <>
      <span class="mono">{call}</span> {file !== null && <SourceLink file={file} line={line} />}
    </>
  );
}

function OfRun({ matrix }: { matrix: WaitMatrix | null }) {
  const { run, route } = useShared();
  const { filter } = useStates();
  const isWhole = route.rows === null && route.cols === null;
  const sums = new Map<number, StateTotal>();
  for (const [, , of] of matrix?.cells ?? []) {
    for (const [state, count, time] of of) {
      const sum = sums.get(state) ?? [state, 0, 0];
      sums.set(state, [state, sum[1] + count, sum[2] + time]);
    }
  }
  const all = waited([...sums.values()], filter);
  const time = run.calls.by_rank.reduce((sum, rank) => sum + rank.seconds + rank.busy, 0);
  return (
    <>
      <h2>{isWhole ? "Waiting in this run" : "Waiting of these ranks"}</h2>
      <p>
        {seconds(all.seconds)} in {several(all.count, "wait")}
        {isWhole && time > 0 && `, ${percent(all.seconds / time)} of all ranks’ time`}
      </p>
      <StateTable of={[...sums.values()]} />
      <Waits />
      <p class="muted">
        Select a cell to see the lines of both ranks, and their longest wait among the events. Whoever waits is in its
        row, whoever is late in its column.
      </p>
    </>
  );
}
