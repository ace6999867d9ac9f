/** Lanes of events over time: calls one by one or by bins, waits, messages, collectives. */

import type { Coarse, EventRow, EventsDetail, Slice } from "../api/types";
import type { Box } from "./matrix";
import type { Painter } from "./painter";
import { type Palette, seriesColour } from "./palette";

/** Part of the time, in nanoseconds. */
export type Span = readonly [from: number, to: number];

/** Colours of the classes of calls, in the order of the answer's, by their numbers among series. */
const CLASS_COLOURS = [0, 2, 4, 3, 6, 7];
/** Of what the program did not do itself. */
const OWN_COLOUR = "#a8896c";
/** Of waiting for messages and in collectives. */
const WAIT_COLOURS = [5, 1];

export function classColour(number: number, palette: Palette): string {
  const series = CLASS_COLOURS[number];
  return series === undefined ? OWN_COLOUR : seriesColour(series, palette);
}

/** `wait` is 1 for a message, 2 in a collective. */
export function waitColour(wait: number, palette: Palette): string {
  return seriesColour(WAIT_COLOURS[wait - 1] ?? 5, palette);
}

/** Where lanes and times are drawn. */
export interface Field {
  box: Box;
  span: Span;
  /** First and last lane. */
  lanes: readonly [number, number];
}

export function xOf(field: Field, time: number): number {
  const [from, to] = field.span;
  return field.box.x + ((time - from) / Math.max(1, to - from)) * field.box.width;
}

export function timeAt(field: Field, x: number): number {
  const [from, to] = field.span;
  return from + ((x - field.box.x) / field.box.width) * (to - from);
}

/** Height of a lane. */
export function laneHeight(field: Field): number {
  return field.box.height / (field.lanes[1] - field.lanes[0] + 1);
}

/** Top and height of a row: of all of its lanes. */
export function rowBounds(field: Field, row: Pick<EventRow, "lanes">): { y: number; height: number } {
  const one = laneHeight(field);
  return { y: field.box.y + (row.lanes[0] - field.lanes[0]) * one, height: (row.lanes[1] - row.lanes[0] + 1) * one };
}

/** When bins of an answer begin. */
export function binTime(answer: Pick<EventsDetail, "from" | "to" | "bins">, bin: number): number {
  return answer.from + ((answer.to - answer.from) * bin) / answer.bins;
}

/** Beginning and end of what stands for calls by bin, in whole nanoseconds. */
export function coarseSpan(answer: Pick<EventsDetail, "from" | "to" | "bins">, coarse: Coarse): [number, number] {
  return [Math.floor(binTime(answer, coarse[0])), Math.ceil(binTime(answer, coarse[0] + coarse[1]))];
}

/** What can be selected in a row: calls, or bins with several of them, in the order of time. */
export type Item =
  | { begin: number; end: number; slice: Slice; coarse: null }
  | { begin: number; end: number; slice: null; coarse: Coarse };

export function itemsOf(answer: EventsDetail, row: EventRow): Item[] {
  const slices = row.slices.map((slice): Item => ({ begin: slice[0], end: slice[1], slice, coarse: null }));
  const coarse = row.coarse.map((coarse): Item => {
    const [begin, end] = coarseSpan(answer, coarse);
    return { begin, end, slice: null, coarse };
  });
  return [...slices, ...coarse].sort((a, b) => a.begin - b.begin || a.end - b.end);
}

/** What is at a moment in a row: a call rather than bins, the shortest of several. */
export function itemAt(answer: EventsDetail, row: EventRow, time: number, slack: number): Item | null {
  let best: Item | null = null;
  for (const item of itemsOf(answer, row)) {
    if (time < item.begin - slack || time > item.end + slack) continue;
    const is = item.slice !== null;
    const was = best !== null && best.slice !== null;
    if (best === null || (is && !was) || (is === was && item.end - item.begin < best.end - best.begin)) best = item;
  }
  return best;
}

/** Space between lanes, where there is room. */
const GAP = 1;
/** Height that a name needs, and about what each of its letters takes. */
const TEXT = 13;
const LETTER = 7.2;
/** Height of regions above the calls of a lane. */
const REGION = 4;
/** Length of a collective's band that is worth its line. */
const MIN_BAND = 12;

/** Something at a moment in a lane: `isWorst` is filled, others are outlines. */
export interface Glyph {
  lane: number;
  time: number;
  isWorst: boolean;
  isSelected: boolean;
}

/** Half the width of a glyph. */
const GLYPH = 6;

/** The row of a lane; rows are in the order of their lanes, and all but the last have as many. */
function rowOf(rows: readonly EventRow[], lane: number): EventRow | undefined {
  const first = rows[0];
  if (first === undefined) return undefined;
  const row = rows[Math.floor((lane - first.lanes[0]) / (first.lanes[1] - first.lanes[0] + 1))];
  return row !== undefined && lane <= row.lanes[1] ? row : undefined;
}

/** Where a glyph is drawn: its middle; null if it is out of sight. */
function glyphAt(
  rows: readonly EventRow[],
  glyph: Pick<Glyph, "lane" | "time">,
  field: Field,
): [number, number] | null {
  const [x, { box }] = [xOf(field, glyph.time), field];
  if (x < box.x || x > box.x + box.width) return null;
  const row = rowOf(rows, glyph.lane);
  if (row === undefined) return null;
  const { y, height } = rowBounds(field, row);
  const middle = y + Math.min(height / 2, GLYPH + 2);
  return middle < box.y || middle > box.y + box.height ? null : [x, middle];
}

/** Triangles that stand on their moment; of those that nothing tells apart, the first. */
export function drawGlyphs(
  painter: Painter,
  rows: readonly EventRow[],
  glyphs: readonly Glyph[],
  field: Field,
  palette: Palette,
): void {
  const last = new Map<number, number>();
  for (const glyph of glyphs) {
    const at = glyphAt(rows, glyph, field);
    if (at === null) continue;
    const [x, y] = at;
    if (!glyph.isSelected && x - (last.get(y) ?? -Infinity) < 1) continue;
    last.set(y, x);
    const size = glyph.isSelected ? GLYPH + 2 : GLYPH;
    const path = `M${x} ${y - size}L${x + size} ${y + size}H${x - size}z`;
    painter.path(path, { stroke: palette.surface, width: 4 });
    painter.path(path, {
      fill: glyph.isWorst ? palette.warning : palette.surface,
      stroke: palette.warning,
      width: 1.5,
    });
  }
}

/** The glyph at a point, the nearest of several. */
export function nearestGlyph<T extends Pick<Glyph, "lane" | "time">>(
  rows: readonly EventRow[],
  glyphs: readonly T[],
  field: Field,
  x: number,
  y: number,
): T | null {
  let best: [distance: number, glyph: T] | null = null;
  for (const glyph of glyphs) {
    const at = glyphAt(rows, glyph, field);
    const distance = at === null ? Infinity : Math.hypot(at[0] - x, at[1] - y);
    if (distance <= GLYPH + 3 && (best === null || distance < best[0])) best = [distance, glyph];
  }
  return best === null ? null : best[1];
}

export function drawLanes(painter: Painter, answer: EventsDetail, field: Field, palette: Palette): void {
  const { box } = field;
  painter.clip(box.x, box.y, box.width, box.height, () => {
    drawMeetings(painter, answer, field, palette);
    for (const row of answer.rows) drawRow(painter, answer, row, field, palette);
    drawMessages(painter, answer, field, palette);
  });
}

/** Height of the critical path's band at the bottom of its lanes. */
const BAND = 4;
/** Parts of it between which lines are worth drawing. */
const MAX_CHANGES = 1000;

/** Marks the critical path: a band below it, lines where it changes the lane, and what is not on
 * it stands back. */
export function drawPath(painter: Painter, answer: EventsDetail, field: Field, palette: Palette): void {
  const { box } = field;
  const clamp = (time: number) => Math.min(box.x + box.width, Math.max(box.x, xOf(field, time)));
  let [others, band, changes] = ["", "", ""];
  const rect = (x: number, y: number, width: number, height: number) =>
    `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
  const of = new Map<number, [begin: number, end: number][]>();
  for (const [row, begin, end] of answer.path) {
    const known = of.get(row);
    if (known === undefined) of.set(row, [[begin, end]]);
    else known.push([begin, end]);
  }
  answer.rows.forEach((row, number) => {
    const { y, height } = rowBounds(field, row);
    let from = box.x;
    for (const [begin, end] of of.get(number) ?? []) {
      const [x, to] = [clamp(begin), clamp(end)];
      if (x > from) others += rect(from, y, x - from, height);
      from = Math.max(from, to);
      const high = Math.min(BAND, Math.max(2, height));
      band += rect(x, y + height - high, Math.max(1.5, to - x), high);
    }
    if (from < box.x + box.width) others += rect(from, y, box.x + box.width - from, height);
  });
  answer.path.slice(0, -1).forEach(([row, , end], at) => {
    const [next, begin] = answer.path[at + 1]!;
    const [here, there] = [answer.rows[row], answer.rows[next]];
    // Parts that are too short to be seen may lie between others.
    if (answer.path.length > MAX_CHANGES || begin !== end || here === undefined || there === undefined) return;
    const bottom = (of: EventRow) => rowBounds(field, of).y + rowBounds(field, of).height - BAND / 2;
    const x = xOf(field, end);
    if (x >= box.x && x <= box.x + box.width) changes += `M${x.toFixed(1)} ${bottom(here)}V${bottom(there)}`;
  });
  painter.clip(box.x, box.y, box.width, box.height, () => {
    if (others !== "") painter.path(others, { fill: palette.panel, opacity: 0.6 });
    if (changes !== "") painter.path(changes, { stroke: palette.text, width: 1.5 });
    if (band !== "") painter.path(band, { fill: palette.text });
  });
}

function drawRow(painter: Painter, answer: EventsDetail, row: EventRow, field: Field, palette: Palette): void {
  const { box } = field;
  const bounds = rowBounds(field, row);
  if (bounds.y + bounds.height < box.y || bounds.y > box.y + box.height) return;
  const gap = bounds.height > 4 ? GAP : 0;
  const strip = row.regions.length > 0 && bounds.height >= 4 * REGION ? REGION : 0;
  const [y, height] = [bounds.y + gap + strip, Math.max(1, bounds.height - 2 * gap - strip)];
  const left = (time: number) => Math.max(box.x - 2, xOf(field, time));
  const right = (time: number) => Math.min(box.x + box.width + 2, xOf(field, time));
  if (strip > 0) {
    for (const [begin, end, name] of row.regions) {
      const [from, to] = [left(begin), right(end)];
      if (to > from)
        painter.rect(from, bounds.y + gap, Math.max(1, to - from - 1), strip - 1, seriesColour(name, palette));
    }
  }
  for (const coarse of row.coarse) {
    const [bin, bins, of, busy, waiting, wait, , folded] = coarse;
    const from = left(binTime(answer, bin));
    const width = Math.max(1, right(binTime(answer, bin + bins)) - from);
    if (width <= 0 || from > box.x + box.width) continue;
    const high = Math.max(Math.min(height, 2), (height * busy) / 1000);
    painter.rect(from, y + height - high, width, high, classColour(of, palette));
    const waits = Math.min(high, (height * waiting) / 1000);
    if (waits > 0) painter.rect(from, y + height - waits, width, waits, waitColour(wait, palette));
    if (folded > 0) painter.path(`M${from} ${y + 0.5}h${width}`, { stroke: palette.muted, dash: [2, 3] });
  }
  let hatch = "";
  const names: [x: number, text: string][] = [];
  for (const [begin, end, of, name, waits, wait] of row.slices) {
    const [from, to] = [left(begin), right(end)];
    if (to < from || from > box.x + box.width) continue;
    const width = Math.max(1, to - from);
    painter.rect(from, y, width, height, classColour(of, palette));
    if (waits > 0) {
      const until = Math.min(to, Math.max(from + 1, right(begin + waits)));
      painter.rect(from, y, until - from, height, waitColour(wait, palette));
      // Told apart without colours, too.
      if (height >= 6) for (let x = from + 4; x < until - 1; x += 8) hatch += `M${x.toFixed(1)} ${y}v${height}`;
    }
    const text = answer.names[name] ?? "";
    if (height >= TEXT && width > text.length * LETTER + 6) {
      names.push([Math.max(from, box.x) + 4, text]);
    }
  }
  if (hatch !== "") painter.path(hatch, { stroke: palette.surface, opacity: palette.strong ? 1 : 0.4 });
  for (const [x, text] of names) painter.text(x, y + height / 2, text, { fill: "#10151b", weight: 600 });
}

/** Collectives from when the first enters until the last leaves; the line is where the last one
 * enters. */
function drawMeetings(painter: Painter, answer: EventsDetail, field: Field, palette: Palette): void {
  let lines = "";
  for (const meeting of answer.meetings) {
    const [from, met, to] = [xOf(field, meeting.begin), xOf(field, meeting.met), xOf(field, meeting.end)];
    if (to - from < MIN_BAND) continue;
    for (const [first, last] of meeting.rows) {
      const [top, bottom] = [answer.rows[first], answer.rows[last]];
      if (top === undefined || bottom === undefined) continue;
      const { y } = rowBounds(field, top);
      const end = rowBounds(field, bottom);
      const high = end.y + end.height - y;
      painter.path(`M${from} ${y}H${to}v${high}H${from}z`, {
        fill: palette.muted,
        opacity: palette.strong ? 0.25 : 0.1,
      });
      lines += `M${met} ${y}v${high}`;
    }
  }
  if (lines !== "") painter.path(lines, { stroke: palette.muted, dash: [3, 3] });
}

function drawMessages(painter: Painter, answer: EventsDetail, field: Field, palette: Palette): void {
  // Some of too many would only hide what is below, and show nothing of the rest.
  if (answer.more_messages > 0) return;
  const head = Math.min(7, Math.max(3, laneHeight(field) / 3));
  let lines = "";
  let heads = "";
  for (const message of answer.messages) {
    const [source, target] = [answer.rows[message.source], answer.rows[message.target]];
    if (source === undefined || target === undefined) continue;
    const [from, to] = [rowBounds(field, source), rowBounds(field, target)];
    const [x0, x1] = [xOf(field, message.begin), xOf(field, message.end)];
    const [y0, y1] = [from.y + from.height / 2, to.y + to.height / 2];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 4) continue;
    lines += `M${x0.toFixed(1)} ${y0.toFixed(1)}L${x1.toFixed(1)} ${y1.toFixed(1)}`;
    const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
    const [bx, by] = [x1 - head * dx, y1 - head * dy];
    heads +=
      `M${x1.toFixed(1)} ${y1.toFixed(1)}L${(bx - head * 0.45 * dy).toFixed(1)} ${(by + head * 0.45 * dx).toFixed(1)}` +
      `L${(bx + head * 0.45 * dy).toFixed(1)} ${(by - head * 0.45 * dx).toFixed(1)}z`;
  }
  if (lines !== "")
    painter.path(lines, {
      stroke: palette.text,
      opacity: palette.strong ? 1 : answer.messages.length > 100 ? 0.35 : 0.7,
    });
  if (heads !== "") painter.path(heads, { fill: palette.text });
}
