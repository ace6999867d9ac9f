/** When what moved, and how much of the time was spent in calls; part of the time can be
 * selected. */

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { scaleLinear } from "d3-scale";
import { address } from "../api/answers";
import type { Series, TimelineDetail } from "../api/types";
import { type Palette, seriesColour } from "../draw/palette";
import type { Draw } from "../draw/save";
import { evenTicks } from "../draw/scale";
import { exact, percent, quantity, seconds } from "../format";
import { subjectOf, useAnswer, useShared } from "../state/context";
import type { Route } from "../state/route";
import type { Unit } from "../state/traffic";
import { Figure, type Size, Tooltip, within } from "../ui/figure";
import { backOrForth } from "../ui/keys";
import { Answered, Choice, OfAllKinds } from "../ui/parts";
import { Subject } from "../ui/subject";
import { type Column, DataTable } from "../ui/table";

const LEFT = 72;
const RIGHT = 20;
const TOP = 26;
const AXIS = 26;
/** Height of the time in calls, below the traffic. */
const WAITING = 90;
/** More series than colours are shown as one. */
const MAX_SERIES = 8;

interface Stack {
  label: string;
  values: number[];
}

/** What answers call all series that are too many. */
const REST = "others";

/** The largest series, and the rest as one, in the unit shown. */
export function stacksOf(answer: TimelineDetail, unit: Route["unit"], hidden: (series: Series) => boolean): Stack[] {
  const all = answer.series
    .filter((series) => !hidden(series))
    .map((series): Stack => ({ label: series.label, values: unit === "bytes" ? series.bytes : series.counts }));
  return fewest(all);
}

/** Seconds in calls, in the same way. */
export function callStacks(answer: TimelineDetail): Stack[] {
  return fewest(answer.calls.map((series): Stack => ({ label: series.label, values: series.seconds })));
}

function fewest(all: Stack[]): Stack[] {
  if (all.length <= MAX_SERIES) return all;
  const total = ({ values }: Stack) => values.reduce((sum, value) => sum + value, 0);
  // What the answer has summed up itself is the last of its series.
  const summed = all.at(-1)?.label === REST ? all.slice(-1) : [];
  const ordered = all.slice(0, all.length - summed.length).sort((a, b) => total(b) - total(a));
  const rest = [...ordered.slice(MAX_SERIES - 1), ...summed];
  const bins = rest[0]?.values.length ?? 0;
  const values = Array.from({ length: bins }, (_, bin) => rest.reduce((sum, one) => sum + (one.values[bin] ?? 0), 0));
  return [...ordered.slice(0, MAX_SERIES - 1), { label: summed.length > 0 ? REST : `${rest.length} others`, values }];
}

interface Chart {
  stacks: Stack[];
  bins: number;
  width: number;
  waiting: number[];
  /** How many ranks wait at once at most. */
  ranks: number;
  unit: Unit;
}

function drawing(chart: Chart, palette: Palette): Draw {
  const { stacks, bins, waiting, ranks } = chart;
  const totals = Array.from({ length: bins }, (_, bin) =>
    stacks.reduce((sum, { values }) => sum + (values[bin] ?? 0), 0),
  );
  return (painter, width, height) => {
    const room = width - LEFT - RIGHT;
    painter.text(LEFT, 10, perBin(chart), { fill: palette.muted });
    const bottom = height - AXIS - WAITING - 28;
    const most = totals.reduce((most, total) => Math.max(most, total), 0);
    const amounts = scaleLinear([0, chart.unit === "time" ? most || 1 : Math.max(1, most)], [bottom, TOP]);
    for (const tick of evenTicks(amounts.domain()[1]!, 5, chart.unit)) {
      const y = Math.round(amounts(tick)) + 0.5;
      painter.path(`M${LEFT} ${y}H${width - RIGHT}`, { stroke: palette.border });
      painter.text(LEFT - 8, y, quantity(tick, chart.unit), { fill: palette.muted, anchor: "end" });
    }
    const column = room / bins;
    const gap = column > 4 ? 1 : 0;
    const level = new Float64Array(bins);
    stacks.forEach(({ values }, index) => {
      let path = "";
      for (let bin = 0; bin < bins; bin += 1) {
        const value = values[bin] ?? 0;
        if (value <= 0) continue;
        const from = amounts(level[bin]!);
        level[bin] = level[bin]! + value;
        const to = amounts(level[bin]!);
        const x = LEFT + bin * column;
        path += `M${x.toFixed(2)} ${from.toFixed(2)}V${to.toFixed(2)}h${(column - gap).toFixed(2)}V${from.toFixed(2)}z`;
      }
      if (path !== "") painter.path(path, { fill: seriesColour(index, palette) });
    });
    drawWaiting(
      painter,
      { x: LEFT, y: height - AXIS - WAITING, width: room, height: WAITING },
      waiting,
      ranks * chart.width,
      palette,
    );
    const time = scaleLinear([0, bins * chart.width], [LEFT, width - RIGHT]);
    for (const tick of time.ticks(Math.max(2, room / 100))) {
      painter.text(time(tick), height - 10, seconds(tick), { fill: palette.muted, anchor: "middle" });
      painter.path(`M${Math.round(time(tick)) + 0.5} ${height - AXIS}v5`, { stroke: palette.border });
    }
  };
}

/** What amounts of the chart are: `bytes in each 16 ms`. */
export function perBin({ unit, width }: Pick<Chart, "unit" | "width">): string {
  const what = { bytes: "bytes", count: "transfers", time: "seconds in calls, of all ranks," };
  return `${what[unit]} in each ${seconds(width)}`;
}

/** An amount of one bin as a rate: `93.8 MiB/s`. */
export function rate(amount: number, { unit, width }: Pick<Chart, "unit" | "width">): string {
  if (width <= 0) return "";
  if (unit === "time") return `${Number((amount / width).toPrecision(3))} ranks on average`;
  return `${quantity(amount / width, unit)}/s`;
}

/** Time in calls, as a share of the time that all ranks have. */
function drawWaiting(
  painter: Parameters<Draw>[0],
  box: { x: number; y: number; width: number; height: number },
  waiting: number[],
  most: number,
  palette: Palette,
): void {
  painter.text(box.x, box.y - 10, "share of time in communication calls", { fill: palette.muted });
  const column = box.width / Math.max(1, waiting.length);
  const path = waiting
    .map((value, bin) => {
      const high = box.height * Math.min(1, value / most);
      return high <= 0
        ? ""
        : `M${(box.x + bin * column).toFixed(2)} ${box.y + box.height}v${(-high).toFixed(2)}h${column.toFixed(2)}v${high.toFixed(2)}z`;
    })
    .join("");
  for (const share of [0, 0.5, 1]) {
    const y = Math.round(box.y + box.height * (1 - share)) + 0.5;
    painter.path(`M${box.x} ${y}h${box.width}`, { stroke: palette.border });
    painter.text(box.x - 8, y, percent(share), { fill: palette.muted, anchor: "end" });
  }
  if (path !== "") painter.path(path, { fill: palette.muted, opacity: 0.75 });
}

/** Whether time is shown: it is not known of objects. */
function isOfTime(route: Route): boolean {
  return route.measure === "time" && route.of !== "object";
}

/** The place that the timeline is of, if it is of one. */
function placeOf(route: Route): number | null {
  return route.of === "place" ? route.place : null;
}

export function TimelineView() {
  const { answers, run, route, go } = useShared();
  const place = placeOf(route);
  const asking = (by: Route["by"]) =>
    address("timeline", { ...subjectOf(route), by: by === "kind" ? null : by, place });
  const asked = useAnswer<TimelineDetail>(asking(route.by));
  return (
    <div class="view main">
      <div class="toolbar">
        <Choice
          label="Form"
          value={route.form === "table" ? "table" : "figure"}
          options={[
            ["figure", "Chart"],
            ["table", "Table"],
          ]}
          onChange={(form) => go({ form })}
        />
        <Choice
          label="Split by"
          value={route.by}
          options={[
            ["kind", isOfTime(route) ? "Call" : "Kind"],
            ["place", isOfTime(route) ? "Place" : "Source place"],
            ["node", isOfTime(route) ? "Node" : "Source node"],
          ]}
          onChange={(by) => go({ by })}
          disabled={(by) => !answers.holds(asking(by))}
        />
        <Subject />
      </div>
      {run.timeline.bins === 0 ? (
        <div class="empty">This run was recorded without times.</div>
      ) : (
        <Answered asked={asked}>{(answer) => <Timeline answer={answer} />}</Answered>
      )}
    </div>
  );
}

function Timeline({ answer }: { answer: TimelineDetail }) {
  const { run, route, palette, filter } = useShared();
  const place = placeOf(route);
  const time = isOfTime(route);
  const chart = useMemo((): Chart => {
    const hidden = (series: Series) => route.by === "kind" && filter[run.kinds.indexOf(series.label)] === false;
    const stacks = time ? callStacks(answer) : stacksOf(answer, route.unit, hidden);
    const bins = Math.max(answer.waiting.length, ...stacks.map((stack) => stack.values.length), 1);
    const ranks = place === null ? run.places.filter((place) => place.kind === "rank").length : 1;
    return {
      stacks,
      bins,
      width: answer.width_seconds,
      waiting: answer.waiting,
      ranks: Math.max(1, ranks),
      unit: time ? "time" : route.unit,
    };
  }, [answer, route.by, route.unit, time, place, filter, run]);
  const shown = chart.stacks.some((stack) => stack.values.some((value) => value > 0));
  return (
    <>
      <ul class="legend" aria-label="Series">
        {chart.stacks.map((stack, index) => (
          <li key={stack.label}>
            <span class="swatch" style={{ background: seriesColour(index, palette) }} aria-hidden="true" />
            {stack.label}
          </li>
        ))}
      </ul>
      {route.measure === "time" && !time && <p class="muted">Time is not known by object: amounts are shown.</p>}
      {route.by !== "kind" && !time && <OfAllKinds />}
      {!shown && run.totals.length > 0 && (
        <p class="notice">Nothing moved under this filter. Switch kinds on again, or show the timeline of all.</p>
      )}
      {route.form === "table" ? <BinTable chart={chart} /> : <TimelineFigure chart={chart} />}
    </>
  );
}

/** Whether there is anything to show of parts of the time; exports hold nothing. */
function useSelectable(): boolean {
  const { answers } = useShared();
  return answers.holds(address("selection", { t0: 0, t1: 0 }));
}

function BinTable({ chart }: { chart: Chart }) {
  const { go } = useShared();
  const selectable = useSelectable();
  const rows = Array.from({ length: chart.bins }, (_, bin) => bin);
  const columns: Column<number>[] = [
    { title: "from", numeric: true, value: (bin) => bin * chart.width, show: (bin) => seconds(bin * chart.width) },
    ...chart.stacks.map((stack): Column<number> => ({
      title: stack.label,
      numeric: true,
      width: "minmax(96px, 1fr)",
      value: (bin) => stack.values[bin] ?? 0,
      show: (bin) => (
        <span title={exact(stack.values[bin] ?? 0, chart.unit)}>{quantity(stack.values[bin] ?? 0, chart.unit)}</span>
      ),
    })),
    {
      title: "in calls",
      numeric: true,
      value: (bin) => chart.waiting[bin] ?? 0,
      show: (bin) => seconds(chart.waiting[bin] ?? 0),
    },
  ];
  return (
    <DataTable
      fill
      title="Traffic over time"
      columns={columns}
      rows={rows}
      note={<span class="muted">{perBin(chart)}</span>}
      {...(selectable ? { onOpen: (bin: number) => go({ time: [bin, bin] }) } : {})}
      empty="No time was recorded."
    />
  );
}

function TimelineFigure({ chart }: { chart: Chart }) {
  const { palette, route, go } = useShared();
  const selectable = useSelectable();
  const draw = useMemo(() => drawing(chart, palette), [chart, palette]);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [cursor, setCursor] = useState<number | null>(null);
  const [selecting, setSelecting] = useState<[number, number] | null>(null);
  const start = useRef<number | null>(null);
  const column = (size.width - LEFT - RIGHT) / chart.bins;
  const binAt = (event: MouseEvent) =>
    Math.min(chart.bins - 1, Math.max(0, Math.floor((within(event).x - LEFT) / column)));
  const ordered = (a: number, b: number): [number, number] => [Math.min(a, b), Math.max(a, b)];
  const time = selecting ?? route.time;
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const step = backOrForth(event.key);
    if (step !== null) {
      const from = cursor ?? (step > 0 ? -1 : chart.bins);
      const next = Math.min(chart.bins - 1, Math.max(0, from + step));
      if (event.shiftKey && selectable) go({ time: extended(route.time, cursor ?? next, next) }, "replace");
      setCursor(next);
    } else if (event.key === "Enter" && cursor !== null && selectable) go({ time: [cursor, cursor] });
    else if (event.key === "Escape") go({ time: null });
    else return;
    event.preventDefault();
  };
  return (
    <Figure
      title="Traffic over time"
      description={`Heights are ${perBin(chart)}. Left and right arrow move between bins of time${
        selectable
          ? ", with Shift they select time for the system view, Enter selects one bin, Escape all"
          : ". No time can be selected: this export holds none of the parts"
      }. The table holds the same numbers.`}
      draw={draw}
      onSize={setSize}
      onPointerDown={(event) => {
        if (event.button !== 0 || within(event).x < LEFT || !selectable) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = binAt(event);
      }}
      onPointerMove={(event) => {
        setCursor(within(event).x < LEFT ? null : binAt(event));
        if (start.current !== null) setSelecting(ordered(start.current, binAt(event)));
      }}
      onPointerUp={(event) => {
        const from = start.current;
        start.current = null;
        setSelecting(null);
        if (from !== null) go({ time: ordered(from, binAt(event)) });
      }}
      onPointerLeave={() => setCursor(null)}
      onKeyDown={onKeyDown}
    >
      {time !== null && (
        <div
          class="brush"
          style={{
            left: `${LEFT + time[0] * column}px`,
            width: `${(time[1] - time[0] + 1) * column}px`,
            top: `${TOP}px`,
            bottom: `${AXIS}px`,
          }}
        />
      )}
      {cursor !== null && (
        <>
          <div
            class="cursor"
            style={{ left: `${LEFT + (cursor + 0.5) * column}px`, top: `${TOP}px`, bottom: `${AXIS}px` }}
          />
          <Tooltip x={LEFT + (cursor + 0.5) * column} y={40} size={size}>
            <BinText chart={chart} bin={cursor} />
          </Tooltip>
          <div class="hidden" aria-live="polite">
            <BinText chart={chart} bin={cursor} />
          </div>
        </>
      )}
    </Figure>
  );
}

/** The selection with `to` as an end, the other end as it is. */
function extended(time: [number, number] | null, from: number, to: number): [number, number] {
  const other = time === null ? from : from === time[0] ? time[1] : time[0];
  return [Math.min(other, to), Math.max(other, to)];
}

function BinText({ chart, bin }: { chart: Chart; bin: number }) {
  const share = (chart.waiting[bin] ?? 0) / (chart.ranks * chart.width);
  return (
    <>
      <strong>
        {seconds(bin * chart.width)} to {seconds((bin + 1) * chart.width)}
      </strong>
      {chart.stacks
        .filter((stack) => (stack.values[bin] ?? 0) > 0)
        .map((stack) => (
          <div key={stack.label}>
            {stack.label}: {quantity(stack.values[bin] ?? 0, chart.unit)}, {rate(stack.values[bin] ?? 0, chart)}
          </div>
        ))}
      <div>in calls: {percent(share)}</div>
    </>
  );
}
