/** The search over all that has a name, on top of everything. */

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address } from "../api/answers";
import { NOT_HELD } from "../api/embedded";
import type { Names } from "../api/types";
import { integer } from "../format";
import { useAnswer, useShared } from "../state/context";
import { type Entry, entriesOf, search } from "../state/search";
import { moved } from "./keys";

/** Of each subject. */
const LISTED = 6;

export function SearchBox({ onClose }: { onClose: () => void }) {
  const { answers, run, route, go } = useShared();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const query = route.find;
  const [cursor, setCursor] = useState(0);
  const question = address("names");
  const asked = useAnswer<Names>(answers.holds(question) ? question : null);
  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) element.showModal();
  }, []);
  const entries = useMemo(() => entriesOf(run, asked.value), [run, asked.value]);
  const found = useMemo(() => search(entries, query, LISTED), [entries, query]);
  const all = found.flatMap((group) => group.entries);
  const chosen = Math.min(cursor, all.length - 1);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, found]);
  const holds = (entry: Entry) => entry.needs === null || answers.holds(entry.needs);
  const open = (entry: Entry | undefined) => {
    if (entry === undefined || !holds(entry)) return;
    // Going back comes back to what was found.
    go({ ...entry.to, find: "" });
    dialog.current?.close();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: LISTED, PageUp: -LISTED };
    const step = steps[event.key];
    if (event.key === "Enter") open(all[chosen]);
    else if (step !== undefined) setCursor(moved(chosen, step, all.length));
    else return;
    event.preventDefault();
  };
  const loading = asked.state === "loading" && answers.holds(question);
  return (
    <dialog
      ref={dialog}
      class="search-box"
      aria-label="Search everything"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="search-box-inside">
        <input
          type="search"
          class="search"
          role="combobox"
          list={undefined}
          aria-label="Search everything"
          aria-expanded={all.length > 0}
          aria-controls="search-found"
          aria-autocomplete="list"
          aria-activedescendant={all.length > 0 ? `search-${chosen}` : undefined}
          placeholder="rank 3, u, halo.c:31, exchange, MPI_Allreduce, CS-BUF-01 …"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => {
            go({ find: event.currentTarget.value }, "replace");
            setCursor(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id="search-found" ref={list} class="found" role="listbox" aria-label="Found">
          {found.map(({ subject, entries, more }) => (
            <div key={subject} role="group" aria-label={subject}>
              <div class="muted head" role="presentation">
                {subject}
                {more > 0 && ` (${integer(more)} more: go on typing)`}
              </div>
              {entries.map((entry) => {
                const at = all.indexOf(entry);
                return (
                  <div
                    key={at}
                    id={`search-${at}`}
                    class="hit"
                    role="option"
                    aria-selected={at === chosen}
                    aria-disabled={!holds(entry)}
                    title={holds(entry) ? undefined : NOT_HELD}
                    onClick={() => open(entry)}
                  >
                    <strong class="cut">{entry.text}</strong>
                    <span class="muted cut">{entry.detail}</span>
                  </div>
                );
              })}
            </div>
          ))}
        </div>
        <p class="muted" role="status">
          {loading
            ? "Functions, lines and calls are being read …"
            : query.trim() === ""
              ? "Places, objects, findings, functions, calls, files and lines. Arrow keys select, Enter opens."
              : all.length === 0
                ? "Nothing has this name."
                : `${integer(found.reduce((sum, of) => sum + of.entries.length + of.more, 0))} found`}
        </p>
      </div>
    </dialog>
  );
}
