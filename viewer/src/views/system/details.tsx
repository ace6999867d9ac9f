/** Beside the matrix: the selected cell, or the run as a whole. */

import type { Matrix, Selection } from "../../api/types";
import { percent, seconds, several } from "../../format";
import { partText, useSelection, useShared } from "../../state/context";
import { amount } from "../../state/traffic";
import { Bar, ObjectLink, PlaceLink, Quantity, SourceLink } from "../../ui/parts";
import { timeAt, trafficAt, useGrid } from "./grid";
import { allPlaces, useAxis } from "../axis";
import { useSelectedCell } from "../matrix";
import { UnusualInRun, Waits } from "./waits";

/** How many calls are listed by their time. */
const CALLS_LISTED = 5;

/** How many of the ranks are listed by their share of time in calls. */
const RANKS_LISTED = 8;

export function Details({ matrix }: { matrix: Matrix | null }) {
  const grid = useGrid(matrix);
  const cell = useSelectedCell(grid, useAxis(allPlaces));
  return (
    <aside class="details" aria-label="Details">
      {matrix !== null && cell !== null ? (
        <CellDetails matrix={matrix} row={cell.row} col={cell.col} />
      ) : (
        <RunDetails />
      )}
    </aside>
  );
}

function CellDetails({ matrix, row, col }: { matrix: Matrix; row: number; col: number }) {
  const { run } = useShared();
  const [from, to] = [matrix.rows[row]!, matrix.cols[col]!];
  const traffic = trafficAt(matrix, row, col);
  return (
    <div aria-live="polite">
      <h2>
        {from.label} → {to.label}
      </h2>
      {traffic.length === 0 ? (
        <p class="muted">Nothing moved from here to there.</p>
      ) : (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">kind</th>
              <th scope="col" class="number">
                transfers
              </th>
              <th scope="col" class="number">
                bytes
              </th>
            </tr>
          </thead>
          <tbody>
            {traffic.map(([kind, count, bytes]) => (
              <tr key={kind}>
                <th scope="row">{run.kinds[kind]}</th>
                <td class="number">
                  <Quantity value={count} unit="count" />
                </td>
                <td class="number">
                  <Quantity value={bytes} unit="bytes" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {timeAt(matrix, row, col) > 0 && (
        <p>
          {from.label} is in calls that name {to.label} for {seconds(timeAt(matrix, row, col))}.
        </p>
      )}
      {from.first === from.last && to.first === to.last ? (
        <p>
          <PlaceLink place={from.first} /> · <PlaceLink place={to.first} />
        </p>
      ) : (
        <p class="muted">Enter, or a double click, zooms into these places.</p>
      )}
    </div>
  );
}

function RunDetails() {
  const { run, route } = useShared();
  const { state, value: selection } = useSelection();
  const part = partText(route, run);
  return (
    <>
      <UnusualInRun />
      {part !== "" && <p class="muted">Of what happened {part}:</p>}
      {selection === null ? (
        <p class="muted">{state === "loading" ? "Loading …" : "Its totals are not known."}</p>
      ) : (
        <>
          <Totals selection={selection} />
          <TimeInCalls selection={selection} />
          <LongestCalls selection={selection} />
          <Waits />
          <LargestObjects selection={selection} />
        </>
      )}
      <p class="muted">Select a cell to see what moved there.</p>
    </>
  );
}

function Totals({ selection }: { selection: Selection }) {
  const { run, filter, route } = useShared();
  const totals = selection.totals.filter((total) => filter[total.kind]);
  const most = Math.max(1, ...totals.map((total) => total[route.unit]));
  return (
    <>
      <h2>Traffic by kind</h2>
      <table class="plain">
        <tbody>
          {totals.map((total) => (
            <tr key={total.kind}>
              <th scope="row">{run.kinds[total.kind]}</th>
              <td>
                <Bar share={total[route.unit] / most} />
              </td>
              <td class="number">
                <Quantity value={total[route.unit]} unit={route.unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function TimeInCalls({ selection }: { selection: Selection }) {
  const { run, route } = useShared();
  const { share_of_time: share, by_rank: ranks } = selection.calls;
  const all = route.time === null ? run.seconds : (route.time[1] + 1 - route.time[0]) * run.timeline.width_seconds;
  // Where no call was timed, as without MPI, nothing is to be said.
  if (!ranks.some((rank) => rank.seconds > 0)) return null;
  const slowest = ranks.toSorted((a, b) => b.seconds - a.seconds).slice(0, RANKS_LISTED);
  const most = Math.max(1e-12, slowest[0]?.seconds ?? 0);
  // Of part of the time it is not known.
  const waited = new Map(route.time === null ? (run.waiting?.by_rank ?? []) : []);
  return (
    <>
      <h2>Time in communication calls</h2>
      <p>
        {percent(share)} of {seconds(all)}
        {run.regions.includes(route.region) && ", in all regions"}
      </p>
      <table class="plain">
        <tbody>
          {slowest.map((rank) => (
            <tr key={rank.place}>
              <th scope="row">
                <PlaceLink place={rank.place} />
              </th>
              <td>
                <Bar share={rank.seconds / most} />
              </td>
              <td class="number">
                {seconds(rank.seconds)}
                {waited.has(rank.place) && <div class="muted">{seconds(waited.get(rank.place)!)} waiting</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {ranks.length > slowest.length && (
        <p class="muted">
          the {slowest.length} longest of {ranks.length} ranks
        </p>
      )}
    </>
  );
}

/** Calls by line with most time, of all ranks. */
function LongestCalls({ selection }: { selection: Selection }) {
  const { calls, more } = selection.calls;
  const longest = calls.filter((call) => call.seconds > 0);
  if (longest.length === 0) return null;
  const shown = longest.slice(0, CALLS_LISTED);
  const left = longest.length - shown.length + more;
  return (
    <>
      <h2>Calls with most time</h2>
      <table class="plain names">
        <tbody>
          {shown.map((call, index) => (
            <tr key={index}>
              <th scope="row">
                <span class="mono">{call.call}</span> <SourceLink file={call.file} line={call.line} />
              </th>
              <td>
                <Bar share={call.seconds / shown[0]!.seconds} />
              </td>
              <td class="number" title={several(call.count, "call")}>
                {seconds(call.seconds)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">all ranks together{left > 0 && `; ${several(left, "call site")} more with less`}</p>
    </>
  );
}

function LargestObjects({ selection }: { selection: Selection }) {
  const { filter, route } = useShared();
  const largest = selection.objects
    .map(([object, traffic]) => ({ object, value: amount(traffic, filter, route.unit) }))
    .filter((one) => one.value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, 5);
  if (largest.length === 0) return null;
  return (
    <>
      <h2>Objects with most traffic</h2>
      <table class="plain names">
        <tbody>
          {largest.map(({ object, value }) => (
            <tr key={object}>
              <th scope="row">
                <ObjectLink object={object} />
              </th>
              <td>
                <Bar share={value / largest[0]!.value} />
              </td>
              <td class="number">
                <Quantity value={value} unit={route.unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
