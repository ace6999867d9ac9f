/** The critical path: what it consists of, by rank and by line, and its parts. */

import { address } from "../../api/answers";
import type { CallOnPath, CriticalPath, PathPart, PlaceOnPath } from "../../api/types";
import { fileLine, integer, percent, seconds, several } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, Bar, Link, PlaceLink, SourceLink } from "../../ui/parts";
import { type Column, DataTable } from "../../ui/table";
import { type Shown, useLaneName } from "./index";
import { around, moment } from "./window";

/** Ranks and calls of the summary. */
const LISTED = 5;

function useCriticalPath() {
  return useAnswer<CriticalPath>(address("critical"));
}

const lengthOf = (path: CriticalPath) => Math.max(1, path.end - path.begin) / 1e9;
const ofPlace = (of: PlaceOnPath) => of.calls + of.own;
const ofCall = (of: CallOnPath) => of.inside + of.before;

/** What a call on the path is called. */
function nameOf(of: CallOnPath): string {
  return of.call ?? "after the last call, or between folded ones";
}

/** Beside the lanes: the largest parts. */
export function PathSummary() {
  const asked = useCriticalPath();
  return (
    <>
      <h2>Critical path</h2>
      <Answered asked={asked}>{(path) => <Summary path={path} />}</Answered>
    </>
  );
}

function Summary({ path }: { path: CriticalPath }) {
  const { go } = useShared();
  if (path.parts.length === 0) return <p class="muted">No rank has recorded calls.</p>;
  const all = lengthOf(path);
  return (
    <>
      <p>
        What determines the end of the run: {seconds(all)} in {several(path.by_place.length, "rank")}, changing{" "}
        {several(path.changes, "time")}.
      </p>
      <table class="plain names" aria-label="Critical path by rank">
        <tbody>
          {path.by_place.slice(0, LISTED).map((of) => (
            <tr key={of.place}>
              <th scope="row">
                <PlaceLink place={of.place} />
              </th>
              <td>
                <Bar share={ofPlace(of) / all} />
              </td>
              <td class="number" title={seconds(ofPlace(of))}>
                {percent(ofPlace(of) / all)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <table class="plain names" aria-label="Critical path by call">
        <tbody>
          {path.by_call.slice(0, LISTED).map((of, index) => (
            <tr key={index}>
              <th scope="row">
                {of.before > of.inside && of.call !== null && "before "}
                <span class={of.call === null ? undefined : "mono"}>{nameOf(of)}</span>{" "}
                {of.file !== null && <SourceLink file={of.file} line={of.line} />}
              </th>
              <td>
                <Bar share={ofCall(of) / all} />
              </td>
              <td class="number" title={`${seconds(of.inside)} in it, ${seconds(of.before)} before it`}>
                {percent(ofCall(of) / all)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={() => go({ form: "path" })}>All of it, as tables</Link>
      </p>
    </>
  );
}

export function PathTables({ shown }: { shown: Shown }) {
  const asked = useCriticalPath();
  return <Answered asked={asked}>{(path) => <Tables path={path} shown={shown} />}</Answered>;
}

function Tables({ path, shown }: { path: CriticalPath; shown: Shown }) {
  const { run, go } = useShared();
  const name = useLaneName(shown.lanes);
  const { until } = shown.lanes;
  const all = lengthOf(path);
  const share = (value: number) => percent(value / all);
  const places: Column<PlaceOnPath>[] = [
    {
      title: "rank",
      value: (of) => run.places[of.place]?.name ?? "",
      show: (of) => <PlaceLink place={of.place} />,
    },
    { title: "share", numeric: true, value: (of) => ofPlace(of) / all, show: (of) => share(ofPlace(of)) },
    { title: "time", numeric: true, value: ofPlace, show: (of) => seconds(ofPlace(of)) },
    { title: "in calls", numeric: true, value: (of) => of.calls, show: (of) => seconds(of.calls) },
    { title: "outside", numeric: true, value: (of) => of.own, show: (of) => seconds(of.own) },
  ];
  const calls: Column<CallOnPath>[] = [
    { title: "call", value: nameOf, width: "minmax(120px, 2fr)" },
    {
      title: "line",
      value: (of) => (of.file === null ? "" : fileLine(run.files[of.file]?.path ?? "", of.line)),
      show: (of) => <SourceLink file={of.file} line={of.line} />,
    },
    { title: "share", numeric: true, value: (of) => ofCall(of) / all, show: (of) => share(ofCall(of)) },
    { title: "in it", numeric: true, value: (of) => of.inside, show: (of) => seconds(of.inside) },
    { title: "before it", numeric: true, value: (of) => of.before, show: (of) => seconds(of.before) },
  ];
  const parts: Column<PathPart>[] = [
    { title: "lane", value: (of) => name(of.lane) },
    { title: "from", numeric: true, value: (of) => of.begin / 1e9, show: (of) => moment(of.begin, 1000, until) },
    { title: "to", numeric: true, value: (of) => of.end / 1e9, show: (of) => moment(of.end, 1000, until) },
    {
      title: "time",
      numeric: true,
      value: (of) => (of.end - of.begin) / 1e9,
      show: (of) => seconds((of.end - of.begin) / 1e9),
    },
  ];
  const empty = "No rank has recorded calls.";
  const more = (count: number, what: string) =>
    count > 0 && (
      <span class="muted">
        without the {integer(count)} {what}
      </span>
    );
  return (
    <div class="scroll tables">
      <p>
        The chain of activity that determines when the run ends, followed backwards from the rank that ends last; where
        a rank has waited, it goes on in the rank that was waited for. Nobody waits on it: what makes a part of it
        shorter may make the run shorter.
      </p>
      {path.notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
      <DataTable title="Critical path by rank" columns={places} rows={path.by_place} empty={empty} />
      <DataTable
        title="Critical path by call"
        columns={calls}
        rows={path.by_call}
        onOpen={(of) => of.file !== null && go({ view: "code", file: of.file, line: of.line })}
        note={more(path.more_calls, "smallest")}
        empty={empty}
      />
      <DataTable
        title="Parts of the critical path"
        columns={parts}
        rows={path.parts}
        onOpen={(of) =>
          go({ form: "figure", path: "on", window: around(of.begin, of.end, until), lanes: null, lane: of.lane })
        }
        note={more(path.more_parts, "shortest")}
        empty={empty}
      />
    </div>
  );
}
