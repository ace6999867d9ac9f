/** Code: which lines move how much. */

import { useMemo } from "preact/hooks";
import { address } from "../../api/answers";
import type { FileDetail, SourceFile } from "../../api/types";
import { shortPath } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { amount } from "../../state/traffic";
import { linesIn } from "../../state/findings";
import { Answered, Bar, FindingMark, Quantity, Search } from "../../ui/parts";
import { VirtualList } from "../../ui/virtual";
import { LineDetails } from "./line";
import { Source } from "./source";

/** What is unusual about a file. */
function condition(file: SourceFile): string {
  if (!file.found) return "source not found";
  return file.changed ? "changed since the run" : "";
}

export function CodeView() {
  const { run, route, filter, go } = useShared();
  const time = route.measure === "time";
  const wanted = route.search.trim().toLowerCase();
  const found = useMemo(
    () => new Set(run.findings.flatMap((finding) => finding.sides.map((side) => side.file))),
    [run],
  );
  const files = useMemo(
    () =>
      run.files
        .map((file) => ({ file, value: time ? file.seconds : amount(file.by_kind, filter, route.unit) }))
        .filter(({ file }) => file.path.toLowerCase().includes(wanted))
        // Others only occur in call paths, as headers that allocate do.
        .filter(({ file }) => file.count > 0 || file.seconds > 0 || found.has(file.id) || file.id === route.file)
        .sort((a, b) => b.value - a.value),
    [run, found, filter, route.unit, time, route.file, wanted],
  );
  const most = files[0]?.value || 1;
  const chosen = route.file ?? files[0]?.file.id ?? null;
  const file = chosen === null ? undefined : run.files[chosen];
  return (
    <div class="view columns">
      <nav class="side" aria-label="Files">
        <Search label="Search files" />
        <VirtualList
          label="Files, those with most traffic first"
          items={files}
          rowHeight={46}
          keyOf={({ file }) => file.id}
          selected={chosen}
          onSelect={({ file }) => go({ file: file.id, line: null }, "replace")}
          empty={
            run.files.length === 0
              ? "No source line was recorded. Compile the program with -g to see its lines."
              : "No file matches. Clear the search."
          }
          render={({ file, value }) => (
            <>
              <span class="line">
                <strong class="mono cut" title={file.path}>
                  {shortPath(file.path)}
                </strong>
                <FindingMark findings={run.findings.filter((finding) => linesIn(finding, file.id).length > 0)} />
                <span class="spring" />
                <Quantity value={value} unit={time ? "time" : route.unit} />
              </span>
              <span class="line muted">
                <span class="cut">{condition(file)}</span>
                <span class="spring" />
                <Bar share={value / most} />
              </span>
            </>
          )}
        />
      </nav>
      {file === undefined ? (
        <div class="main empty">
          {chosen === null ? "Select a file." : "This run has no such file. Select one from the list."}
        </div>
      ) : (
        <FileDetail key={file.id} file={file} />
      )}
    </div>
  );
}

function FileDetail({ file }: { file: SourceFile }) {
  const { route } = useShared();
  const asked = useAnswer<FileDetail>(address(`file/${file.id}`));
  const line = asked.value?.lines.find((one) => one.line === route.line) ?? null;
  return (
    <>
      <div class="main">
        <header class="title">
          <h2 class="mono cut" title={file.path}>
            {file.path}
          </h2>
          {condition(file) !== "" && <span class="warning">▲ {condition(file)}</span>}
        </header>
        <Answered asked={asked}>{(answer) => <Source file={file.id} answer={answer} />}</Answered>
      </div>
      <LineDetails file={file.id} line={route.line} known={line} />
    </>
  );
}
