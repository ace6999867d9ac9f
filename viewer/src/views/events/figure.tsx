/** Lanes over time: zoom from the whole run to microseconds, move, select. */

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address } from "../../api/answers";
import type { EventRow, EventsDetail } from "../../api/types";
import {
  drawGlyphs,
  drawLanes,
  drawPath,
  type Field,
  itemAt,
  itemsOf,
  type Item,
  laneHeight,
  nearestGlyph,
  rowBounds,
  timeAt,
  xOf,
} from "../../draw/lanes";
import type { Box } from "../../draw/matrix";
import type { Draw } from "../../draw/save";
import { percent, seconds, several } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Figure, type Size, Tooltip, within } from "../../ui/figure";
import { arrow, moved } from "../../ui/keys";
import { Legend, type Shown, useLaneName } from "./index";
import { momentText, nextPin, type Pin, usePins } from "./pins";
import { around, moment, movedLanes, movedTime, zoomedLanes, zoomedTime } from "./window";

const LEFT = 96;
const RIGHT = 12;
const TOP = 6;
const AXIS = 24;
/** Pixels that a row has at least: more lanes than have room share rows. */
const MIN_ROW = 5;
/** Pixels that a lane has at most. */
const MAX_ROW = 56;
/** Milliseconds without a change until the next question is asked. */
const SETTLED = 90;

/** `value` once it has not changed for a moment: zooming asks for what it arrives at. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function boxOf({ width, height }: Size, lanes: number): Box {
  const room = Math.max(20, height - TOP - AXIS);
  return { x: LEFT, y: TOP, width: Math.max(20, width - LEFT - RIGHT), height: Math.min(room, lanes * MAX_ROW) };
}

/** The answer to what is shown. */
function useEvents({ window, range, lanes }: Shown, size: Size, box: Box) {
  const isAll = range[0] === 0 && range[1] === lanes.lanes.length - 1;
  const isWhole = window[0] === 0 && window[1] === lanes.until;
  const question =
    size.width === 0
      ? null
      : address("events", {
          from: isWhole ? null : window[0],
          to: isWhole ? null : window[1],
          lanes: isAll ? null : range.join("-"),
          width: Math.max(64, Math.round(box.width)),
          rows: Math.max(1, Math.min(range[1] - range[0] + 1, Math.floor(box.height / MIN_ROW))),
        });
  const settled = useSettled(question);
  // The first answer need not wait until something settles.
  return useAnswer<EventsDetail>(settled ?? question);
}

function drawing(
  answer: EventsDetail | null,
  field: Field,
  until: number,
  name: (lane: number) => string,
  shared: ReturnType<typeof useShared>,
  pins: readonly Pin[],
): Draw {
  const { palette, run, route } = shared;
  const glyphs = pins.map(({ finding, lane, time }) => ({
    lane,
    time,
    isWorst: run.findings[finding]?.severity === "error",
    isSelected: finding === route.finding,
  }));
  return (painter, width) => {
    const { box, span } = field;
    painter.rect(box.x, box.y, box.width, box.height, palette.panel);
    const ticks = timeTicks(span, Math.max(2, box.width / 110));
    for (const tick of ticks.at) {
      const x = Math.round(xOf(field, tick)) + 0.5;
      painter.path(`M${x} ${box.y}v${box.height + 4}`, { stroke: palette.border });
      const text = moment(tick, ticks.step, until);
      const edge = x > width - 40 ? "end" : "middle";
      painter.text(x, box.y + box.height + 14, text, { fill: palette.muted, anchor: edge });
    }
    if (answer !== null) drawLanes(painter, answer, field, palette);
    if (answer !== null && route.path === "on") drawPath(painter, answer, field, palette);
    drawGlyphs(painter, answer?.rows ?? [], glyphs, field, palette);
    let free = box.y;
    const high = laneHeight(field);
    painter.clip(0, box.y - TOP, width, box.height + 2 * TOP, () => {
      const rows = answer?.rows ?? [];
      for (const row of rows) {
        const { y, height } = rowBounds(field, row);
        const middle = y + height / 2;
        if (height >= 10 && high >= 1)
          painter.path(`M${box.x} ${Math.round(y) + 0.5}h${box.width}`, { stroke: palette.border });
        if (middle < free || middle > box.y + box.height) continue;
        free = middle + 14;
        painter.text(box.x - 8, middle, shortName(row, name), { fill: palette.muted, anchor: "end" });
      }
    });
  };
}

function shortName(row: EventRow, name: (lane: number) => string): string {
  const [first, last] = row.lanes;
  const text = (lane: number) => name(lane).replace(", thread ", " t");
  const number = /\d+$/.exec(text(last));
  const whole = first === last ? text(first) : `${text(first)}–${number === null ? text(last) : number[0]}`;
  return whole.length > 15 ? `…${whole.slice(-14)}` : whole;
}

/** Round moments within a span, and how far they are apart. */
export function timeTicks([from, to]: readonly [number, number], wanted: number): { at: number[]; step: number } {
  const rough = (to - from) / wanted;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? power;
  const first = Math.ceil(from / step);
  return {
    at: Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, at) => (first + at) * step),
    step,
  };
}

interface Drag {
  x: number;
  y: number;
  window: readonly [number, number];
  range: readonly [number, number];
  brush: boolean;
  moved: boolean;
}

export function EventsFigure({ shown }: { shown: Shown }) {
  const shared = useShared();
  const { palette, route, go } = shared;
  const { lanes, window, range } = shown;
  const { until } = lanes;
  const count = lanes.lanes.length;
  const name = useLaneName(lanes);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [hovered, setHovered] = useState<{ x: number; y: number } | null>(null);
  const [brush, setBrush] = useState<Box | null>(null);
  const drag = useRef<Drag | null>(null);
  const box = useMemo(() => boxOf(size, range[1] - range[0] + 1), [size, range]);
  const asked = useEvents(shown, size, box);
  const answer = asked.value;
  const field = useMemo((): Field => ({ box, span: window, lanes: range }), [box, window, range]);
  const pins = usePins(lanes);
  const draw = useMemo(
    () => drawing(answer, field, until, name, shared, pins),
    [answer, field, until, palette, pins, route.finding, route.path],
  );

  const isWhole = (time: readonly [number, number]) => time[0] <= 0 && time[1] >= until;
  const isAll = (of: readonly [number, number]) => of[0] === 0 && of[1] === count - 1;
  const move = useCallback(
    (time: [number, number], of: [number, number], step?: "step") =>
      go({ window: isWhole(time) ? null : time, lanes: isAll(of) ? null : of }, step ? undefined : "replace"),
    [go, until, count],
  );
  const rowOf = (lane: number) => answer?.rows.find((row) => row.lanes[0] <= lane && lane <= row.lanes[1]);
  const laneAt = (y: number) =>
    Math.min(range[1], Math.max(range[0], range[0] + Math.floor((y - box.y) / laneHeight(field))));
  const inBox = (x: number, y: number) => x >= box.x && y >= box.y && x <= box.x + box.width && y <= box.y + box.height;
  const slack = ((window[1] - window[0]) / box.width) * 2;
  const pinAt = (x: number, y: number) =>
    answer === null || !inBox(x, y) ? null : nearestGlyph(answer.rows, pins, field, x, y);
  const selectPin = (pin: Pin) => {
    go({ lane: pin.lane, at: null, finding: pin.finding }, "replace");
    const half = (window[1] - window[0]) / 2;
    const isSeen = pin.time >= window[0] && pin.time <= window[1] && pin.lane >= range[0] && pin.lane <= range[1];
    if (!isSeen)
      move(movedTime(window, pin.time - window[0] - half, until), movedLanes(range, pin.lane - range[0], count));
  };
  const find = (x: number, y: number) => {
    const row = inBox(x, y) ? rowOf(laneAt(y)) : undefined;
    const item = answer === null || row === undefined ? null : itemAt(answer, row, timeAt(field, x), slack);
    return row === undefined ? null : { row, item };
  };
  const select = (lane: number, item: Item | null) =>
    go({ lane, at: item === null ? null : [item.begin, item.end], finding: null }, "replace");

  const onWheel = useCallback(
    (event: WheelEvent) => {
      const { x, y } = within(event);
      if (!inBox(x, y) || event.ctrlKey) return;
      event.preventDefault();
      const delta = event.deltaY === 0 ? event.deltaX : event.deltaY;
      const factor = Math.exp(delta * (event.deltaMode === 1 ? 0.05 : 0.002));
      if (event.shiftKey) move([...window], zoomedLanes(range, factor, laneAt(y), count));
      else move(zoomedTime(window, factor, timeAt(field, x), until), [...range]);
    },
    [field, move],
  );
  const onPointerDown = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { x, y } = within(event);
    if (event.button !== 0 || !inBox(x, y)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x, y, window, range, brush: event.shiftKey, moved: false };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { x, y } = within(event);
    const from = drag.current;
    if (from === null) return setHovered(inBox(x, y) ? { x, y } : null);
    if (!from.moved && Math.hypot(x - from.x, y - from.y) < 4) return;
    from.moved = true;
    setHovered(null);
    if (from.brush) {
      const [x1, y1] = [
        Math.min(box.x + box.width, Math.max(box.x, x)),
        Math.min(box.y + box.height, Math.max(box.y, y)),
      ];
      const [left, top] = [Math.min(from.x, x1), Math.min(from.y, y1)];
      return setBrush({ x: left, y: top, width: Math.abs(x1 - from.x), height: Math.abs(y1 - from.y) });
    }
    const perPixel = (from.window[1] - from.window[0]) / box.width;
    const rows = Math.round((from.y - y) / laneHeight(field));
    move(movedTime(from.window, (from.x - x) * perPixel, until), movedLanes(from.range, rows, count));
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const from = drag.current;
    drag.current = null;
    if (from === null) return;
    const { x, y } = within(event);
    if (brush !== null) {
      setBrush(null);
      const time: [number, number] = [
        Math.floor(timeAt(field, brush.x)),
        Math.ceil(timeAt(field, brush.x + brush.width)),
      ];
      return move(time, [laneAt(brush.y), laneAt(brush.y + brush.height - 1)], "step");
    }
    if (from.moved) return;
    const pin = pinAt(x, y);
    if (pin !== null) return selectPin(pin);
    const found = find(x, y);
    if (found !== null) select(found.row.lanes[0], found.item);
  };

  const selectedRow = route.lane === null ? undefined : rowOf(route.lane);
  /** What is selected, as it is drawn now. */
  const selectedItem = (): Item | null => {
    if (answer === null || selectedRow === undefined || route.at === null) return null;
    const [begin, end] = route.at;
    const all = itemsOf(answer, selectedRow);
    return all.find((item) => item.begin === begin && item.end === end) ?? null;
  };
  const step = (by: -1 | 1) => {
    if (answer === null) return;
    const row = selectedRow ?? answer.rows[0];
    if (row === undefined) return;
    const items = itemsOf(answer, row);
    const at = route.at ?? (by > 0 ? [window[0] - 1, window[0] - 1] : [window[1] + 1, window[1] + 1]);
    const next =
      by > 0
        ? items.find((item) => item.begin > at[0] || (item.begin === at[0] && item.end > at[1]))
        : items.findLast((item) => item.begin < at[0] || (item.begin === at[0] && item.end < at[1]));
    // Beyond what is in sight others may follow.
    if (next === undefined) return move(movedTime(window, (by * (window[1] - window[0])) / 2, until), [...range]);
    const lane = row.lanes[0];
    go({ lane, at: [next.begin, next.end], finding: null }, "replace");
    if (next.begin >= window[1] || next.end <= window[0]) {
      move(movedTime(window, next.begin - window[0] - (window[1] - window[0]) / 2, until), [...range]);
    }
  };
  const turn = (rows: number) => {
    if (answer === null) return;
    const at = selectedRow === undefined ? -1 : answer.rows.indexOf(selectedRow);
    const next = answer.rows[at < 0 ? 0 : moved(at, rows, answer.rows.length)];
    const edge = at >= 0 && next === selectedRow;
    if (edge) return move([...window], movedLanes(range, rows, count));
    if (next === undefined) return;
    const middle = route.at === null ? (window[0] + window[1]) / 2 : (route.at[0] + route.at[1]) / 2;
    select(next.lanes[0], route.at === null ? null : itemAt(answer, next, middle, slack));
  };
  const ofFinding = pins.filter((pin) => pin.finding === route.finding);
  const chosenPin = ofFinding.find((pin) => pin.lane === route.lane) ?? ofFinding[0] ?? null;
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const way = arrow(event.key);
    const focus =
      route.at !== null ? (route.at[0] + route.at[1]) / 2 : (chosenPin?.time ?? (window[0] + window[1]) / 2);
    if (way !== null && event.shiftKey) {
      move(movedTime(window, (way[1] * (window[1] - window[0])) / 4, until), movedLanes(range, way[0], count));
    } else if (way !== null && way[0] !== 0) turn(way[0]);
    else if (way !== null) step(way[1] < 0 ? -1 : 1);
    else if (event.key === "+" || event.key === "=") move(zoomedTime(window, 0.5, focus, until), [...range]);
    else if (event.key === "-") move(zoomedTime(window, 2, focus, until), [...range]);
    else if (event.key === "c") go({ path: route.path === "on" ? "off" : "on" }, "replace");
    else if (event.key === "n" || event.key === "p") {
      const by = event.key === "n" ? 1 : -1;
      const pin = nextPin(pins, by, chosenPin, by > 0 ? window[0] : window[1]);
      if (pin !== null) selectPin(pin);
    } else if (event.key === "Enter" && route.finding !== null) go({ view: "findings", finding: route.finding });
    else if (event.key === "Enter" && route.at !== null) {
      const row = selectedRow !== undefined && selectedRow.lanes[0] < selectedRow.lanes[1] ? selectedRow.lanes : range;
      move(around(route.at[0], route.at[1], until), [...row], "step");
    } else if (event.key === "Backspace" || event.key === "0") go({ window: null, lanes: null });
    else if (event.key === "Escape" && route.lane !== null) go({ lane: null, at: null, finding: null }, "replace");
    else return;
    event.preventDefault();
  };

  const hoveredPin = hovered === null ? null : pinAt(hovered.x, hovered.y);
  const hover = hovered === null ? null : find(hovered.x, hovered.y);
  const chosen = selectedItem();
  return (
    <>
      {asked.state === "failed" && (
        <p class="notice" role="alert">
          {asked.why}
        </p>
      )}
      {answer !== null && <Legend answer={answer} lanes={lanes} />}
      <Figure
        title="Events over time"
        description="A lane for each thread. Up and down arrow select a lane, left and right its events; n and p the next and previous finding; c marks the critical path; plus and minus zoom, Shift with arrows moves, Enter zooms into the event or opens the finding, Backspace shows all. The table holds the same events."
        draw={draw}
        onSize={setSize}
        onWheel={onWheel}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => (drag.current = null)}
        onPointerLeave={() => setHovered(null)}
        onDblClick={(event) => {
          const { x, y } = within(event);
          const found = find(x, y);
          if (found?.item) move(around(found.item.begin, found.item.end, until), [...range], "step");
        }}
        onKeyDown={onKeyDown}
        controls={
          <span class="muted">
            {seconds((window[1] - window[0]) / 1e9)} from {moment(window[0], (window[1] - window[0]) / 100, until)}
            {asked.state === "loading" && answer !== null && " · asking …"}
          </span>
        }
      >
        {selectedRow && <Outline field={field} row={selectedRow} at={route.at} />}
        {brush !== null && (
          <div
            class="brush"
            style={{
              left: `${brush.x}px`,
              top: `${brush.y}px`,
              width: `${brush.width}px`,
              height: `${brush.height}px`,
            }}
          />
        )}
        {hovered !== null && hover !== null && answer !== null && (
          <Tooltip x={hovered.x} y={hovered.y} size={size}>
            {hoveredPin !== null ? (
              <PinText pin={hoveredPin} shown={shown} />
            ) : (
              <ItemText answer={answer} shown={shown} row={hover.row} item={hover.item} />
            )}
          </Tooltip>
        )}
        {answer !== null && selectedRow !== undefined && (
          <div class="hidden" aria-live="polite">
            {chosenPin !== null ? (
              <PinText pin={chosenPin} shown={shown} />
            ) : (
              <ItemText answer={answer} shown={shown} row={selectedRow} item={chosen} />
            )}
          </div>
        )}
      </Figure>
    </>
  );
}

/** Around the selected event, or along the selected lane. */
function Outline({ field, row, at }: { field: Field; row: EventRow; at: readonly [number, number] | null }) {
  const { box } = field;
  const { y, height } = rowBounds(field, row);
  const clamp = (x: number) => Math.min(box.x + box.width, Math.max(box.x, x));
  const [from, to] = at === null ? [box.x, box.x + box.width] : [clamp(xOf(field, at[0])), clamp(xOf(field, at[1]))];
  if (at !== null && (xOf(field, at[1]) < box.x || xOf(field, at[0]) > box.x + box.width)) return null;
  return (
    <div
      class="cell-selected"
      style={{ left: `${from}px`, width: `${Math.max(2, to - from)}px`, top: `${y}px`, height: `${height}px` }}
    />
  );
}

/** A finding at its moment, in a few words. */
function PinText({ pin, shown }: { pin: Pin; shown: Shown }) {
  const { run } = useShared();
  const finding = run.findings[pin.finding]!;
  const name = useLaneName(shown.lanes);
  const [from, to] = shown.window;
  return (
    <>
      <strong>
        ▲ {finding.severity} {finding.code}
      </strong>
      : {finding.title}
      <div>{momentText(pin.what, name(pin.lane), moment(pin.time, (to - from) / 2000, shown.lanes.until))}</div>
    </>
  );
}

/** What is at a point, in a few words. */
function ItemText({
  answer,
  shown,
  row,
  item,
}: {
  answer: EventsDetail;
  shown: Shown;
  row: EventRow;
  item: Item | null;
}) {
  const name = useLaneName(shown.lanes);
  const { until, classes } = shown.lanes;
  const length = answer.to - answer.from;
  const lane = row.lanes[0] === row.lanes[1] ? name(row.lanes[0]) : `${name(row.lanes[0])} to ${name(row.lanes[1])}`;
  const at = (time: number) => moment(time, length / 2000, until);
  if (item === null) return <strong>{lane}</strong>;
  if (item.slice !== null) {
    const [begin, end, , call, waits] = item.slice;
    return (
      <>
        <strong>{lane}</strong>: {answer.names[call]}
        <div>
          {at(begin)}, {seconds((end - begin) / 1e9)}
          {waits > 0 && `, of these ${seconds(waits / 1e9)} waiting`}
        </div>
      </>
    );
  }
  const [, , of, busy, waiting, , calls, folded] = item.coarse;
  return (
    <>
      <strong>{lane}</strong>: {several(calls, "call")}, mostly {classes[of]}
      <div>
        {at(item.begin)} to {at(item.end)}: {percent(busy / 1000)} of the time in calls
        {waiting > 0 && `, ${percent(waiting / 1000)} waiting`}
        {folded > 0 && `; ${several(folded, "call")} folded when recorded`}
      </div>
    </>
  );
}
