/** A line: what it moves, of which objects, between which places, called from where. */

import { address } from "../../api/answers";
import { NOT_HELD } from "../../api/embedded";
import type { FileLine, LineDetail, LineTransfer } from "../../api/types";
import { integer } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, ObjectLink, PlaceLink, Quantity, Stack } from "../../ui/parts";
import { linesIn } from "../../state/findings";
import { type Column, DataTable } from "../../ui/table";
import { MiniMatrix } from "../mini_matrix";

export function LineDetails({ file, line, known }: { file: number; line: number | null; known: FileLine | null }) {
  const { run } = useShared();
  const findings = line === null ? [] : run.findings.filter((finding) => linesIn(finding, file).includes(line));
  return (
    <aside class="details wide" aria-label="Line details">
      {line === null ? (
        <p class="muted">Select a line to see what it moves.</p>
      ) : (
        <div key={line}>
          <h2>Line {line}</h2>
          {findings.map((finding, index) => (
            <div class="finding" key={index}>
              <strong>▲ {finding.code}</strong> {finding.title}
              <p>{finding.message}</p>
            </div>
          ))}
          {known === null ? <p class="muted">This line moves nothing.</p> : <LineTraffic file={file} line={known} />}
        </div>
      )}
    </aside>
  );
}

function LineTraffic({ file, line }: { file: number; line: FileLine }) {
  const { answers, run } = useShared();
  const question = address("line", { file, line: line.line });
  const held = answers.holds(question);
  const asked = useAnswer<LineDetail>(held ? question : null);
  return (
    <>
      <dl>
        <dt>transfers</dt>
        <dd>
          <Quantity value={line.count} unit="count" />
        </dd>
        <dt>bytes</dt>
        <dd>
          <Quantity value={line.bytes} unit="bytes" />
        </dd>
        {line.seconds > 0 && (
          <>
            <dt>time in calls</dt>
            <dd>
              <Quantity value={line.seconds} unit="time" />
            </dd>
          </>
        )}
        <dt>kinds</dt>
        <dd>{line.by_kind.map(([kind]) => run.kinds[kind]).join(", ")}</dd>
        <dt>calls</dt>
        <dd class="mono">{line.calls.join(", ")}</dd>
        <dt>objects</dt>
        <dd>
          {line.objects.length === 0 && <span class="muted">not attributed</span>}
          {line.objects.map((object) => (
            <div key={object}>
              <ObjectLink object={object} />
            </div>
          ))}
        </dd>
      </dl>
      {held ? (
        <>
          <MiniMatrix title="Between places" parameters={{ file, line: line.line }} />
          <Answered asked={asked}>
            {(answer) => (
              <>
                <Transfers answer={answer} />
                <h2>Called from</h2>
                {answer.stacks.slice(0, 8).map((frames, index) => (
                  <Stack key={index} frames={frames} />
                ))}
                {answer.stacks.length > 8 && (
                  <p class="muted">and {integer(answer.stacks.length - 8)} more call paths</p>
                )}
              </>
            )}
          </Answered>
        </>
      ) : (
        <p class="muted">{NOT_HELD}: between which places, and called from where.</p>
      )}
    </>
  );
}

function Transfers({ answer }: { answer: LineDetail }) {
  const { run, filter } = useShared();
  const name = (place: number) => run.places[place]?.name ?? "";
  const columns: Column<LineTransfer>[] = [
    {
      title: "source",
      value: (row) => name(row.source),
      show: (row) => <PlaceLink place={row.source} />,
      width: "minmax(64px, 1fr)",
    },
    {
      title: "target",
      value: (row) => name(row.target),
      show: (row) => <PlaceLink place={row.target} />,
      width: "minmax(64px, 1fr)",
    },
    {
      title: "object",
      value: (row) => objectName(row.object),
      show: (row) => <ObjectLink object={row.object} />,
      width: "minmax(64px, 1fr)",
    },
    {
      title: "count",
      numeric: true,
      width: "52px",
      value: (row) => row.count,
      show: (row) => <Quantity value={row.count} unit="count" />,
    },
    {
      title: "bytes",
      numeric: true,
      width: "68px",
      value: (row) => row.bytes,
      show: (row) => <Quantity value={row.bytes} unit="bytes" />,
    },
  ];
  const objectName = (object: number | null) => (object === null ? "" : (run.objects[object]?.name ?? ""));
  return (
    <DataTable
      title="Transfers"
      columns={columns}
      rows={answer.transfers.filter((row) => filter[row.kind])}
      note={answer.more > 0 && <span class="muted">without the smallest {integer(answer.more)}</span>}
      empty="No transfer matches. Switch kinds on again."
    />
  );
}
