/** Long lists of which only what is in sight exists. */

import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { NOT_HELD } from "../api/embedded";
import { useSize } from "./figure";

/** Rows beyond the edges, so that scrolling shows no gaps. */
const SPARE = 8;

/** Which of `count` rows are in sight, and how to bring one there; `head` pixels at the top are
 * covered. */
export function useWindow(count: number, rowHeight: number, head = 0) {
  const [scroller, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const onScroll = useCallback((event: Event) => setTop((event.currentTarget as HTMLElement).scrollTop), []);
  // A list that became shorter has been scrolled back by the browser, which tells nobody.
  useLayoutEffect(() => setTop(scroller.current?.scrollTop ?? 0), [count, scroller]);
  const from = Math.max(0, Math.min(Math.floor(top / rowHeight) - SPARE, count - 1));
  const to = Math.min(count, Math.ceil((top + size.height) / rowHeight) + SPARE);
  const reveal = useCallback(
    (row: number, where: "nearest" | "center" = "nearest") => {
      const element = scroller.current;
      if (element === null || row < 0) return;
      const at = row * rowHeight;
      const room = element.clientHeight - head;
      if (at >= element.scrollTop && at + rowHeight <= element.scrollTop + room) return;
      if (where === "center") element.scrollTop = at - room / 2 + rowHeight / 2;
      else element.scrollTop = at < element.scrollTop ? at : at + rowHeight - room;
    },
    [rowHeight, head, scroller],
  );
  return {
    scroller,
    onScroll,
    from,
    to,
    reveal,
    height: size.height,
    perPage: Math.max(1, Math.floor(size.height / rowHeight) - 1),
  };
}

/** Where a key moves a selection in a list of `count`, or null. */
export function stepOf(key: string, at: number, count: number, page: number): number | null {
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  };
  const to = steps[key];
  return to === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, to));
}

export interface ListProps<T> {
  label: string;
  items: readonly T[];
  rowHeight: number;
  keyOf: (item: T) => number | string;
  selected: number | string | null;
  onSelect: (item: T) => void;
  render: (item: T) => ComponentChildren;
  empty: ComponentChildren;
  /** Whether there is something to show of it. */
  holds?: (item: T) => boolean;
}

let lists = 0;

/** A list with one selected item, which arrow keys move. */
export function VirtualList<T>({
  label,
  items,
  rowHeight,
  keyOf,
  selected,
  onSelect,
  render,
  empty,
  holds = () => true,
}: ListProps<T>) {
  const { scroller, onScroll, from, to, reveal, height, perPage } = useWindow(items.length, rowHeight);
  const [id] = useState(() => `list${(lists += 1)}`);
  const at = items.findIndex((item) => keyOf(item) === selected);
  const shown = useRef<number>(-2);
  useEffect(() => {
    if (height === 0 || at === shown.current) return;
    reveal(at, shown.current === -2 ? "center" : "nearest");
    shown.current = at;
  }, [at, height, reveal]);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const next = stepOf(event.key, at, items.length, perPage);
    const item = next === null ? undefined : items[next];
    if (item === undefined) return;
    event.preventDefault();
    if (holds(item)) onSelect(item);
  };
  if (items.length === 0) return <div class="empty">{empty}</div>;
  return (
    <div
      class="list"
      ref={scroller}
      onScroll={onScroll}
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={at >= from && at < to ? `${id}-${at}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="runway" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(from, to).map((item, index) => {
          const row = from + index;
          return (
            <div
              key={keyOf(item)}
              id={`${id}-${row}`}
              role="option"
              aria-selected={row === at}
              aria-posinset={row + 1}
              aria-setsize={items.length}
              aria-disabled={!holds(item)}
              title={holds(item) ? undefined : NOT_HELD}
              class={holds(item) ? "item" : "item muted"}
              style={{ top: `${row * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => holds(item) && onSelect(item)}
            >
              {render(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
