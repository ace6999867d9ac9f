/** An object at one place as rows and columns of elements, and planes of them. */

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { DataObject, ObjectDetail } from "../../api/types";
import { drawLegend, LEGEND_WIDTH } from "../../draw/legend";
import type { Box } from "../../draw/matrix";
import type { Raster } from "../../draw/painter";
import { heatTable, type Palette, pixel } from "../../draw/palette";
import type { Draw } from "../../draw/save";
import { type AmountScale, amountScale } from "../../draw/scale";
import { accessorsAt, extentsOf, type Plane, planeOf, touches } from "../../draw/strip";
import { fileLine, integer, objectName } from "../../format";
import { useShared } from "../../state/context";
import { Figure, type Size, Tooltip, within } from "../../ui/figure";
import { arrow, moved } from "../../ui/keys";
import { shapeOf } from "./accesses";

const LEFT = 64;
const TOP = 28;

/** Elements as at most so many pixels: where several share one, the most touched shows. */
function rasterOf(values: Float64Array, plane: Plane, scale: AmountScale, palette: Palette, pixels: Size): Raster {
  const table = heatTable(palette);
  const none = pixel(palette.panel);
  const side = (elements: number, most: number) => Math.max(1, Math.min(elements, Math.floor(most)));
  const [width, height] = [side(plane.cols, pixels.width), side(plane.rows, pixels.height)];
  const most = new Float64Array(width * height);
  for (let row = 0; row < plane.rows; row += 1) {
    const base = Math.floor((row * height) / plane.rows) * width;
    for (let col = 0; col < plane.cols; col += 1) {
      const at = base + Math.floor((col * width) / plane.cols);
      most[at] = Math.max(most[at]!, values[row * plane.cols + col]!);
    }
  }
  return {
    width,
    height,
    pixels: Uint32Array.from(most, (amount) => (amount > 0 ? table[Math.round(scale.share(amount) * 255)]! : none)),
  };
}

/** Elements are square, as far as that leaves something to see. */
function boxOf(plane: Plane, { width, height }: Size): Box {
  const [wide, high] = [Math.max(20, width - LEFT - LEGEND_WIDTH - 24), Math.max(20, height - TOP - 12)];
  const side = Math.min(wide / plane.cols, high / plane.rows);
  const atLeast = 24;
  return {
    x: LEFT,
    y: TOP,
    width: Math.min(wide, Math.max(atLeast, side * plane.cols)),
    height: Math.min(high, Math.max(atLeast, side * plane.rows)),
  };
}

function drawing(values: Float64Array, plane: Plane, scale: AmountScale, palette: Palette): Draw {
  return (painter, width, height) => {
    const box = boxOf(plane, { width, height });
    const pixels = { width: box.width * painter.density, height: box.height * painter.density };
    const raster = rasterOf(values, plane, scale, palette, pixels);
    painter.raster(box.x, box.y, box.width, box.height, raster);
    painter.path(`M${box.x - 0.5} ${box.y - 0.5}h${box.width + 1}v${box.height + 1}h${-box.width - 1}z`, {
      stroke: palette.border,
    });
    const edge = (x: number, y: number, text: string, anchor: "start" | "middle" | "end") =>
      painter.text(x, y, text, { fill: palette.muted, anchor });
    edge(box.x, box.y - 10, "0", "start");
    edge(box.x + box.width, box.y - 10, integer(plane.cols - 1), "end");
    edge(box.x - 6, box.y + 6, "0", "end");
    if (box.height > 30) edge(box.x - 6, box.y + box.height - 6, integer(plane.rows - 1), "end");
    drawLegend(
      painter,
      scale,
      "count",
      { x: width - LEGEND_WIDTH, y: TOP + 6, width: 12, height: Math.min(200, height - TOP - 24) },
      palette,
    );
  };
}

export function Elements({ object, answer }: { object: DataObject; answer: ObjectDetail }) {
  const { run, route, filter, go } = useShared();
  const at = answer.places.find((place) => place.place === route.place) ?? answer.places[0]!;
  const element = route.element || answer.element || 1;
  const bytes = at.bytes || object.bytes;
  const shape = shapeOf(route.shape, answer, element, bytes);
  const planes = shape.length === 3 ? shape[0]! : 1;
  const extents = useMemo(() => extentsOf(at.accessors, route.access, filter), [at, route.access, filter]);
  const plane = planeOf(shape, element, route.plane);
  const missing = shape.reduce((product, size) => product * size, element) - bytes;
  return (
    <>
      <div class="toolbar">
        <label>
          Place{" "}
          <select value={at.place} onChange={(event) => go({ place: Number(event.currentTarget.value) })}>
            {answer.places.map(({ place }) => (
              <option key={place} value={place}>
                {run.places[place]?.name}
              </option>
            ))}
          </select>
        </label>
        {planes > 1 && (
          <label>
            Plane {route.plane} of {planes}{" "}
            <input
              type="range"
              min={0}
              max={planes - 1}
              value={route.plane}
              onInput={(event) => go({ plane: Number(event.currentTarget.value) }, "replace")}
            />
          </label>
        )}
        {missing !== 0 && bytes > 0 && (
          <span class="muted">
            the shape takes {integer(Math.abs(missing))} bytes {missing > 0 ? "more" : "less"} than the object has
          </span>
        )}
      </div>
      {plane === null ? (
        <div class="empty" role="alert">
          A plane of this shape has too many elements to lay out. Choose a larger element, or three dimensions.
        </div>
      ) : (
        <PlaneFigure
          key={at.place}
          title={`${objectName(object)} at ${run.places[at.place]?.name}, ${shape.join(" × ")}`}
          plane={plane}
          extents={extents}
          describe={(from, to) =>
            accessorsAt(at.accessors, from, to)
              .filter((one) => filter[one.kind] && (route.access === "all" || one.direction === route.access))
              .map((one) => {
                const line = one.file === null ? "" : `, ${fileLine(run.files[one.file]?.path ?? "", one.line)}`;
                const other = `${one.direction === "read" ? "to" : "from"} ${run.places[one.place]?.name}`;
                return `${one.direction} by ${one.call} ${other}${line}: ${integer(one.count)} ×`;
              })
          }
        />
      )}
    </>
  );
}

interface PlaneProps {
  title: string;
  plane: Plane;
  extents: ReturnType<typeof extentsOf>;
  /** Who touched the bytes, a line each. */
  describe: (from: number, to: number) => string[];
}

function PlaneFigure({ title, plane, extents, describe }: PlaneProps) {
  const { palette } = useShared();
  const { rows, cols, from, element } = plane;
  const values = useMemo(() => touches(extents, from, element, rows * cols), [extents, from, element, rows, cols]);
  const scale = useMemo(() => amountScale(values, "log"), [values]);
  const draw = useMemo(() => drawing(values, plane, scale, palette), [values, scale, palette, rows, cols]);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [point, setPoint] = useState<{ row: number; col: number } | null>(null);
  const box = boxOf(plane, size);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const far = event.shiftKey ? 16 : 1;
    const way = arrow(event.key);
    if (event.key === "Escape") setPoint(null);
    else if (way !== null) {
      const next = (at: { row: number; col: number }) => ({
        row: moved(at.row, far * way[0], rows),
        col: moved(at.col, far * way[1], cols),
      });
      setPoint(point === null ? { row: 0, col: 0 } : next(point));
    } else return;
    event.preventDefault();
  };
  const text = point === null ? [] : lines(plane, point, values, describe);
  return (
    <Figure
      title={title}
      description="Rows and columns of elements; colour is how often an element was touched. Arrow keys move from element to element, with Shift by sixteen."
      draw={draw}
      onSize={setSize}
      onPointerMove={(event) => {
        const { x, y } = within(event);
        const row = Math.floor(((y - box.y) / box.height) * rows);
        const col = Math.floor(((x - box.x) / box.width) * cols);
        setPoint(row < 0 || col < 0 || row >= rows || col >= cols ? null : { row, col });
      }}
      onPointerLeave={() => setPoint(null)}
      onKeyDown={onKeyDown}
    >
      {point !== null && (
        <>
          <div
            class="cell-hovered"
            style={{
              left: `${box.x + (point.col / cols) * box.width}px`,
              top: `${box.y + (point.row / rows) * box.height}px`,
              width: `${Math.max(3, box.width / cols)}px`,
              height: `${Math.max(3, box.height / rows)}px`,
            }}
          />
          <Tooltip
            x={box.x + ((point.col + 0.5) / cols) * box.width}
            y={box.y + ((point.row + 0.5) / rows) * box.height}
            size={size}
          >
            <strong>{text[0]}</strong>
            {text.slice(1).map((line) => (
              <div key={line}>{line}</div>
            ))}
          </Tooltip>
        </>
      )}
      <div class="hidden" aria-live="polite">
        {text.join(". ")}
      </div>
    </Figure>
  );
}

function lines(
  plane: Plane,
  { row, col }: { row: number; col: number },
  values: Float64Array,
  describe: PlaneProps["describe"],
): string[] {
  const index = row * plane.cols + col;
  const from = plane.from + index * plane.element;
  const times = values[index] ?? 0;
  return [
    `row ${integer(row)}, column ${integer(col)}: offset ${integer(from)}`,
    times === 0 ? "never touched" : `touched ${integer(times)} ×`,
    ...describe(from, from + plane.element).slice(0, 5),
  ];
}
