/** Beside the lanes: the selected event, those of the selected bins, or the longest waits. */

import { address } from "../../api/answers";
import { NOT_HELD } from "../../api/embedded";
import type { EventDetail, EventsDetail, Happened, LongWait, MessageEnd } from "../../api/types";
import { bytes, integer, seconds, several } from "../../format";
import { useAnswer, useShared } from "../../state/context";
import { linesIn } from "../../state/findings";
import { Answered, Bar, FindingMark, Link, PlaceLink, SourceLink, Stack } from "../../ui/parts";
import { FindingFacts } from "../findings";
import { type Shown, useLaneName } from "./index";
import { PathSummary } from "./path";
import { type Pin, usePins } from "./pins";
import { around, moment } from "./window";

/** Findings that are listed. */
const PINS_LISTED = 8;
/** Events of bins that are listed. */
const LISTED = 12;

export function EventDetails({ shown }: { shown: Shown }) {
  const { answers, route, run } = useShared();
  const { lane, at } = route;
  const question =
    lane === null || at === null ? null : address("happened", { from: at[0], to: at[1], lanes: `${lane}-${lane}` });
  const held = question === null || answers.holds(question);
  const asked = useAnswer<Happened>(held ? question : null);
  return (
    <aside class="details" aria-label="Event details">
      {route.finding !== null && run.findings[route.finding] !== undefined ? (
        <SelectedFinding number={route.finding} />
      ) : question === null ? (
        <>
          {route.path === "on" && <PathSummary />}
          <FindingsHere shown={shown} />
          <LongestWaits shown={shown} />
        </>
      ) : held ? (
        <Answered asked={asked}>{(answer) => <Selected answer={answer} shown={shown} />}</Answered>
      ) : (
        <p class="muted">{NOT_HELD}.</p>
      )}
    </aside>
  );
}

function SelectedFinding({ number }: { number: number }) {
  const { run, go } = useShared();
  const finding = run.findings[number]!;
  return (
    <div aria-live="polite" class="finding-text">
      <h2>
        ▲ {finding.severity} {finding.code}
      </h2>
      <p>{finding.message}</p>
      <FindingFacts number={number} />
      <p>
        <Link to={() => go({ view: "findings", finding: number })}>Open in the findings</Link>
      </p>
    </div>
  );
}

/** Those of the time and lanes that are shown. */
function FindingsHere({ shown }: { shown: Shown }) {
  const { run, go } = useShared();
  const name = useLaneName(shown.lanes);
  const here = pinsIn(usePins(shown.lanes), shown);
  if (here.length === 0) return null;
  return (
    <>
      <h2>Findings here</h2>
      <table class="plain names">
        <tbody>
          {here.slice(0, PINS_LISTED).map((pin, index) => (
            <tr key={index}>
              <th scope="row">
                <span class="mark" aria-hidden="true">
                  ▲
                </span>{" "}
                <Link
                  title={run.findings[pin.finding]!.title}
                  to={() => go({ lane: pin.lane, at: null, finding: pin.finding }, "replace")}
                >
                  {run.findings[pin.finding]!.code}
                </Link>{" "}
                {name(pin.lane)}
              </th>
              <td class="number">{moment(pin.time, (shown.window[1] - shown.window[0]) / 1000, shown.lanes.until)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {here.length > PINS_LISTED && <p class="muted">and {integer(here.length - PINS_LISTED)} more, in the table</p>}
    </>
  );
}

/** Pins of the time and lanes that are shown. */
export function pinsIn(pins: readonly Pin[], { window, range }: Shown): Pin[] {
  return pins.filter(
    ({ time, lane }) => time >= window[0] && time <= window[1] && lane >= range[0] && lane <= range[1],
  );
}

function Selected({ answer, shown }: { answer: Happened; shown: Shown }) {
  const { route } = useShared();
  const [begin, end] = route.at ?? [0, 0];
  const exact = answer.events.filter((event) => event.begin === begin && event.end === end);
  const one = exact.length === 1 ? exact[0] : answer.events.length === 1 ? answer.events[0] : undefined;
  return one === undefined ? (
    <Several answer={answer} shown={shown} />
  ) : (
    <OneEvent event={one} answer={answer} shown={shown} />
  );
}

/** An event with all that is known of it. */
function OneEvent({ event, answer, shown }: { event: EventDetail; answer: Happened; shown: Shown }) {
  const { run } = useShared();
  const name = useLaneName(shown.lanes);
  const { place } = shown.lanes.lanes[event.lane]!;
  const findings = run.findings.filter(
    (finding) =>
      event.file !== null && finding.places.includes(place) && linesIn(finding, event.file).includes(event.line ?? -1),
  );
  const stack = event.stack === null ? undefined : answer.stacks[event.stack];
  return (
    <div aria-live="polite">
      <h2 class="mono">{event.call}</h2>
      {event.folded !== null && (
        <p class="notice">
          {several(event.folded, "call")} that were folded into one when they were recorded: when each of them was is
          not known.
        </p>
      )}
      <dl>
        <dt>lane</dt>
        <dd>
          <PlaceLink place={place} /> {name(event.lane).includes(", ") && name(event.lane).split(", ")[1]}
        </dd>
        <dt>line</dt>
        <dd>
          <SourceLink file={event.file} line={event.line} /> <FindingMark findings={findings} />
        </dd>
        <dt>begins</dt>
        <dd>{moment(event.begin, 100, shown.lanes.until)}</dd>
        <dt>{event.folded === null ? "duration" : "time in all"}</dt>
        <dd title={`${integer(event.time)} ns`}>{seconds(event.time / 1e9)}</dd>
        {event.bytes > 0 && (
          <>
            <dt>bytes</dt>
            <dd title={integer(event.bytes)}>{bytes(event.bytes)}</dd>
          </>
        )}
        {event.members !== null && (
          <>
            <dt>collective</dt>
            <dd>of {several(event.members, "rank")}</dd>
          </>
        )}
      </dl>
      {event.wait !== null && <Waiting wait={event.wait} event={event} shown={shown} />}
      {event.messages.length > 0 && <Messages event={event} shown={shown} />}
      {stack !== undefined && (
        <>
          <h2>Called from</h2>
          <Stack frames={stack} />
        </>
      )}
    </div>
  );
}

function Waiting({ wait, event, shown }: { wait: LongWait; event: EventDetail; shown: Shown }) {
  return (
    <>
      <h2>Waits {seconds((wait.end - wait.begin) / 1e9)}</h2>
      <p>
        {wait.kind}: <PlaceLink place={wait.place} /> begins{" "}
        {wait.file === null ? <span class="mono">{wait.call}</span> : <SourceLink file={wait.file} line={wait.line} />}{" "}
        only at {moment(wait.end, 100, shown.lanes.until)}, {seconds((wait.end - event.begin) / 1e9)} later.{" "}
        <ToLate wait={wait} shown={shown} />
      </p>
    </>
  );
}

/** Leads to the call of the late rank. */
function ToLate({ wait, shown }: { wait: LongWait; shown: Shown }) {
  const { go } = useShared();
  const { lanes, range } = shown;
  const lane = lanes.lanes.findIndex((one) => one.place === wait.place);
  if (lane < 0) return null;
  const show = () =>
    go({
      window: around(wait.begin, wait.end, lanes.until),
      lanes: lane >= range[0] && lane <= range[1] ? [...range] : null,
      lane,
      at: [wait.end, wait.end + 1],
    });
  return <Link to={show}>Show what is late</Link>;
}

function Messages({ event, shown }: { event: EventDetail; shown: Shown }) {
  const what = (end: MessageEnd) => {
    const verb = end.sent ? "to" : "from";
    return end.completes ? `completes, ${verb}` : verb;
  };
  return (
    <>
      <h2>Messages</h2>
      <table class="plain names">
        <tbody>
          {event.messages.map((end, index) => (
            <tr key={index}>
              <th scope="row">
                {what(end)} <PlaceLink place={end.peer} />
                <span class="muted"> tag {end.tag}</span>
                {end.other !== null && (
                  <div class="muted">
                    {end.sent ? "received" : "sent"} at {moment(end.other, 100, shown.lanes.until)}
                  </div>
                )}
              </th>
              <td class="number">{end.bytes === null ? "" : bytes(end.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {event.more > 0 && <p class="muted">and {integer(event.more)} more</p>}
    </>
  );
}

/** Calls of bins, summed up by line, and the longest of them. */
function Several({ answer, shown }: { answer: Happened; shown: Shown }) {
  const { go } = useShared();
  const name = useLaneName(shown.lanes);
  const { lane } = useShared().route;
  if (answer.events.length === 0) return <p class="muted">{name(lane ?? 0)} is in no call here.</p>;
  const longest = answer.events.toSorted((a, b) => b.end - b.begin - (a.end - a.begin)).slice(0, LISTED);
  const most = longest[0]!.end - longest[0]!.begin;
  const all = answer.events.length + answer.more;
  return (
    <>
      <h2>
        {several(all, "event")} of {name(lane ?? 0)}
      </h2>
      <table class="plain names">
        <tbody>
          {longest.map((event, index) => (
            <tr key={index}>
              <th scope="row">
                <Link to={() => go({ lane: event.lane, at: [event.begin, event.end], finding: null })}>
                  {event.call}
                </Link>{" "}
                <SourceLink file={event.file} line={event.line} />
              </th>
              <td>
                <Bar share={(event.end - event.begin) / Math.max(1, most)} />
              </td>
              <td class="number">{seconds((event.end - event.begin) / 1e9)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all > longest.length && <p class="muted">the {longest.length} longest; the table has more of them</p>}
    </>
  );
}

/** Those of the time and lanes that are shown. */
function LongestWaits({ shown }: { shown: Shown }) {
  const { go, answers } = useShared();
  const name = useLaneName(shown.lanes);
  const { lanes, window, range } = shown;
  const asked = useAnswer<EventsDetail>(
    address("events", { from: window[0], to: window[1], lanes: range.join("-"), width: 1, rows: 1 }),
  );
  const waits = (asked.value?.waits ?? []).filter((wait) => wait.begin < window[1] && wait.end > window[0]);
  const most = Math.max(1, ...waits.map((wait) => wait.end - wait.begin));
  const canShow = answers.holds(address("happened", { from: 0, to: 1, lanes: "0-0" }));
  return (
    <>
      <h2>Longest waits here</h2>
      {waits.length === 0 ? (
        <p class="muted">No call is known to wait for another rank in this time.</p>
      ) : (
        <table class="plain names">
          <tbody>
            {waits.map((wait, index) => (
              <tr key={index}>
                <th scope="row">
                  <Link
                    to={() =>
                      go({
                        window: around(wait.begin, wait.end, lanes.until),
                        lane: wait.lane,
                        at: canShow ? [wait.begin, wait.end] : null,
                      })
                    }
                  >
                    {name(wait.lane)}
                  </Link>{" "}
                  for {lateName(wait)}
                  <div class="muted">{wait.kind}</div>
                </th>
                <td>
                  <Bar share={(wait.end - wait.begin) / most} />
                </td>
                <td class="number">{seconds((wait.end - wait.begin) / 1e9)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="muted">Select an event to see its line, peers, bytes, and whom it waits for.</p>
    </>
  );

  function lateName(wait: LongWait) {
    return (
      <>
        <PlaceLink place={wait.place} /> at{" "}
        {wait.file === null ? <span class="mono">{wait.call}</span> : <SourceLink file={wait.file} line={wait.line} />}
      </>
    );
  }
}
