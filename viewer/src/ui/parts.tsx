/** Small parts that views are put together from. */

import type { ComponentChildren } from "preact";
import type { Asked } from "../state/context";
import { useShared } from "../state/context";
import type { Finding, Frame } from "../api/types";
import { exact, fileLine, objectName, quantity } from "../format";
import { backOrForth } from "./keys";
import type { Unit } from "../state/traffic";

/** An amount at a glance, exact on demand. */
export function Quantity({ value, unit }: { value: number; unit: Unit }) {
  return <span title={exact(value, unit)}>{quantity(value, unit)}</span>;
}

/** One of a few. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="radiogroup" aria-label={props.label}>
      {props.options.map(([value, text], index) => (
        <button
          key={value}
          type="button"
          role="radio"
          aria-checked={value === props.value}
          tabIndex={value === props.value ? 0 : -1}
          onClick={() => props.onChange(value)}
          onKeyDown={(event) => {
            const step = backOrForth(event.key);
            if (step === null) return;
            event.preventDefault();
            const next = (index + step + props.options.length) % props.options.length;
            props.onChange(props.options[next]![0]);
            (event.currentTarget.parentElement?.children[next] as HTMLElement | undefined)?.focus();
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** What an answer is awaited with, or why there is none. */
export function Answered<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  if (asked.state === "failed") {
    return (
      <div class="empty" role="alert">
        {asked.why}
      </div>
    );
  }
  if (asked.value === null) return <div class="empty">Loading …</div>;
  return <>{children(asked.value)}</>;
}

/** Goes somewhere else; within a row of a table it does not open the row. */
export function Link({ to, title, children }: { to: () => void; title?: string; children: ComponentChildren }) {
  return (
    <button
      type="button"
      class="link"
      title={title}
      onClick={(event) => {
        event.stopPropagation();
        to();
      }}
    >
      {children}
    </button>
  );
}

/** A place in the source, as a link to it where the file is one of the run's. */
export function SourceLink({ file, line }: { file: number | null; line: number | null }) {
  const { run, go } = useShared();
  const path = file === null ? undefined : run.files[file]?.path;
  if (path === undefined) return <span class="muted">no source</span>;
  return (
    <Link title={line === null ? path : `${path}:${line}`} to={() => go({ view: "code", file, line })}>
      {fileLine(path, line)}
    </Link>
  );
}

export function ObjectLink({ object }: { object: number | null }) {
  const { run, go } = useShared();
  const known = object === null ? undefined : run.objects[object];
  if (known === undefined) return <span class="muted">not attributed</span>;
  const name = objectName(known);
  return (
    <Link title={name} to={() => go({ view: "objects", object })}>
      {name}
    </Link>
  );
}

export function PlaceLink({ place }: { place: number }) {
  const { run, go } = useShared();
  return <Link to={() => go({ view: "places", place })}>{run.places[place]?.name ?? `place ${place}`}</Link>;
}

/** A call path, innermost first. */
export function Stack({ frames }: { frames: readonly Frame[] }) {
  if (frames.length === 0) return <p class="muted">No call path was recorded.</p>;
  return (
    <ol class="stack">
      {frames.map((frame, index) => (
        <li key={index}>
          <span class="mono">{frame.function}</span>{" "}
          {frame.file !== null && <SourceLink file={frame.file} line={frame.line} />}
        </li>
      ))}
    </ol>
  );
}

/** Marks something that findings name. */
export function FindingMark({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  const codes = [...new Set(findings.map((finding) => finding.code))].join(", ");
  return (
    <span
      class="mark"
      role="img"
      aria-label={`findings: ${codes}`}
      title={findings.map((one) => `${one.code}: ${one.title}`).join("\n")}
    >
      ▲{findings.length > 1 ? findings.length : ""}
    </span>
  );
}

/** Where amounts are not known kind by kind: that the filter does not apply to them. */
export function OfAllKinds() {
  const { filter } = useShared();
  return filter.includes(false) ? <span class="muted">of all kinds, also those switched off</span> : null;
}

/** A share as a bar behind or beside a number. */
export function Bar({ share }: { share: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%` }} />
    </span>
  );
}

/** What a list is searched for. */
export function Search({ label }: { label: string }) {
  const { route, go } = useShared();
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      value={route.search}
      onInput={(event) => go({ search: event.currentTarget.value }, "replace")}
    />
  );
}
