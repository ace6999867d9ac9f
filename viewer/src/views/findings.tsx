/** Findings: what checking found in the same run, with ways to where it shows. */

import { Fragment } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { address } from "../api/answers";
import type { Finding, FindingMoment, FindingSide, Lanes, MomentOf } from "../api/types";
import { fileLine, integer } from "../format";
import { useAnswer, useShared } from "../state/context";
import { Link, ObjectLink, PlaceLink, Search, SourceLink } from "../ui/parts";
import { aroundMoment, lanesOf } from "./events/pins";
import { moment as timeText } from "./events/window";
import { type Column, DataTable } from "../ui/table";

/** Places of a finding that are listed one by one. */
const LISTED = 12;

export function FindingsView() {
  const { run, route, go } = useShared();
  const wanted = route.search.trim().toLowerCase();
  const found = useMemo(
    () =>
      run.findings.filter((one) =>
        `${one.severity} ${one.code} ${one.title} ${one.message}`.toLowerCase().includes(wanted),
      ),
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
        found.map((one) => <FindingCard key={run.findings.indexOf(one)} number={run.findings.indexOf(one)} />)
      )}
    </div>
  );
}

function FindingCard({ number }: { number: number }) {
  const { run, route } = useShared();
  const finding = run.findings[number]!;
  const isSelected = route.finding === number;
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isSelected) card.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <article ref={card} class={`finding ${finding.severity}`} aria-current={isSelected ? "true" : undefined}>
      <h2>
        ▲ {finding.severity} {finding.code} <span>{finding.title}</span>
      </h2>
      <p>{finding.message}</p>
      <FindingFacts number={number} />
    </article>
  );
}

/** All sides of a finding, why, and how to fix it. */
export function FindingFacts({ number }: { number: number }) {
  const { run } = useShared();
  const finding = run.findings[number]!;
  const { places } = finding;
  return (
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
      {finding.moments.length > 0 && (
        <>
          <dt>{MOMENT[finding.moments[0]!.what]}</dt>
          <dd>
            <Moments number={number} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** What ranks do at a finding's moments. */
const MOMENT: Record<MomentOf, string> = { found: "found", called: "called", stuck: "stands still" };

/** When ranks have found it first, or made its calls, with ways to what happened then. */
function Moments({ number }: { number: number }) {
  const { run, go } = useShared();
  const { moments } = run.findings[number]!;
  // Of a run without events, only the times are known.
  const asked = useAnswer<Lanes>(run.waiting === null ? null : address("lanes"));
  const lanes = asked.value;
  const laneOf = useMemo(() => (lanes === null ? () => null : lanesOf(lanes)), [lanes]);
  const text = ({ time }: FindingMoment) => timeText(time, 1000, run.seconds * 1e9);
  const show = (one: FindingMoment) => {
    const { place, thread, time } = one;
    const lane = laneOf(place, thread);
    const when = `${one.what === "stuck" ? "from" : "at"} ${text(one)}`;
    if (lanes === null || lane === null) return when;
    const window = aroundMoment(Math.min(time, lanes.until), lanes.until);
    const to = () => go({ view: "events", window, lanes: null, lane, at: null, finding: number });
    return (
      <Link to={to} title="What happened at this moment">
        {when}
      </Link>
    );
  };
  return (
    <ul class="moments">
      {moments.slice(0, LISTED).map((one) => (
        <li key={one.place}>
          {show(one)}
          {one.what === "stuck" ? ": " : " by "}
          {run.places[one.place]?.name}
          {one.thread > 0 && `, thread ${one.thread}`}
        </li>
      ))}
      {moments.length > LISTED && <li class="muted">and {integer(moments.length - LISTED)} more ranks</li>}
    </ul>
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
    {
      title: "at",
      numeric: true,
      value: (one) => (one.moments[0] === undefined ? "" : one.moments[0].time / 1e9),
      show: (one) => (one.moments[0] === undefined ? "" : timeText(one.moments[0].time, 1e5, run.seconds * 1e9)),
    },
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
