/** A place: what it reads and writes elsewhere, of which objects, by which instructions and
 * lines. */

import { useMemo } from "preact/hooks";
import type { PlaceDetail, PlaceTime } from "../api/types";
import { integer, seconds } from "../format";
import { placeAddress, useAnswer, useShared } from "../state/context";
import {
  Answered,
  Bar,
  FindingMark,
  LeftOut,
  ObjectLink,
  OfAllKinds,
  PlaceLink,
  Quantity,
  Search,
  SourceLink,
} from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { VirtualList } from "../ui/virtual";

export function PlacesView() {
  const { answers, run, route, go } = useShared();
  const wanted = route.search.trim().toLowerCase();
  const places = useMemo(
    () =>
      run.places.filter((place) => `${place.name} ${run.nodes[place.node]?.name ?? ""}`.toLowerCase().includes(wanted)),
    [run, wanted],
  );
  const chosen = route.place ?? places[0]?.id ?? null;
  const place = chosen === null ? undefined : run.places[chosen];
  return (
    <div class="view columns">
      <nav class="side" aria-label="Places">
        <Search label="Search places" />
        <VirtualList
          label="Places"
          items={places}
          rowHeight={30}
          keyOf={(place) => place.id}
          selected={chosen}
          holds={(place) => answers.holds(placeAddress(place.id))}
          onSelect={(place) => go({ place: place.id }, "replace")}
          empty={run.places.length === 0 ? "No rank has left a record." : "No place matches. Clear the search."}
          render={(place) => (
            <span class="line">
              <strong class="cut" title={place.name}>
                {place.name}
              </strong>
              <FindingMark findings={run.findings.filter((finding) => finding.places.includes(place.id))} />
              <span class="spring" />
              <span class="muted cut">{run.nodes[place.node]?.name}</span>
            </span>
          )}
        />
      </nav>
      {place === undefined ? (
        <div class="main empty">
          {chosen === null ? "Select a place." : "This run has no such place. Select one from the list."}
        </div>
      ) : (
        <PlaceDetail key={place.id} place={place.id} />
      )}
    </div>
  );
}

interface Measured {
  count: number;
  bytes: number;
}

/** Columns of amounts, and a bar of the route's unit. */
function useAmounts<T extends Measured>(rows: readonly T[]): Column<T>[] {
  const { route } = useShared();
  const most = rows.reduce((most, row) => Math.max(most, row[route.unit]), 1);
  return [
    {
      title: "share",
      value: (row) => row[route.unit] / most,
      show: (row) => <Bar share={row[route.unit] / most} />,
      width: "88px",
    },
    {
      title: "transfers",
      numeric: true,
      value: (row) => row.count,
      show: (row) => <Quantity value={row.count} unit="count" />,
    },
    {
      title: "bytes",
      numeric: true,
      value: (row) => row.bytes,
      show: (row) => <Quantity value={row.bytes} unit="bytes" />,
    },
  ];
}

function PlaceDetail({ place }: { place: number }) {
  const { run, go } = useShared();
  const asked = useAnswer<PlaceDetail>(placeAddress(place));
  const { name, kind, node } = run.places[place]!;
  return (
    <div class="main scroll">
      <header class="title">
        <h2>{name}</h2>
        <span class="muted">
          {kind === "rank" ? "rank with its host memory" : kind} on {run.nodes[node]?.name}
        </span>
        <span class="spring" />
        <button type="button" onClick={() => go({ view: "timeline", of: "place", place })}>
          Timeline
        </button>
      </header>
      <Answered asked={asked}>{(answer) => <PlaceTables answer={answer} name={name} />}</Answered>
    </div>
  );
}

function PlaceTables({ answer, name }: { answer: PlaceDetail; name: string }) {
  const { run, filter, route, go } = useShared();
  const unit = route.unit;
  const byAmount = <T extends Measured>(rows: readonly T[]) => rows.toSorted((a, b) => b[unit] - a[unit]);
  const peers = useMemo(() => byAmount(answer.peers.filter((row) => filter[row.kind])), [answer, filter, unit]);
  const objects = useMemo(() => byAmount(answer.objects.filter((row) => filter[row.kind])), [answer, filter, unit]);
  const instructions = useMemo(() => byAmount(answer.instructions), [answer, unit]);
  const lines = useMemo(() => byAmount(answer.lines), [answer, unit]);
  type Peer = (typeof peers)[number];
  type Line = (typeof lines)[number];
  type Thing = (typeof objects)[number];
  const other = (row: Peer) => run.places[row.place]?.name ?? "";
  return (
    <div class="tables">
      {route.measure === "time" && answer.times.length > 0 && <Times answer={answer} />}
      <DataTable<Peer>
        title={`Between ${name} and others`}
        columns={[
          { title: "other place", value: other, show: (row) => <PlaceLink place={row.place} /> },
          { title: "access", value: (row) => (row.direction === "read" ? "reads from" : "writes to"), width: "92px" },
          { title: "kind", value: (row) => run.kinds[row.kind] ?? "", width: "minmax(110px, 1fr)" },
          ...useAmounts(peers),
        ]}
        rows={peers}
        note={<LeftOut count={answer.more[3]} />}
        onOpen={(row) => go({ place: row.place })}
        empty="Nothing moved between this place and others under this filter."
      />
      <DataTable<Thing>
        title="Objects"
        columns={[
          {
            title: "object",
            value: (row) => run.objects[row.object]?.name ?? "",
            show: (row) => <ObjectLink object={row.object} />,
          },
          { title: "access", value: (row) => row.direction, width: "92px" },
          { title: "kind", value: (row) => run.kinds[row.kind] ?? "", width: "minmax(110px, 1fr)" },
          ...useAmounts(objects),
        ]}
        rows={objects}
        note={<LeftOut count={answer.more[0]} />}
        onOpen={(row) => go({ view: "objects", object: row.object })}
        empty="No object could be attributed to this place's traffic."
      />
      <DataTable
        title="Calls and instructions"
        columns={[
          { title: "call", value: (row) => row.call, show: (row) => <span class="mono">{row.call}</span> },
          ...useAmounts(instructions),
        ]}
        rows={instructions}
        note={
          <>
            <OfAllKinds />
            <LeftOut count={answer.more[1]} />
          </>
        }
        empty="This place issues no transfers."
      />
      <DataTable<Line>
        title="Lines"
        columns={[
          {
            title: "line",
            value: (row) => `${run.files[row.file]?.path}:${row.line}`,
            show: (row) => <SourceLink file={row.file} line={row.line} />,
          },
          { title: "call", value: (row) => row.call, show: (row) => <span class="mono">{row.call}</span> },
          ...useAmounts(lines),
        ]}
        rows={lines}
        note={
          <>
            <OfAllKinds />
            <LeftOut count={answer.more[2]} />
          </>
        }
        onOpen={(row) => go({ view: "code", file: row.file, line: row.line })}
        empty="No line is known to move anything from or to here. Programs compiled with -g have lines."
      />
      {route.measure === "amount" && answer.times.length > 0 && <Times answer={answer} />}
    </div>
  );
}

/** Time in a rank's calls, by what they name. */
function Times({ answer }: { answer: PlaceDetail }) {
  const { run, go } = useShared();
  const rows = useMemo(() => answer.times.toSorted((a, b) => b.seconds - a.seconds), [answer]);
  const most = Math.max(1e-12, rows[0]?.seconds ?? 0);
  return (
    <DataTable<PlaceTime>
      title="Time in calls"
      columns={[
        { title: "call", value: (row) => row.call, show: (row) => <span class="mono">{row.call}</span> },
        {
          title: "line",
          value: (row) => (row.file === null ? "" : `${run.files[row.file]?.path}:${row.line}`),
          show: (row) => <SourceLink file={row.file} line={row.line} />,
        },
        {
          title: "peer",
          value: (row) => (row.peer === null ? "" : (run.places[row.peer]?.name ?? "")),
          show: (row) => (row.peer === null ? "" : <PlaceLink place={row.peer} />),
        },
        { title: "communicator", value: (row) => row.communicator ?? "" },
        {
          title: "share",
          value: (row) => row.seconds / most,
          show: (row) => <Bar share={row.seconds / most} />,
          width: "88px",
        },
        { title: "calls", numeric: true, value: (row) => row.count, show: (row) => integer(row.count) },
        { title: "time", numeric: true, value: (row) => row.seconds, show: (row) => seconds(row.seconds) },
        {
          title: "longest",
          numeric: true,
          value: (row) => row.longest_seconds,
          show: (row) => seconds(row.longest_seconds),
        },
      ]}
      rows={rows}
      note={
        <>
          <span class="muted">what completes a request names nobody</span>
          <LeftOut count={answer.more[4]} of="in time" />
        </>
      }
      onOpen={(row) => row.file !== null && go({ view: "code", file: row.file, line: row.line })}
      empty="No call was timed."
    />
  );
}
