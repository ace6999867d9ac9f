/** Who touched which bytes of an object: strips, a grid of elements, or a table. */

import { useState } from "preact/hooks";
import type { Accessor, DataObject, ObjectDetail, ObjectAt } from "../../api/types";
import { parseShape } from "../../draw/strip";
import { integer } from "../../format";
import { useShared } from "../../state/context";
import { Choice, PlaceLink, Quantity, SourceLink } from "../../ui/parts";
import { type Column, DataTable } from "../../ui/table";
import { Elements } from "./elements";
import { Strips } from "./strips";

const FORMS = [
  ["figure", "Strips"],
  ["shape", "Shape"],
  ["table", "Table"],
] as const;

export function Accesses({ object, answer }: { object: DataObject; answer: ObjectDetail }) {
  const { route, go } = useShared();
  const size = Math.max(object.bytes, ...answer.places.map((place) => place.bytes), ...answer.places.map(lastByte));
  return (
    <>
      <div class="toolbar">
        <Choice label="Form" value={route.form} options={FORMS} onChange={(form) => go({ form })} />
        <Choice
          label="Access"
          value={route.access}
          options={[
            ["all", "All"],
            ["read", "Reads"],
            ["write", "Writes"],
          ]}
          onChange={(access) => go({ access })}
        />
        {route.form === "shape" && <ShapeControls answer={answer} size={size} />}
      </div>
      {answer.more > 0 && <p class="muted">The smallest {integer(answer.more)} accesses are left out.</p>}
      {answer.places.length === 0 ? (
        <div class="empty">
          Nothing is known of the bytes of this object: its traffic was sampled away, or only its total was seen.
        </div>
      ) : route.form === "table" ? (
        <AccessTable answer={answer} />
      ) : route.form === "shape" ? (
        <Elements object={object} answer={answer} />
      ) : (
        <Strips object={object} answer={answer} size={size} />
      )}
    </>
  );
}

function lastByte(place: ObjectAt): number {
  return place.accessors.reduce(
    (most, { extents }) => extents.reduce((most, [start, bytes]) => Math.max(most, start + bytes), most),
    0,
  );
}

/** The shape that is shown: the route's, else the first suggestion, else one row. */
export function shapeOf(shape: readonly number[], answer: ObjectDetail, element: number, bytes: number): number[] {
  if (shape.length > 0) return [...shape];
  return answer.shapes[0] === undefined ? [1, Math.max(1, Math.ceil(bytes / element))] : [...answer.shapes[0]];
}

function ShapeControls({ answer, size }: { answer: ObjectDetail; size: number }) {
  const { route, go } = useShared();
  const element = route.element || answer.element || 1;
  const shown = shapeOf(route.shape, answer, element, size);
  const [wrong, setWrong] = useState(false);
  const choose = (text: string) => {
    const shape = parseShape(text);
    setWrong(shape === null);
    if (shape !== null) go({ shape, plane: 0 });
  };
  return (
    <>
      <label>
        Shape{" "}
        <input
          type="text"
          class="short mono"
          key={shown.join("x")}
          defaultValue={shown.join(" × ")}
          aria-invalid={wrong}
          aria-describedby="shape-hint"
          onChange={(event) => choose(event.currentTarget.value)}
        />
      </label>
      <span id="shape-hint" class={wrong ? "wrong" : "hidden"}>
        {wrong
          ? "Give one to three sizes, such as 64 x 64, the outermost first."
          : "One to three sizes, the outermost first"}
      </span>
      {answer.shapes.slice(0, 4).map((shape) => (
        <button
          key={shape.join()}
          type="button"
          aria-pressed={shape.join() === shown.join()}
          onClick={() => choose(shape.join("x"))}
        >
          {shape.join(" × ")}
        </button>
      ))}
      <label>
        Element{" "}
        <select value={element} onChange={(event) => go({ element: Number(event.currentTarget.value) })}>
          {[...new Set([1, 2, 4, 8, 16, answer.element || 1, element])]
            .sort((a, b) => a - b)
            .map((bytes) => (
              <option key={bytes} value={bytes}>
                {bytes} B
              </option>
            ))}
        </select>
      </label>
    </>
  );
}

interface Row extends Accessor {
  at: number;
}

function AccessTable({ answer }: { answer: ObjectDetail }) {
  const { run, route, filter } = useShared();
  const rows = answer.places
    .flatMap(({ place, accessors }) => accessors.map((accessor): Row => ({ ...accessor, at: place })))
    .filter((row) => filter[row.kind] && (route.access === "all" || row.direction === route.access));
  const offsets = (row: Row) => {
    const [first, last] = [row.extents[0], row.extents.at(-1)];
    return first === undefined || last === undefined ? "" : `${integer(first[0])}–${integer(last[0] + last[1] - 1)}`;
  };
  const name = (place: number) => run.places[place]?.name ?? "";
  const columns: Column<Row>[] = [
    { title: "at", value: (row) => name(row.at), show: (row) => <PlaceLink place={row.at} /> },
    { title: "access", value: (row) => row.direction, width: "64px" },
    { title: "by / from", value: (row) => name(row.place), show: (row) => <PlaceLink place={row.place} /> },
    { title: "call", value: (row) => row.call, width: "minmax(120px, 1.4fr)" },
    {
      title: "line",
      value: (row) => (row.file === null ? "" : `${run.files[row.file]?.path}:${row.line}`),
      show: (row) => <SourceLink file={row.file} line={row.line} />,
    },
    { title: "offsets", value: offsets, width: "minmax(130px, 1.2fr)" },
    {
      title: "transfers",
      numeric: true,
      value: (row) => row.count,
      show: (row) => <Quantity value={row.count} unit="count" />,
    },
    {
      title: "bytes",
      numeric: true,
      value: (row) => row.bytes,
      show: (row) => <Quantity value={row.bytes} unit="bytes" />,
    },
  ];
  return (
    <DataTable
      fill
      title="Accesses"
      columns={columns}
      rows={rows}
      empty="No access matches. Show all accesses, or switch kinds on again."
    />
  );
}
