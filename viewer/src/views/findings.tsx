/** Findings: what checking found in the same run, with ways to where it shows. */

import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import type { Finding, FindingSide } from "../api/types";
import { fileLine, integer } from "../format";
import { useShared } from "../state/context";
import { ObjectLink, PlaceLink, Search, SourceLink } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";

/** Places of a finding that are listed one by one. */
const LISTED = 12;

export function FindingsView() {
  const { run, route, go } = useShared();
  const wanted = route.search.trim().toLowerCase();
  const found = useMemo(
    () => run.findings.filter((one) => `${one.severity} ${one.code} ${one.title} ${one.message}`.toLowerCase().includes(wanted)),
    [run, wanted],
  );
  if (run.findings.length === 0) {
    return (
      <div class="view empty">
        {run.checked ? (
          "Checking has found nothing in this run."
        ) : (
          <>
            This run was not checked: it may have mistakes. <code>commsan profile --check</code> checks and profiles at
            once.
          </>
        )}
      </div>
    );
  }
  return (
    <div class="view scroll">
      <div class="toolbar">
        <Search label="Search findings" />
        <span class="muted">
          {integer(found.length)} of {integer(run.findings.length)}
        </span>
        <button
          type="button"
          aria-pressed={route.form === "table"}
          onClick={() => go({ form: route.form === "table" ? "figure" : "table" })}
        >
          Table
        </button>
      </div>
      {route.form === "table" ? (
        <FindingTable found={found} />
      ) : (
        found.map((one, index) => <FindingCard key={index} finding={one} />)
      )}
    </div>
  );
}

function FindingCard({ finding }: { finding: Finding }) {
  const { places } = finding;
  return (
    <article class={`finding ${finding.severity}`}>
      <h2>
        ▲ {finding.severity} {finding.code} <span>{finding.title}</span>
      </h2>
      <p>{finding.message}</p>
      <dl>
        {finding.sides.map((side, index) => (
          <Fragment key={index}>
            <dt>{index === 0 ? "line" : "and"}</dt>
            <dd>
              <SideLink side={side} /> {side.label}
            </dd>
          </Fragment>
        ))}
        {finding.why !== "" && (
          <>
            <dt>why</dt>
            <dd>{finding.why}</dd>
          </>
        )}
        {finding.help !== "" && (
          <>
            <dt>help</dt>
            <dd>{finding.help}</dd>
          </>
        )}
        {finding.object !== null && (
          <>
            <dt>object</dt>
            <dd>
              <ObjectLink object={finding.object} />
            </dd>
          </>
        )}
        <dt>places</dt>
        <dd class="wrap">
          {places.slice(0, LISTED).map((place) => (
            <PlaceLink key={place} place={place} />
          ))}
          {places.length > LISTED && <span class="muted">and {integer(places.length - LISTED)} more</span>}
        </dd>
      </dl>
    </article>
  );
}

/** A way to the line, if the code view has the file; what the file is called, if not. */
function SideLink({ side }: { side: FindingSide }) {
  if (side.file !== null || side.path === null) return <SourceLink file={side.file} line={side.line} />;
  return <span title={side.path}>{fileLine(side.path, side.line)}</span>;
}

function FindingTable({ found }: { found: readonly Finding[] }) {
  const { run, go } = useShared();
  const path = (one: Finding) => (one.file === null ? "" : `${run.files[one.file]?.path}:${one.line}`);
  const columns: Column<Finding>[] = [
    { title: "code", value: (one) => one.code, width: "108px" },
    { title: "severity", value: (one) => one.severity, width: "84px" },
    { title: "finding", value: (one) => one.title, width: "minmax(200px, 3fr)" },
    { title: "line", value: path, show: (one) => <SourceLink file={one.file} line={one.line} /> },
    {
      title: "object",
      value: (one) => (one.object === null ? "" : (run.objects[one.object]?.name ?? "")),
      show: (one) => <ObjectLink object={one.object} />,
    },
    { title: "places", numeric: true, value: (one) => one.places.length },
  ];
  return (
    <DataTable
      fill
      title="Findings"
      columns={columns}
      rows={found}
      onOpen={(one) => one.file !== null && go({ view: "code", file: one.file, line: one.line })}
      empty="No finding matches. Clear the search."
    />
  );
}
