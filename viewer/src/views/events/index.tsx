/** Events: what each thread did when, whom it waited for, and which messages and collectives there
 * were. */

import { useMemo } from "preact/hooks";
import { address } from "../../api/answers";
import type { EventsDetail, Lanes } from "../../api/types";
import { classColour, waitColour } from "../../draw/lanes";
import { integer } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { Answered, Choice } from "../../ui/parts";
import { EventDetails } from "./details";
import { EventsFigure } from "./figure";
import { PathTables } from "./path";
import { EventTable } from "./table";
import type { Range } from "./window";

/** What the view shows of which run. */
export interface Shown {
  lanes: Lanes;
  /** The time shown. */
  window: Range;
  /** First and last lane shown. */
  range: Range;
}

/** What a lane is called. */
export function useLaneName(lanes: Lanes): (lane: number) => string {
  const { run } = useShared();
  return (number) => {
    const lane = lanes.lanes[number];
    const place = lane === undefined ? undefined : run.places[lane.place]?.name;
    if (lane === undefined || place === undefined) return `lane ${number}`;
    return lane.thread === null ? place : `${place}, thread ${lane.thread}`;
  };
}

export function EventsView() {
  const asked = useAnswer<Lanes>(address("lanes"));
  const { run } = useShared();
  if (run.waiting === null) {
    return (
      <div class="view main empty">
        This run was recorded without events (--events 0), or its ranks have left none. Time in calls is in the other
        views.
      </div>
    );
  }
  return <Answered asked={asked}>{(lanes) => <Events lanes={lanes} />}</Answered>;
}

/** The route's part of the time and of the lanes, as far as the run has them. */
function useShown(lanes: Lanes): Shown {
  const { route } = useShared();
  return useMemo(() => {
    const [from, to] = route.window ?? [0, lanes.until];
    const last = Math.max(0, lanes.lanes.length - 1);
    const [first, end] = route.lanes ?? [0, last];
    return {
      lanes,
      window: [from, Math.max(from + 1, to)],
      range: [Math.min(first, last), Math.min(Math.max(first, end), last)],
    };
  }, [lanes, route.window, route.lanes]);
}

function Events({ lanes }: { lanes: Lanes }) {
  const { route, go } = useShared();
  const shown = useShown(lanes);
  const isWhole = route.window === null && route.lanes === null;
  if (lanes.lanes.length === 0) return <div class="view main empty">No rank has recorded an event.</div>;
  return (
    <div class="view columns">
      <div class="main">
        <div class="toolbar">
          <Choice
            label="Form"
            value={route.form === "table" || route.form === "path" ? route.form : "figure"}
            options={[
              ["figure", "Lanes"],
              ["table", "Table"],
              ["path", "Critical path"],
            ]}
            onChange={(form) => go({ form })}
          />
          {route.form !== "table" && route.form !== "path" && (
            <button
              type="button"
              aria-pressed={route.path === "on"}
              title="Key c"
              onClick={() => go({ path: route.path === "on" ? "off" : "on" }, "replace")}
            >
              Mark critical path
            </button>
          )}
          {!isWhole && (
            <button type="button" onClick={() => go({ window: null, lanes: null })}>
              Show all
            </button>
          )}
          {lanes.notes.map((note) => (
            <span key={note} class="muted">
              {note}
            </span>
          ))}
        </div>
        {route.form === "table" ? (
          <EventTable shown={shown} />
        ) : route.form === "path" ? (
          <PathTables shown={shown} />
        ) : (
          <EventsFigure shown={shown} />
        )}
      </div>
      <EventDetails shown={shown} />
    </div>
  );
}

/** Colours in words: what is there of the classes and waits. */
export function Legend({ answer, lanes }: { answer: EventsDetail; lanes: Lanes }) {
  const { answers, palette, route } = useShared();
  // Exports hold the whole run only.
  const partAddress = address("happened", { from: 0, to: 1 });
  const { classes, waits } = useMemo(() => {
    const classes = new Set<number>();
    const waits = new Set<number>();
    for (const row of answer.rows) {
      for (const slice of row.slices) classes.add(slice[2]).add(slice[2]) && slice[4] > 0 && waits.add(slice[5]);
      for (const coarse of row.coarse) classes.add(coarse[2]) && coarse[4] > 0 && waits.add(coarse[5]);
    }
    return { classes: [...classes].sort(), waits: [...waits].sort() };
  }, [answer]);
  const coarse = answer.rows.some((row) => row.coarse.length > 0);
  const folded = answer.rows.some((row) => row.coarse.some((one) => one[7] > 0));
  return (
    <ul class="legend" aria-label="Colours">
      {classes.map((number) => (
        <li key={number}>
          <span class="swatch" style={{ background: classColour(number, palette) }} aria-hidden="true" />
          {lanes.classes[number]}
        </li>
      ))}
      {waits.map((wait) => (
        <li key={`wait ${wait}`}>
          <span class="swatch" style={{ background: waitColour(wait, palette) }} aria-hidden="true" />
          {wait === 1 ? "waits for a message" : "waits in a collective"}
        </li>
      ))}
      {route.path === "on" && (
        <li>
          <span class="swatch path" aria-hidden="true" />
          critical path{answer.path.length === 0 && ": not in this time and these lanes"}
        </li>
      )}
      {coarse && <li class="muted">heights: share of the time, where calls are too short to be drawn</li>}
      {folded && <li class="muted">dotted: folded when recorded</li>}
      {answer.more_messages > 0 && (
        <li class="muted">
          no arrows: {integer(answer.messages.length + answer.more_messages)} messages are here
          {answers.holds(partAddress) ? "; zoom in to see them" : ", which this export does not hold one by one"}
        </li>
      )}
      {answer.more_meetings > 0 && (
        <li class="muted">
          bands: the {integer(answer.meetings.length)} longest collectives, {integer(answer.more_meetings)} more
        </li>
      )}
    </ul>
  );
}
