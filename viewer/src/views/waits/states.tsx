/** Wait states: which of them count, as buttons above the view. */

import { useMemo } from "preact/hooks";
import type { StateTotal, WaitState } from "../../api/types";
import { useShared } from "../../state/context";
import { Quantity } from "../../ui/parts";

/** Which states count, by their position in the run's. */
export type StateFilter = readonly boolean[];

const NONE: readonly WaitState[] = [];

/** The states of the run, and which of them count. */
export function useStates(): { states: readonly WaitState[]; filter: StateFilter } {
  const { run, route } = useShared();
  const states = run.waiting?.states ?? NONE;
  const filter = useMemo(
    () => states.map(({ name }) => route.states.length === 0 || route.states.includes(name)),
    [states, route.states],
  );
  return { states, filter };
}

/** How often, and how many seconds, of the states that count. */
export function waited(of: readonly StateTotal[], filter: StateFilter): { count: number; seconds: number } {
  let [count, seconds] = [0, 0];
  for (const [state, times, time] of of) {
    if (!filter[state]) continue;
    count += times;
    seconds += time;
  }
  return { count, seconds };
}

/** Switches states on and off. */
export function WaitStates() {
  const { go } = useShared();
  const { states, filter } = useStates();
  const toggle = (state: number) => {
    const shown = states.filter((_, at) => (at === state ? !filter[at] : filter[at])).map(({ name }) => name);
    // Nothing at all is no useful choice: the last one switched off switches all on again.
    go({ states: shown.length === states.length ? [] : shown }, "replace");
  };
  return (
    <span class="kinds" role="group" aria-label="Wait states">
      {states.map(({ name, seconds }, state) => (
        <button
          key={name}
          type="button"
          class="kind"
          aria-pressed={filter[state] ?? true}
          onClick={() => toggle(state)}
        >
          <span aria-hidden="true">{filter[state] ? "✓" : " "}</span> {name}
          <span class="muted">
            <Quantity value={seconds} unit="time" />
          </span>
        </button>
      ))}
    </span>
  );
}
