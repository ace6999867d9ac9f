/** What is unusual in a run, and which ranks others wait for. */

import type { Unusual } from "../../api/types";
import { percent, seconds, several } from "../../format";
import { useShared } from "../../state/context";
import { around } from "../events/window";
import { PictureOf } from "../../ui/picture";
import { Bar, Link, ObjectLink, PlaceLink, SourceLink } from "../../ui/parts";

/** How many late calls are listed. */
const LISTED = 5;

/** At most three sentences, each with its evidence and what people do about it; nothing where
 * nothing is unusual. */
export function UnusualInRun() {
  const { run } = useShared();
  if (run.unusual.length === 0) return null;
  return (
    <>
      <h2>Unusual in this run</h2>
      <ul class="unusual">
        {run.unusual.map((unusual, index) => (
          <li key={index}>
            <strong>{unusual.text}.</strong>
            <PictureOf picture={unusual.picture} />
            {unusual.evidence}. {unusual.advice} <Links unusual={unusual} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Links({ unusual }: { unusual: Unusual }) {
  const { run, go } = useShared();
  return (
    <span>
      {unusual.file !== null && <SourceLink file={unusual.file} line={unusual.line} />}{" "}
      {unusual.place !== null && <PlaceLink place={unusual.place} />}{" "}
      {unusual.object !== null && <ObjectLink object={unusual.object} />}{" "}
      {unusual.when !== null && (
        <Link to={() => go({ view: "events", window: around(unusual.when![0], unusual.when![1], run.seconds * 1e9) })}>
          When
        </Link>
      )}
    </span>
  );
}

/** Lines at which ranks are late, and what others wait for that. */
export function Waits() {
  const { run, route, go } = useShared();
  const { waiting } = run;
  const isOfWaits = route.view === "waits";
  const counts = (state: string) => !isOfWaits || route.states.length === 0 || route.states.includes(state);
  const late = (waiting?.late ?? []).filter(({ kind }) => counts(kind));
  if (waiting === null || late.length === 0) return null;
  const shown = late.slice(0, LISTED);
  const left = late.length - shown.length + waiting.more;
  const all = run.calls.by_rank.reduce((sum, rank) => sum + rank.seconds + rank.busy, 0);
  return (
    <>
      <h2>{isOfWaits ? "Late calls, of the whole run" : "Waiting for others"}</h2>
      {!isOfWaits && (
        <p>
          {percent(all > 0 ? waiting.seconds / all : 0)} of all ranks’ time
          {route.time !== null && ", in the whole run"} ·{" "}
          <Link to={() => go({ view: "waits" })}>Who waits for whom</Link>
        </p>
      )}
      <table class="plain names">
        <tbody>
          {shown.map((late, index) => (
            <tr key={index}>
              <th scope="row">
                <PlaceLink place={late.place} /> late at{" "}
                {late.file === null ? (
                  <span class="mono">{late.call}</span>
                ) : (
                  <SourceLink file={late.file} line={late.line} />
                )}
                <span class="muted">
                  {" "}
                  {late.kind}, {several(late.ranks, "rank")}
                </span>
              </th>
              <td>
                <Bar share={late.seconds / shown[0]!.seconds} />
              </td>
              <td
                class="number"
                title={`${several(late.count, "wait")}, the longest ${seconds(late.longest_seconds)}, mostly in ${late.waiting_call}`}
              >
                {seconds(late.seconds)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="muted">{several(left, "late call")} more with less</p>}
    </>
  );
}
