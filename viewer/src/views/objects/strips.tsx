/** One strip of bytes per place, on shared offsets: what was touched, how often. */

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { scaleLinear } from "d3-scale";
import type { DataObject, ObjectDetail, ObjectAt } from "../../api/types";
import { drawLegend, LEGEND_WIDTH } from "../../draw/legend";
import { shortened } from "../../draw/matrix";
import { heatTable, type Palette, pixel } from "../../draw/palette";
import type { Draw } from "../../draw/save";
import { type AmountScale, amountScale, evenTicks } from "../../draw/scale";
import { accessorsAt, columnsOf, extentsOf, touches, widened } from "../../draw/strip";
import { bytes as bytesText, fileLine, integer, objectName } from "../../format";
import { useShared } from "../../state/context";
import { Figure, type Size, Tooltip, within } from "../../ui/figure";
import { arrow, moved } from "../../ui/keys";

const LEFT = 112;
const TOP = 30;
const STRIP = 22;
const GAP = 6;
/** Strips drawn at once; more are a page further. */
const PAGE = 64;
/** Pieces that strips are counted in, whatever their width on screen. */
const PIECES = 1024;
/** Pixels of the legend at least: room for its numbers. */
const LEGEND = 120;

interface Strip {
  place: ObjectAt;
  pieces: Float64Array;
}

function drawing(
  strips: readonly Strip[],
  size: number,
  scale: AmountScale,
  palette: Palette,
  nameOf: (place: number) => string,
): Draw {
  const table = heatTable(palette);
  const none = pixel(palette.panel);
  return (painter, width) => {
    const room = width - LEFT - LEGEND_WIDTH - 24;
    const offsets = scaleLinear([0, size], [0, room]);
    for (const tick of evenTicks(size, Math.max(2, room / 130), "bytes")) {
      const x = LEFT + offsets(tick);
      // The last one must not run into what stands above the legend.
      const anchor = offsets(tick) > room - 24 ? "end" : "middle";
      painter.text(x, 10, bytesText(tick), { fill: palette.muted, anchor });
      painter.path(`M${Math.round(x) + 0.5} 18v6`, { stroke: palette.border });
    }
    strips.forEach(({ place, pieces }, index) => {
      const y = TOP + index * (STRIP + GAP);
      painter.text(LEFT - 8, y + STRIP / 2, shortened(nameOf(place.place)), { fill: palette.text, anchor: "end" });
      // Beyond its end at this place the object is not there: nothing is drawn.
      const length = place.bytes > 0 ? Math.min(size, place.bytes) : size;
      const columns = widened(columnsOf(pieces, Math.floor(room * painter.density)), Math.ceil(painter.density));
      const filled = Math.max(1, Math.ceil((length / size) * columns.length));
      const pixels = Uint32Array.from(columns.subarray(0, filled), (amount) =>
        amount > 0 ? table[Math.round(scale.share(amount) * 255)]! : none,
      );
      painter.raster(LEFT, y, (filled / columns.length) * room, STRIP, { width: filled, height: 1, pixels });
    });
    const legend = {
      x: width - LEGEND_WIDTH,
      y: TOP + 4,
      width: 12,
      height: Math.max(LEGEND, Math.min(180, strips.length * (STRIP + GAP) - 16)),
    };
    painter.text(legend.x, 10, "times touched", { fill: palette.muted });
    drawLegend(painter, scale, "count", legend, palette);
  };
}

interface Point {
  strip: number;
  piece: number;
}

export function Strips({ object, answer, size }: { object: DataObject; answer: ObjectDetail; size: number }) {
  const { run, route, filter, palette, go } = useShared();
  const [page, setPage] = useState(0);
  const [point, setPoint] = useState<Point | null>(null);
  const [box, setBox] = useState<Size>({ width: 0, height: 0 });
  const nameOf = (place: number) => run.places[place]?.name ?? "";
  const strips = useMemo(
    () =>
      answer.places.slice(page * PAGE, (page + 1) * PAGE).map((place): Strip => ({
        place,
        pieces: touches(extentsOf(place.accessors, route.access, filter), 0, size / PIECES, PIECES),
      })),
    [answer, page, route.access, filter, size],
  );
  const scale = useMemo(
    () =>
      amountScale(
        strips.flatMap((strip) => [...strip.pieces]),
        "log",
      ),
    [strips],
  );
  const draw = useMemo(() => drawing(strips, size, scale, palette, nameOf), [strips, size, scale, palette]);
  const room = box.width - LEFT - LEGEND_WIDTH - 24;
  const find = (event: MouseEvent): Point | null => {
    const { x, y } = within(event);
    const strip = Math.floor((y - TOP) / (STRIP + GAP));
    const piece = Math.floor(((x - LEFT) / room) * PIECES);
    return strips[strip] === undefined || piece < 0 || piece >= PIECES ? null : { strip, piece };
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const at = point ?? { strip: 0, piece: 0 };
    const far = event.shiftKey ? 64 : 4;
    const way = arrow(event.key);
    if (event.key === "Enter" && point !== null) go({ form: "shape", place: strips[point.strip]?.place.place ?? null });
    else if (event.key === "Escape") setPoint(null);
    else if (way !== null) {
      setPoint({ strip: moved(at.strip, way[0], strips.length), piece: moved(at.piece, far * way[1], PIECES) });
    } else return;
    event.preventDefault();
  };
  const pages = Math.ceil(answer.places.length / PAGE);
  const x = point === null ? 0 : LEFT + ((point.piece + 0.5) / PIECES) * room;
  const y = point === null ? 0 : TOP + point.strip * (STRIP + GAP);
  const strip = point === null ? undefined : strips[point.strip];
  return (
    <div class="scroll">
      <Figure
        title={`Bytes of ${objectName(object)}`}
        description="One strip for each place, from the first byte to the last; colour is how often a byte was touched. Arrow keys move the point, Enter shows the place's bytes as a grid."
        height={TOP + Math.max(strips.length * (STRIP + GAP), LEGEND + 12) + 8}
        draw={draw}
        onSize={setBox}
        onPointerMove={(event) => setPoint(find(event))}
        onPointerLeave={() => setPoint(null)}
        onClick={(event) => {
          const found = find(event);
          if (found !== null) go({ form: "shape", place: strips[found.strip]!.place.place });
        }}
        onKeyDown={onKeyDown}
        controls={
          pages > 1 && (
            <span class="pager">
              <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
                ‹ Previous
              </button>
              <span>
                places {page * PAGE + 1}–{Math.min(answer.places.length, (page + 1) * PAGE)} of{" "}
                {integer(answer.places.length)}
              </span>
              <button type="button" disabled={page + 1 === pages} onClick={() => setPage(page + 1)}>
                Next ›
              </button>
            </span>
          )
        }
      >
        {point !== null && strip !== undefined && (
          <>
            <div class="cursor" style={{ left: `${x}px`, top: `${y - 2}px`, height: `${STRIP + 4}px` }} />
            <Tooltip x={x} y={y} size={box}>
              <BytesAt strip={strip} from={(point.piece * size) / PIECES} to={((point.piece + 1) * size) / PIECES} />
            </Tooltip>
          </>
        )}
      </Figure>
      <div class="hidden" aria-live="polite">
        {point !== null && strip !== undefined && (
          <BytesAt strip={strip} from={(point.piece * size) / PIECES} to={((point.piece + 1) * size) / PIECES} />
        )}
      </div>
    </div>
  );
}

/** Accessors that fit a tooltip. */
const LISTED = 5;

function BytesAt({ strip, from, to }: { strip: Strip; from: number; to: number }) {
  const { run, route, filter } = useShared();
  const first = Math.floor(from);
  const last = Math.max(first, Math.ceil(to) - 1);
  const all = accessorsAt(strip.place.accessors, first, last + 1).filter(
    (one) => filter[one.kind] && (route.access === "all" || one.direction === route.access),
  );
  return (
    <>
      <strong>
        {run.places[strip.place.place]?.name}, offset {integer(first)}
        {last > first && `–${integer(last)}`}
      </strong>
      {strip.place.address > 0 && <div class="mono muted">0x{(strip.place.address + first).toString(16)}</div>}
      {all.length === 0 && <div>never touched</div>}
      {all.slice(0, LISTED).map((one, index) => (
        <div key={index}>
          {one.direction} by {one.call} ({run.kinds[one.kind]}) {one.direction === "read" ? "to" : "from"}{" "}
          {run.places[one.place]?.name}
          {one.file !== null && `, ${fileLine(run.files[one.file]?.path ?? "", one.line)}`}: {integer(one.count)} ×
        </div>
      ))}
      {all.length > LISTED && <div class="muted">and {integer(all.length - LISTED)} more</div>}
    </>
  );
}
