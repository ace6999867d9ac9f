/** Small parts that views are put together from. */

import type { ComponentChildren } from "preact";
import type { Asked } from "../state/context";
import { NOT_HELD } from "../api/embedded";
import { objectAddress, placeAddress, useShared } from "../state/context";
import type { Finding, Frame } from "../api/types";
import { exact, fileLine, integer, objectName, quantity, several } from "../format";
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
  /** What cannot be chosen. */
  disabled?: (value: T) => boolean;
}) {
  return (
    <div class="choice" role="radiogroup" aria-label={props.label}>
      {props.options.map(([value, text], index) => (
        <button
          key={value}
          type="button"
          role="radio"
          aria-checked={value === props.value}
          disabled={props.disabled?.(value)}
          title={props.disabled?.(value) ? NOT_HELD : undefined}
          tabIndex={value === props.value ? 0 : -1}
          onClick={() => props.onChange(value)}
          onKeyDown={(event) => {
            const step = backOrForth(event.key);
            if (step === null) return;
            event.preventDefault();
            const all = props.options.length;
            let next = (index + step + all) % all;
            while (next !== index && props.disabled?.(props.options[next]![0])) next = (next + step + all) % all;
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
  const { answers, run, go } = useShared();
  const known = object === null ? undefined : run.objects[object];
  if (object === null || known === undefined) return <span class="muted">not attributed</span>;
  const name = objectName(known);
  if (!answers.holds(objectAddress(object))) return <span title={NOT_HELD}>{name}</span>;
  return (
    <Link title={name} to={() => go({ view: "objects", object })}>
      {name}
    </Link>
  );
}

export function PlaceLink({ place }: { place: number }) {
  const { answers, run, go } = useShared();
  const name = run.places[place]?.name ?? `place ${place}`;
  if (!answers.holds(placeAddress(place))) return <span title={NOT_HELD}>{name}</span>;
  return <Link to={() => go({ view: "places", place })}>{name}</Link>;
}

/** A call path, innermost first. */
export function Stack({ frames }: { frames: readonly Frame[] }) {
  if (frames.length === 0) return <p class="muted">No call path was recorded.</p>;
  const show = (frame: Frame, index: number) => (
    <li key={index}>
      <span class="mono">{frame.function}</span>{" "}
      {frame.file !== null && <SourceLink file={frame.file} line={frame.line} />}
    </li>
  );
  return (
    <ol class="stack">
      {folded(frames).map((part, index) =>
        Array.isArray(part) ? (
          <li key={index}>
            <details>
              <summary class="muted">{several(part.length, "frame")} of the library</summary>
              <ol class="stack">{part.map(show)}</ol>
            </details>
          </li>
        ) : (
          show(part, index)
        ),
      )}
    </ol>
  );
}

/** Frames, with those of a library that follow each other as one: nobody has written them. */
export function folded(frames: readonly Frame[]): (Frame | Frame[])[] {
  const parts: (Frame | Frame[])[] = [];
  for (const frame of frames) {
    const last = parts.at(-1);
    if (!frame.library) parts.push(frame);
    else if (Array.isArray(last)) last.push(frame);
    else parts.push([frame]);
  }
  // One alone takes no more room than what would stand for it.
  return parts.map((part) => (Array.isArray(part) && part.length === 1 ? part[0]! : part));
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

/** That a list ends before everything is told. */
export function LeftOut({ count, of = "in bytes" }: { count: number; of?: string }) {
  return count > 0 ? (
    <span class="muted">
      without the {integer(count)} smallest {of}
    </span>
  ) : null;
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
      placeholder={`${label}  ( l )`}
      value={route.search}
      onInput={(event) => go({ search: event.currentTarget.value }, "replace")}
    />
  );
}
