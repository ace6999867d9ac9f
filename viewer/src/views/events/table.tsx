/** The events of the time and lanes shown, one by one. */

import { useMemo } from "preact/hooks";
import { address } from "../../api/answers";
import type { EventDetail, Happened } from "../../api/types";
import { bytes, fileLine, integer, seconds } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, SourceLink } from "../../ui/parts";
import { type Column, DataTable } from "../../ui/table";
import { pinsIn } from "./details";
import { type Shown, useLaneName } from "./index";
import { type Pin, usePins } from "./pins";
import { moment } from "./window";

export function EventTable({ shown }: { shown: Shown }) {
  const { lanes, window, range } = shown;
  const isAll = range[0] === 0 && range[1] === lanes.lanes.length - 1;
  const isWhole = window[0] === 0 && window[1] === lanes.until;
  const asked = useAnswer<Happened>(
    address("happened", {
      from: isWhole ? null : window[0],
      to: isWhole ? null : window[1],
      lanes: isAll ? null : range.join("-"),
    }),
  );
  return <Answered asked={asked}>{(answer) => <Rows answer={answer} shown={shown} />}</Answered>;
}

/** A call, or a finding at its moment. */
type Row =
  | { lane: number; begin: number; event: EventDetail; pin: null }
  | { lane: number; begin: number; event: null; pin: Pin };

function Rows({ answer, shown }: { answer: Happened; shown: Shown }) {
  const { run, go } = useShared();
  const name = useLaneName(shown.lanes);
  const pins = usePins(shown.lanes);
  const { until } = shown.lanes;
  const rows = useMemo(() => {
    const events = answer.events.map((event): Row => ({ lane: event.lane, begin: event.begin, event, pin: null }));
    const found = pinsIn(pins, shown).map((pin): Row => ({ lane: pin.lane, begin: pin.time, event: null, pin }));
    return found.length === 0 ? events : [...events, ...found].sort((a, b) => a.begin - b.begin || a.lane - b.lane);
  }, [answer, pins, shown]);
  const peers = (event: EventDetail) =>
    [...new Set(event.messages.map((end) => run.places[end.peer]?.name ?? ""))].join(", ") +
    (event.more > 0 ? ", …" : "");
  const finding = (row: Row) => (row.pin === null ? undefined : run.findings[row.pin.finding]);
  const line = (row: Row): [file: number | null, line: number | null] => {
    const of = row.event ?? finding(row);
    return [of?.file ?? null, of?.line ?? null];
  };
  const waiting = ({ event }: Row) => (event?.wait ? (event.wait.end - event.wait.begin) / 1e9 : 0);
  const columns: Column<Row>[] = [
    { title: "lane", value: (row) => name(row.lane), width: "minmax(52px, 1fr)" },
    {
      title: "from",
      numeric: true,
      value: (row) => row.begin / 1e9,
      show: (row) => moment(row.begin, 1000, until),
      width: "88px",
    },
    {
      title: "call",
      value: (row) =>
        row.event === null
          ? `▲ ${finding(row)!.code}: ${finding(row)!.title}`
          : row.event.folded === null
            ? row.event.call
            : `${row.event.folded} × ${row.event.call} (folded)`,
      width: "minmax(80px, 2fr)",
    },
    {
      title: "line",
      width: "minmax(72px, 1fr)",
      value: (row) => (line(row)[0] === null ? "" : fileLine(run.files[line(row)[0]!]?.path ?? "", line(row)[1])),
      show: (row) => <SourceLink file={line(row)[0]} line={line(row)[1]} />,
    },
    {
      title: "time",
      numeric: true,
      value: (row) => (row.event === null ? "" : row.event.time / 1e9),
      show: (row) => (row.event === null ? "" : seconds(row.event.time / 1e9)),
      width: "58px",
    },
    {
      title: "waiting",
      numeric: true,
      value: waiting,
      show: (row) => (waiting(row) > 0 ? seconds(waiting(row)) : ""),
      width: "58px",
    },
    {
      title: "for whom",
      width: "minmax(60px, 1fr)",
      value: ({ event }) => (event?.wait ? `${run.places[event.wait.place]?.name ?? ""} (${event.wait.kind})` : ""),
    },
    { title: "peers", value: ({ event }) => (event === null ? "" : peers(event)), width: "minmax(44px, 1fr)" },
    {
      title: "bytes",
      numeric: true,
      value: (row) => row.event?.bytes ?? "",
      show: (row) => (row.event === null ? "" : bytes(row.event.bytes)),
      width: "58px",
    },
  ];
  return (
    <DataTable<Row>
      fill
      title="Events"
      columns={columns}
      rows={rows}
      onOpen={(row) =>
        go(
          row.pin === null
            ? { lane: row.lane, at: [row.event.begin, row.event.end], finding: null }
            : { lane: row.lane, at: null, finding: row.pin.finding },
          "replace",
        )
      }
      note={
        answer.more > 0 && (
          <span class="muted">
            the longest of {integer(answer.events.length + answer.more)} in this time and these lanes
          </span>
        )
      }
      empty="No event was recorded in this time."
    />
  );
}
