/** Source text with the traffic of each line; without the text, the lines that have traffic. */

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { FileDetail, FileLine, Finding } from "../../api/types";
import { quantity } from "../../format";
import { useShared } from "../../state/context";
import { linesIn } from "../../state/findings";
import { amount } from "../../state/traffic";
import { FindingMark } from "../../ui/parts";
import { stepOf, useWindow } from "../../ui/virtual";
import { type Language, languageOf, type Token, tokens } from "./tokens";

const ROW = 20;

interface Row {
  number: number;
  text: string;
  traffic: FileLine | undefined;
  findings: Finding[];
}

/** All lines of the text, or those that something is known of. */
function rowsOf(answer: FileDetail, findings: readonly Finding[], file: number): Row[] {
  const traffic = new Map(answer.lines.map((line) => [line.line, line]));
  const found = new Map<number, Finding[]>();
  for (const finding of findings) {
    for (const line of linesIn(finding, file)) found.set(line, [...(found.get(line) ?? []), finding]);
  }
  const row = (number: number, text: string): Row => ({
    number,
    text,
    traffic: traffic.get(number),
    findings: found.get(number) ?? [],
  });
  if (answer.text !== null) return answer.text.split("\n").map((text, index) => row(index + 1, text));
  const numbers = new Set([...traffic.keys(), ...found.keys()]);
  return [...numbers].sort((a, b) => a - b).map((number) => row(number, traffic.get(number)?.calls.join(", ") ?? ""));
}

export function Source({ file, answer }: { file: number; answer: FileDetail }) {
  const { run, route, filter, go } = useShared();
  const time = route.measure === "time";
  const rows = useMemo(() => rowsOf(answer, run.findings, file), [answer, run, file]);
  const values = useMemo(
    () =>
      rows.map(({ traffic }) =>
        traffic === undefined ? 0 : time ? traffic.seconds : amount(traffic.by_kind, filter, route.unit),
      ),
    [rows, filter, route.unit, time],
  );
  const most = values.reduce((most, value) => Math.max(most, value), 0) || 1;
  const language = languageOf(answer.path);
  const { scroller, onScroll, from, to, reveal, height, perPage } = useWindow(rows.length, ROW);
  const at = rows.findIndex((row) => row.number === route.line);
  const heaviest = useMemo(
    () => values.reduce((best, value, row) => (value > values[best]! ? row : best), 0),
    [values],
  );
  const shown = useRef(-1);
  useEffect(() => {
    if (height === 0) return;
    const target = at < 0 && shown.current < 0 ? heaviest : at;
    reveal(target, shown.current < 0 ? "center" : "nearest");
    shown.current = target;
  }, [at, height, heaviest, reveal]);
  const select = (row: number) => rows[row] && go({ line: rows[row].number }, "replace");
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const start = at < 0 ? heaviest - 1 : at;
    const leaps: Record<string, number> = { n: 1, p: -1 };
    const leap = leaps[event.key];
    const next = leap === undefined ? stepOf(event.key, start, rows.length, perPage) : withTraffic(rows, start, leap);
    if (next === null) return;
    event.preventDefault();
    select(next);
  };
  const states = useMemo(() => (answer.text === null ? null : openComments(rows, language)), [answer, rows, language]);
  return (
    <>
      {answer.text === null && (
        <p class="notice">{answer.why_missing ?? "The source cannot be read."} These are its lines with traffic.</p>
      )}
      <div
        class="source"
        ref={scroller}
        onScroll={onScroll}
        role="listbox"
        aria-label={`Lines of ${answer.path}. Arrow keys select a line, n and p the next and previous one with traffic.`}
        tabIndex={0}
        aria-activedescendant={at >= from && at < to ? `line-${rows[at]?.number}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div class="runway" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(from, to).map((row, index) => {
            const position = from + index;
            const value = values[position]!;
            return (
              <div
                key={row.number}
                id={`line-${row.number}`}
                role="option"
                aria-selected={position === at}
                aria-posinset={position + 1}
                aria-setsize={rows.length}
                class="codeline"
                style={{ top: `${position * ROW}px`, height: `${ROW}px` }}
                onClick={() => select(position)}
              >
                <span class="weight">
                  {value > 0 && quantity(value, time ? "time" : route.unit)}
                  <span class="track">
                    {value > 0 && <span style={{ width: `${Math.max(4, (100 * value) / most)}%` }} />}
                  </span>
                </span>
                <span class="flag">
                  <FindingMark findings={row.findings} />
                </span>
                <span class="lineno">{row.number}</span>
                <code>
                  {states === null ? row.text : tokens(row.text, language, states[position] ?? false).map(show)}
                </code>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

function show(token: Token, index: number) {
  return token.kind === "text" ? (
    token.text
  ) : (
    <span key={index} class={token.kind}>
      {token.text}
    </span>
  );
}

/** The next row with traffic or findings in a direction, or null. */
function withTraffic(rows: readonly Row[], start: number, step: number): number | null {
  for (let row = start + step; row >= 0 && row < rows.length; row += step) {
    if (rows[row]!.traffic !== undefined || rows[row]!.findings.length > 0) return row;
  }
  return null;
}

/** For each row whether it begins within a comment. */
function openComments(rows: readonly Row[], language: Language): boolean[] {
  let open = false;
  return rows.map((row) => {
    const before = open;
    open = tokens(row.text, language, open).at(-1)?.open ?? false;
    return before;
  });
}
