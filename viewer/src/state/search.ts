/** One search over all that has a name: places, objects, files, functions, lines, calls,
 * findings. */

import type { Names, Run } from "../api/types";
import { fileLine, objectName } from "../format";
import { objectAddress, placeAddress } from "./context";
import type { Route } from "./route";

export const SUBJECTS = ["Places", "Objects", "Findings", "Functions", "Calls", "Files", "Lines"] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Something that can be found. */
export interface Entry {
  subject: Subject;
  text: string;
  /** What else is said of it, and searched. */
  detail: string;
  /** Where it is shown. */
  to: Partial<Route>;
  /** The answer that view needs, where exports may lack it. */
  needs: string | null;
}

/** All that can be found; `names` may not be known yet. */
export function entriesOf(run: Run, names: Names | null): Entry[] {
  const path = (file: number | null) => (file === null ? "" : (run.files[file]?.path ?? ""));
  const entry = (subject: Subject, text: string, detail: string, to: Partial<Route>, needs: string | null = null) => ({
    subject,
    text,
    detail,
    to,
    needs,
  });
  const code = (file: number, line: number | null): Partial<Route> => ({ view: "code", file, line });
  const withLine = new Set((names?.lines ?? []).flatMap(([, , , calls]) => calls));
  const functionOf = (at: number | null) => (at === null ? undefined : names?.functions[at]?.name);
  return [
    ...run.places.map(({ id, name, node }) =>
      entry("Places", name, run.nodes[node]?.name ?? "", { view: "places", place: id }, placeAddress(id)),
    ),
    ...run.objects.map((object) =>
      entry(
        "Objects",
        objectName(object),
        [object.memory, object.file === null ? "" : fileLine(path(object.file), object.line)]
          .filter(Boolean)
          .join(", "),
        { view: "objects", object: object.id },
        objectAddress(object.id),
      ),
    ),
    ...run.findings.map((finding, at) =>
      entry("Findings", `${finding.code} ${finding.title}`, finding.message, { view: "findings", finding: at }),
    ),
    ...(names?.functions ?? []).map(({ name, file, line }) =>
      entry("Functions", name, fileLine(path(file), line), code(file, line)),
    ),
    ...(names?.lines ?? []).flatMap(([file, line, of, calls]) =>
      calls.map((call) =>
        entry(
          "Calls",
          names!.calls[call]!,
          [fileLine(path(file), line), functionOf(of)].filter(Boolean).join(" in "),
          code(file, line),
        ),
      ),
    ),
    // Of calls without lines there is the time.
    ...(names?.calls ?? [])
      .filter((_, call) => !withLine.has(call))
      .map((call) => entry("Calls", call, "time over time", { view: "timeline", measure: "time", by: "kind" })),
    ...run.files.map(({ id, path }) => entry("Files", path.split("/").at(-1) ?? path, path, code(id, null))),
    ...(names?.lines ?? []).map(([file, line, of]) =>
      entry("Lines", fileLine(path(file), line), functionOf(of) ?? path(file), code(file, line)),
    ),
  ];
}

export interface Found {
  subject: Subject;
  entries: Entry[];
  /** How many more there are. */
  more: number;
}

/** How well an entry fits: 0 is best, null not at all. All words must be in it. */
function fit(entry: Entry, words: readonly string[]): number | null {
  const text = entry.text.toLowerCase();
  const all = `${text} ${entry.detail.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return null;
  const [first = ""] = words;
  if (text === words.join(" ")) return 0;
  if (text.startsWith(first)) return 1;
  return text.includes(first) ? 2 : 3;
}

/** What fits a query, by subject: the best `most` of each, and subjects that fit best first. */
export function search(entries: readonly Entry[], query: string, most: number): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = new Map<Subject, [fit: number, entry: Entry][]>();
  for (const entry of entries) {
    const how = fit(entry, words);
    if (how === null) continue;
    const of = found.get(entry.subject);
    if (of === undefined) found.set(entry.subject, [[how, entry]]);
    else of.push([how, entry]);
  }
  return SUBJECTS.flatMap((subject) => {
    const of = found.get(subject);
    if (of === undefined) return [];
    of.sort(([a], [b]) => a - b);
    const best = of[0]![0];
    return [
      { best, subject, entries: of.slice(0, most).map(([, entry]) => entry), more: Math.max(0, of.length - most) },
    ];
  })
    .sort((a, b) => a.best - b.best)
    .map(({ subject, entries, more }) => ({ subject, entries, more }));
}
