/** Objects: which memory the traffic reads and writes, to the byte. */

import { useMemo } from "preact/hooks";
import type { DataObject, ObjectDetail } from "../../api/types";
import { bytes as bytesText, integer, objectName } from "../../format";
import { objectAddress, useAnswer, useShared } from "../../state/context";
import { amount } from "../../state/traffic";
import { Answered, Bar, FindingMark, Quantity, Search, SourceLink, Stack } from "../../ui/parts";
import { VirtualList } from "../../ui/virtual";
import { MiniMatrix } from "../mini_matrix";
import { Accesses } from "./accesses";

export function ObjectsView() {
  const { answers, run, route, filter, go } = useShared();
  const wanted = route.search.trim().toLowerCase();
  const objects = useMemo(() => {
    const path = (object: DataObject) => (object.file === null ? "" : (run.files[object.file]?.path ?? ""));
    return run.objects
      .map((object) => ({ object, value: amount(object.by_kind, filter, route.unit) }))
      .filter(
        ({ object, value }) =>
          value > 0 && `${object.name} ${object.memory} ${path(object)}`.toLowerCase().includes(wanted),
      )
      .sort((a, b) => b.value - a.value);
  }, [run, filter, route.unit, wanted]);
  const most = objects.reduce((most, one) => Math.max(most, one.value), 1);
  const chosen = route.object ?? objects[0]?.object.id ?? null;
  return (
    <div class="view columns">
      <nav class="side" aria-label="Objects">
        <Search label="Search objects" />
        <VirtualList
          label="Objects, those with most traffic first"
          items={objects}
          rowHeight={46}
          keyOf={({ object }) => object.id}
          selected={chosen}
          holds={({ object }) => answers.holds(objectAddress(object.id))}
          onSelect={({ object }) => go({ object: object.id }, "replace")}
          empty={
            run.objects.length === 0
              ? "No object was recorded. Objects appear when memory that was allocated during the run is communicated."
              : "No object matches. Clear the search or switch kinds on again."
          }
          render={({ object, value }) => (
            <>
              <span class="line">
                <strong class="mono cut" title={objectName(object)}>
                  {objectName(object)}
                </strong>
                <FindingMark findings={run.findings.filter((finding) => finding.object === object.id)} />
                <span class="spring" />
                <Quantity value={value} unit={route.unit} />
              </span>
              <span class="line muted">
                <span class="cut">
                  {object.memory}
                  {object.bytes > 0 && ` · ${bytesText(object.bytes)}`}
                </span>
                <span class="spring" />
                <Bar share={value / most} />
              </span>
            </>
          )}
        />
      </nav>
      {chosen === null || run.objects[chosen] === undefined ? (
        <div class="main empty">
          {chosen === null ? "Select an object." : "This run has no such object. Select one from the list."}
        </div>
      ) : (
        <ObjectDetail key={chosen} object={run.objects[chosen]} />
      )}
    </div>
  );
}

function ObjectDetail({ object }: { object: DataObject }) {
  const asked = useAnswer<ObjectDetail>(objectAddress(object.id));
  return (
    <>
      <div class="main">
        <Answered asked={asked}>{(answer) => <Accesses object={object} answer={answer} />}</Answered>
      </div>
      <ObjectFacts object={object} />
    </>
  );
}

function ObjectFacts({ object }: { object: DataObject }) {
  const { run, go } = useShared();
  const findings = run.findings.filter((finding) => finding.object === object.id);
  // Nobody allocates variables.
  const allocated = object.memory !== "global" && object.memory !== "stack";
  return (
    <aside class="details" aria-label={`About ${objectName(object)}`}>
      <h2 class="mono name">{objectName(object)}</h2>
      <dl>
        <dt>memory</dt>
        <dd>{object.memory}</dd>
        <dt>size</dt>
        <dd>{object.bytes === 0 ? "unknown" : <Quantity value={object.bytes} unit="bytes" />}</dd>
        {allocated && (
          <>
            <dt>allocated</dt>
            <dd>
              {integer(object.allocations)} × at <SourceLink file={object.file} line={object.line} />
            </dd>
          </>
        )}
        <dt>places</dt>
        <dd>{integer(object.place_count)}</dd>
        {object.by_kind.map(([kind, count, bytes]) => [
          <dt key={kind}>{run.kinds[kind]}</dt>,
          <dd key={`${kind}v`}>
            <Quantity value={bytes} unit="bytes" /> in <Quantity value={count} unit="count" />
          </dd>,
        ])}
      </dl>
      {findings.length > 0 && <h2>Findings</h2>}
      {findings.map((finding, index) => (
        <p key={index}>
          <button type="button" class="link" onClick={() => go({ view: "findings" })}>
            ▲ {finding.code}
          </button>{" "}
          {finding.title}
        </p>
      ))}
      <MiniMatrix title="Between places" parameters={{ object: object.id }} />
      {allocated && (
        <>
          <h2>Allocated by</h2>
          <Stack frames={object.stack} />
        </>
      )}
    </aside>
  );
}
