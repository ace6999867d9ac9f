/** The events of the time and lanes shown, one by one. */

import { address } from "../../api/answers";
import type { EventDetail, Happened } from "../../api/types";
import { bytes, fileLine, integer, seconds } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, SourceLink } from "../../ui/parts";
import { type Column, DataTable } from "../../ui/table";
import { type Shown, useLaneName } from "./index";
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

function Rows({ answer, shown }: { answer: Happened; shown: Shown }) {
  const { run, go } = useShared();
  const name = useLaneName(shown.lanes);
  const { until } = shown.lanes;
  const peers = (event: EventDetail) =>
    [...new Set(event.messages.map((end) => run.places[end.peer]?.name ?? ""))].join(", ") +
    (event.more > 0 ? ", …" : "");
  const columns: Column<EventDetail>[] = [
    { title: "lane", value: (event) => name(event.lane), width: "minmax(52px, 1fr)" },
    {
      title: "from",
      numeric: true,
      value: (event) => event.begin / 1e9,
      show: (event) => moment(event.begin, 1000, until),
      width: "88px",
    },
    {
      title: "call",
      value: (event) => (event.folded === null ? event.call : `${event.folded} × ${event.call} (folded)`),
      width: "minmax(80px, 2fr)",
    },
    {
      title: "line",
      width: "minmax(72px, 1fr)",
      value: (event) => (event.file === null ? "" : fileLine(run.files[event.file]?.path ?? "", event.line)),
      show: (event) => <SourceLink file={event.file} line={event.line} />,
    },
    {
      title: "time",
      numeric: true,
      value: (event) => event.time / 1e9,
      show: (event) => seconds(event.time / 1e9),
      width: "58px",
    },
    {
      title: "waiting",
      numeric: true,
      value: (event) => (event.wait === null ? 0 : (event.wait.end - event.wait.begin) / 1e9),
      show: (event) => (event.wait === null ? "" : seconds((event.wait.end - event.wait.begin) / 1e9)),
      width: "58px",
    },
    {
      title: "for whom",
      width: "minmax(60px, 1fr)",
      value: (event) => (event.wait === null ? "" : `${run.places[event.wait.place]?.name ?? ""} (${event.wait.kind})`),
    },
    { title: "peers", value: peers, width: "minmax(44px, 1fr)" },
    {
      title: "bytes",
      numeric: true,
      value: (event) => event.bytes,
      show: (event) => bytes(event.bytes),
      width: "58px",
    },
  ];
  return (
    <DataTable<EventDetail>
      fill
      title="Events"
      columns={columns}
      rows={answer.events}
      onOpen={(event) => go({ lane: event.lane, at: [event.begin, event.end] }, "replace")}
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
