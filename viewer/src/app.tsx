/** The page: what is always there around the views. */

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Answers } from "./api/answers";
import type { Comparison, Run } from "./api/types";
import { integer, seconds, several } from "./format";
import { SharedContext, type Theme, useSelection, useShared, useSharedValue, useTheme } from "./state/context";
import { parseRoute, type Route, type View } from "./state/route";
import type { Unit } from "./state/traffic";
import { Help } from "./ui/help";
import { FORMS, VIEW_KEYS } from "./ui/keys";
import { Choice, Quantity } from "./ui/parts";
import { SearchBox } from "./ui/search";
import { CodeView } from "./views/code";
import { CompareView } from "./views/compare";
import { EventsView } from "./views/events";
import { FindingsView } from "./views/findings";
import { ObjectsView } from "./views/objects";
import { PlacesView } from "./views/places";
import { SystemView } from "./views/system";
import { systemAddress } from "./views/system/grid";
import { TimelineView } from "./views/timeline";
import { WaitsView } from "./views/waits";
import { WaitStates } from "./views/waits/states";

const VIEW: Record<View, () => preact.VNode | null> = {
  system: SystemView,
  objects: ObjectsView,
  code: CodeView,
  places: PlacesView,
  timeline: TimelineView,
  events: EventsView,
  waits: WaitsView,
  findings: FindingsView,
  compare: CompareView,
};

const UNITS: readonly Unit[] = ["bytes", "count", "time"];

/** What changes where a unit is chosen. */
function measured(unit: Unit): Partial<Route> {
  return unit === "time" ? { measure: "time" } : { measure: "amount", unit };
}

const THEMES: readonly Theme[] = ["auto", "light", "dark"];

export interface AppProps {
  answers: Answers;
  run: Run;
  comparison: Comparison | null;
}

export function App({ answers, run, comparison }: AppProps) {
  const [theme, setTheme, palette] = useTheme();
  const shared = useSharedValue(answers, run, comparison, palette);
  const [help, setHelp] = useState(false);
  const { route, go } = shared;
  // What is searched for is in the address; that the box is open without is not.
  const [searches, setSearches] = useState(route.find !== "");
  useEffect(() => {
    if (route.find !== "") setSearches(true);
  }, [route.find]);
  useEffect(() => {
    // Who goes back to where nothing was searched for leaves the box.
    const back = () => setSearches(parseRoute(location.hash).find !== "");
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const endSearch = () => {
    setSearches(false);
    go({ find: "" }, "replace");
  };
  useEffect(() => {
    const name = VIEW_KEYS.find(([, view]) => view === route.view)?.[2];
    document.title = `${name} · ${run.name} · commsan`;
  }, [route.view, run]);
  // Before anything is painted: whoever sees the page can use its keys.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const view = VIEW_KEYS.find(([key]) => key === event.key)?.[1];
      const forms = FORMS[route.view];
      if (view !== undefined) go({ view });
      else if (event.key === "u") {
        const now: Unit = route.measure === "time" ? "time" : route.unit;
        go(measured(UNITS[(UNITS.indexOf(now) + 1) % UNITS.length]!), "replace");
      } else if (event.key === "f") go({ form: forms[(forms.indexOf(route.form) + 1) % forms.length]! });
      else if (event.key === "t") setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!);
      else if (event.key === "?") setHelp(true);
      else if (route.view === "code" && LINE_KEYS.includes(event.key)) toSource(event);
      else if (event.key === "/") setSearches(true);
      else if (event.key === "l") document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [route, go, theme, setTheme]);
  const Shown = VIEW[route.view];
  return (
    <SharedContext.Provider value={shared}>
      <Header theme={theme} setTheme={setTheme} onSearch={() => setSearches(true)} onHelp={() => setHelp(true)} />
      <Filters />
      <Notes />
      <main id="main" tabIndex={-1}>
        <Shown />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
      {searches && <SearchBox onClose={endSearch} />}
    </SharedContext.Provider>
  );
}

/** Whether keys pressed there are text. */
function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input:not([type=range]), textarea, select, dialog") !== null;
}

/** Keys that go from line to line with traffic. */
const LINE_KEYS = ["n", "p"];

/** Hands a key to the source that is shown, wherever the focus was. */
function toSource(event: KeyboardEvent): void {
  const source = document.querySelector<HTMLElement>(".source");
  if (source === null || (event.target instanceof Node && source.contains(event.target))) return;
  source.focus();
  source.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, cancelable: true }));
}

function Header({
  theme,
  setTheme,
  onSearch,
  onHelp,
}: {
  theme: Theme;
  setTheme: (theme: Theme) => void;
  onSearch: () => void;
  onHelp: () => void;
}) {
  const { run, route, go, comparison } = useShared();
  const ranks = run.places.filter((place) => place.kind === "rank").length;
  const devices = run.places.filter((place) => place.kind === "device").length;
  const facts = [several(ranks, "rank"), devices > 0 ? several(devices, "device") : "", seconds(run.seconds)];
  const about = facts.filter(Boolean).join(" · ");
  return (
    <header class="top">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the view
      </a>
      <h1 title={[run.command.join(" "), new Date(run.began * 1000).toLocaleString("en-GB"), about].join("\n")}>
        <span class="brand">commsan</span> {run.name}
      </h1>
      <span class="muted facts">{about}</span>
      <nav class="views" aria-label="Views">
        {VIEW_KEYS.map(([key, view, name]) =>
          view === "compare" && comparison === null ? null : (
            <button
              key={view}
              type="button"
              title={`Key ${key}`}
              aria-current={view === route.view ? "page" : undefined}
              onClick={() => go({ view })}
            >
              {name}
              {view === "findings" && run.findings.length > 0 && (
                <span class="badge">{integer(run.findings.length)}</span>
              )}
            </button>
          ),
        )}
      </nav>
      <span class="spring" />
      <div class="tools">
        <button type="button" class="find" onClick={onSearch} title="Search everything (/)">
          Search <kbd>/</kbd>
        </button>
        <Choice
          label="Colours"
          value={theme}
          options={[
            ["auto", "Auto"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
          onChange={setTheme}
        />
        <button type="button" onClick={onHelp} aria-label="Keyboard help" title="Keyboard help (?)">
          ?
        </button>
      </div>
    </header>
  );
}

/** What counts, in all views. */
function Filters() {
  const { run, route } = useShared();
  // Events and waits are neither of a kind nor amounts.
  const isOfAmounts = route.view !== "events" && route.view !== "waits";
  const ofWaits = route.view === "waits" && (run.waiting?.states.length ?? 0) > 0;
  if (!isOfAmounts && !ofWaits && run.only.length === 0 && route.time === null) return null;
  return (
    <section class="filters" aria-label="Filters">
      {isOfAmounts && <Amounts />}
      {ofWaits && <WaitStates />}
      {route.time !== null && <TimeChip />}
      {run.only.length > 0 && (
        <span class="chip" title="The rest of what the run has moved was not asked for, and is in no figure.">
          counted: only {run.only.join("; ")} (--only)
        </span>
      )}
    </section>
  );
}

/** Unit, kinds and region. */
function Amounts() {
  const { answers, run, route, go, filter } = useShared();
  const { value: selection } = useSelection();
  // By object it is not known.
  const isOfTime = route.measure === "time" && route.view !== "objects" && route.view !== "findings";
  const amountOf = (kind: number) => selection?.totals.find((total) => total.kind === kind)?.[route.unit] ?? 0;
  const holds = (region: string) => answers.holds(systemAddress({ ...route, region }, run));
  const toggle = (kind: number) => {
    const shown = run.kinds.filter((_, index) => (index === kind ? !filter[index] : filter[index]));
    // Nothing at all is no useful choice: the last one switched off switches all on again.
    go({ kinds: shown.length === run.kinds.length ? [] : shown }, "replace");
  };
  return (
    <>
      <Choice
        label="Unit"
        value={route.measure === "time" ? "time" : route.unit}
        options={[
          ["bytes", "Bytes"],
          ["count", "Transfers"],
          ["time", "Time"],
        ]}
        onChange={(unit) => go(measured(unit), "replace")}
      />
      {route.measure === "time" && (
        <span class="muted">
          {isOfTime ? "Time in calls, of all kinds of traffic." : "Time is not known by object: amounts are shown."}
        </span>
      )}
      {!isOfTime && (
        <span class="kinds" role="group" aria-label="Kinds of traffic">
          {run.totals.map((total) => (
            <button
              key={total.kind}
              type="button"
              class="kind"
              aria-pressed={filter[total.kind]}
              onClick={() => toggle(total.kind)}
            >
              <span aria-hidden="true">{filter[total.kind] ? "✓" : " "}</span> {run.kinds[total.kind]}
              <span class="muted">
                {selection === null ? "…" : <Quantity value={amountOf(total.kind)} unit={route.unit} />}
              </span>
            </button>
          ))}
          {run.totals.length === 0 && <span class="muted">Nothing has moved in this run.</span>}
        </span>
      )}
      {route.view === "system" && run.regions.length > 0 && (
        <label>
          Region{" "}
          <select value={route.region} onChange={(event) => go({ region: event.currentTarget.value }, "replace")}>
            <option value="">all</option>
            {run.regions.map((region) => (
              <option key={region} value={region} disabled={!holds(region)}>
                {region}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

/** The selected time, which matrices are of; other views show the whole run and say so. */
function TimeChip() {
  const { run, route, go } = useShared();
  if (route.time === null) return null;
  const width = run.timeline.width_seconds;
  const applies = route.view === "system" || route.view === "timeline";
  // Whether other views have matrices of that time beside what is of the whole run.
  const has = route.view !== "waits" && route.view !== "events";
  return (
    <span class="chip">
      {seconds(route.time[0] * width)} to {seconds((route.time[1] + 1) * width)}
      {applies ? "" : has ? " (matrices only, the rest is of the whole run)" : " (this view is of the whole run)"}
      <button type="button" aria-label="Show all of the time" onClick={() => go({ time: null })}>
        ✕
      </button>
    </span>
  );
}

/** What the user should know of the run before believing its numbers. */
function Notes() {
  const { run } = useShared();
  const [open, setOpen] = useState(!run.complete);
  if (run.complete && run.notes.length === 0) return null;
  return (
    <section aria-label="Notes on the run">
      <details
        class={run.complete ? "notes" : "notice"}
        open={open}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          {run.complete
            ? `${run.notes.length} note${run.notes.length === 1 ? "" : "s"} on this run`
            : "▲ This run is not complete: some ranks have not told all that they did"}
        </summary>
        <ul>
          {run.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}
