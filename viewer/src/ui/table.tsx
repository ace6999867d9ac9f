/** Tables: sortable, of any length, and as CSV. */

import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { saveCsv } from "../draw/save";
import { useShared } from "../state/context";
import { integer } from "../format";
import { stepOf, useWindow } from "./virtual";

const ROW = 26;
const HEAD = 28;

export interface Column<T> {
  title: string;
  /** What it is sorted by, and what CSV files hold. */
  value: (row: T) => string | number;
  /** How it is shown; else the value itself. */
  show?: (row: T) => ComponentChildren;
  /** Width as in `grid-template-columns`. */
  width?: string;
  numeric?: boolean;
}

export interface TableProps<T> {
  title: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** What activating a row does. */
  onOpen?: (row: T) => void;
  /** What is said where there are no rows. */
  empty: ComponentChildren;
  /** Takes all the room there is instead of at most some ten rows. */
  fill?: boolean;
  note?: ComponentChildren;
}

interface Order {
  column: number;
  descending: boolean;
}

function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order | null): readonly T[] {
  const column = order === null ? undefined : columns[order.column];
  if (order === null || column === undefined) return rows;
  const sign = order.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    const difference =
      typeof x === "number" && typeof y === "number"
        ? x - y
        : String(x).localeCompare(String(y), "en", { numeric: true });
    return sign * difference;
  });
}

export function DataTable<T>({ title, columns, rows, onOpen, empty, fill, note }: TableProps<T>) {
  const { run } = useShared();
  const [order, setOrder] = useState<Order | null>(null);
  const [cursor, setCursor] = useState(-1);
  const ordered = useMemo(() => sorted(rows, columns, order), [rows, columns, order]);
  const { scroller, onScroll, from, to, reveal, perPage } = useWindow(ordered.length, ROW, HEAD);
  const template = columns.map((column) => column.width ?? (column.numeric ? "96px" : "minmax(96px, 1fr)")).join(" ");
  const sort = (column: number) =>
    setOrder((before) =>
      before?.column === column
        ? { column, descending: !before.descending }
        : { column, descending: columns[column]?.numeric ?? false },
    );
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const row = ordered[cursor];
    if (event.key === "Enter" && row !== undefined) return onOpen?.(row);
    const next = stepOf(event.key, cursor, ordered.length, perPage);
    if (next === null) return;
    event.preventDefault();
    setCursor(next);
    reveal(next);
  };
  const save = () =>
    saveCsv(`${run.name}-${title}`.replaceAll(/[^\w.-]+/g, "-").toLowerCase(), [
      columns.map((column) => column.title),
      ...ordered.map((row) => columns.map((column) => column.value(row))),
    ]);
  return (
    <section class={fill ? "table fill" : "table"} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {rows.length > 0 && <span class="muted">{integer(rows.length)}</span>}
        {note}
        <span class="spring" />
        {rows.length > 0 && (
          <button type="button" class="quiet" onClick={save}>
            CSV
          </button>
        )}
      </header>
      {rows.length === 0 ? (
        <div class="empty">{empty}</div>
      ) : (
        <div
          class="rows"
          ref={scroller}
          onScroll={onScroll}
          role="grid"
          aria-label={title}
          aria-rowcount={rows.length + 1}
          tabIndex={0}
          onKeyDown={onKeyDown}
          style={fill ? undefined : { height: `${Math.min(ordered.length, 10) * ROW + HEAD}px` }}
        >
          <div class="row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
            {columns.map((column, index) => (
              <div
                key={column.title}
                role="columnheader"
                class={column.numeric ? "number" : undefined}
                aria-sort={order?.column !== index ? "none" : order.descending ? "descending" : "ascending"}
              >
                <button type="button" class="quiet" onClick={() => sort(index)}>
                  {column.title}
                  {order?.column === index ? (order.descending ? " ▾" : " ▴") : ""}
                </button>
              </div>
            ))}
          </div>
          <div class="runway" role="presentation" style={{ height: `${ordered.length * ROW}px` }}>
            {ordered.slice(from, to).map((row, index) => (
              <div
                key={from + index}
                role="row"
                aria-rowindex={from + index + 2}
                aria-selected={from + index === cursor}
                class={onOpen ? "row link" : "row"}
                style={{ gridTemplateColumns: template, top: `${(from + index) * ROW}px`, height: `${ROW}px` }}
                onClick={() => {
                  setCursor(from + index);
                  onOpen?.(row);
                }}
              >
                {columns.map((column) => (
                  <div key={column.title} role="gridcell" class={column.numeric ? "number" : undefined}>
                    {column.show?.(row) ?? column.value(row)}
                  </div>
                ))}
              </div>
            ))}
          </div>
        </div>
      )}
    </section>
  );
}
