/** What all parts of the page share: the run, the answers, what is shown, and how it is changed. */

import { createContext } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Answers, address, NoAnswer } from "../api/answers";
import type { Comparison, KindTotal, Run, Selection } from "../api/types";
import { CONTRAST, type Palette, readPalette } from "../draw/palette";
import { seconds } from "../format";
import { follow, formatRoute, parseRoute, type Route } from "./route";
import { type KindFilter, kindFilter } from "./traffic";

export interface Shared {
  answers: Answers;
  run: Run;
  /** The differences to a second run, if one is open. */
  comparison: Comparison | null;
  route: Route;
  /** Changes what is shown; `replace` adds no step to the browser's history. */
  go(change: Partial<Route>, how?: "replace"): void;
  filter: KindFilter;
  palette: Palette;
}

export const SharedContext = createContext<Shared | null>(null);

export function useShared(): Shared {
  const shared = useContext(SharedContext);
  if (shared === null) throw new Error("used outside of the page");
  return shared;
}

/** The route of the address, and how to change it. */
export function useRoute(): [Route, Shared["go"]] {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  const latest = useRef(route);
  latest.current = route;
  useEffect(() => {
    const arrive = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", arrive);
    return () => removeEventListener("hashchange", arrive);
  }, []);
  const go = useCallback<Shared["go"]>((change, how) => {
    const next = follow(latest.current, change);
    const hash = formatRoute(next);
    if (hash === formatRoute(latest.current)) return;
    latest.current = next;
    // Neither of these tells us by an event.
    if (how === "replace") history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    setRoute(next);
  }, []);
  useEffect(() => {
    const back = () => setRoute(parseRoute(location.hash));
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  return [route, go];
}

export type Asked<T> =
  { state: "loading"; value: T | null } | { state: "ready"; value: T } | { state: "failed"; value: null; why: string };

/** Asks for `address`; while a new answer is on its way, the one before stays. Null asks
 * nothing. */
export function useAnswer<T>(question: string | null): Asked<T> {
  const { answers } = useShared();
  const [asked, setAsked] = useState<Asked<T>>({ state: "loading", value: null });
  useEffect(() => {
    if (question === null) return setAsked({ state: "loading", value: null });
    let wanted = true;
    setAsked((before) => ({ state: "loading", value: before.state === "failed" ? null : before.value }));
    answers.get(question).then(
      (value) => wanted && setAsked({ state: "ready", value: value as T }),
      (error: unknown) => {
        const why = error instanceof NoAnswer ? error.message : `The answer cannot be read: ${String(error)}`;
        if (wanted) setAsked({ state: "failed", value: null, why });
      },
    );
    return () => {
      wanted = false;
    };
  }, [answers, question]);
  return asked;
}

/** The parameters that restrict a matrix or a timeline to what the route says it is of. */
export function subjectOf(route: Route): Record<"object" | "file" | "line", number | null> {
  const line = route.of === "line";
  return {
    object: route.of === "object" ? route.object : null,
    file: line ? route.file : null,
    line: line && route.file !== null ? route.line : null,
  };
}

/** The address of a matrix of the part of the run that the route selects. */
export function matrixAddress(
  route: Route,
  run: Run,
  more: Record<string, string | number | null | undefined> = {},
): string {
  const region = run.regions.indexOf(route.region);
  return address("matrix", {
    region: region < 0 ? null : region,
    t0: route.time?.[0],
    t1: route.time?.[1],
    ...more,
  });
}

/** Whether the route selects but a part of the run, as far as its view is of that part. */
function partOf(route: Route, run: Run): Record<"region" | "t0" | "t1", number | null> | null {
  if (route.view !== "system" && route.view !== "timeline") return null;
  const region = route.view === "system" ? run.regions.indexOf(route.region) : -1;
  if (region < 0 && route.time === null) return null;
  return { region: region < 0 ? null : region, t0: route.time?.[0] ?? null, t1: route.time?.[1] ?? null };
}

/** Totals of what the view is of: of the selected time and region, else of the run. */
export function useSelection(): Asked<Selection> {
  const { run, route } = useShared();
  const part = partOf(route, run);
  const asked = useAnswer<Selection>(part === null ? null : address("selection", part));
  return useMemo((): Asked<Selection> => {
    // What was selected before is not of what is selected now.
    if (part !== null) return asked.state === "loading" ? { state: "loading", value: null } : asked;
    const objects = run.objects.map((object): [number, KindTotal[]] => [object.id, object.by_kind]);
    return { state: "ready", value: { totals: run.totals, calls: run.calls, objects } };
  }, [part === null, asked, run]);
}

/** The part of the run that matrices are of, in words: `in solve, 0 s to 48 ms`; empty for all of
 * it. */
export function partText(route: Route, run: Run): string {
  const { bins, width_seconds: width } = run.timeline;
  const region = run.regions.includes(route.region) ? `in ${route.region}` : "";
  if (route.time === null || bins === 0) return region;
  const time = `${seconds(route.time[0] * width)} to ${seconds((route.time[1] + 1) * width)}`;
  return region === "" ? time : `${region}, ${time}`;
}

/** Extents of an accessor that are asked for at most: more than a screen has pixels. */
const MAX_EXTENTS = 4096;

/** The address of an object in detail. */
export function objectAddress(object: number): string {
  return address(`object/${object}`, { max: MAX_EXTENTS });
}

/** The address of a place in detail. */
export function placeAddress(place: number): string {
  return address(`place/${place}`);
}

export type Theme = "auto" | "light" | "dark";

/** Light, dark, or as the system has it; remembered where the browser allows that. */
export function useTheme(): [Theme, (theme: Theme) => void, Palette] {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = remembered();
    return kept === "light" || kept === "dark" ? kept : "auto";
  });
  const [system, setSystem] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const change = () => setSystem(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  const [contrast, setContrast] = useState("");
  useEffect(() => {
    const queries = CONTRAST.map((query) => matchMedia(query));
    const change = () => setContrast(queries.map((query) => query.matches).join());
    for (const query of queries) query.addEventListener("change", change);
    return () => {
      for (const query of queries) query.removeEventListener("change", change);
    };
  }, []);
  const palette = useMemo(() => {
    document.documentElement.dataset.theme = theme === "auto" ? (system ? "dark" : "light") : theme;
    return readPalette();
  }, [theme, system, contrast]);
  const choose = (next: Theme) => {
    setTheme(next);
    try {
      localStorage.setItem("commsan-theme", next);
    } catch {
      // Pages from files may be denied storage; the choice then lasts as long as the page.
    }
  };
  return [theme, choose, palette];
}

function remembered(): string | null {
  try {
    return localStorage.getItem("commsan-theme");
  } catch {
    return null;
  }
}

/** The shared values of a page that shows `run`. */
export function useSharedValue(answers: Answers, run: Run, comparison: Comparison | null, palette: Palette): Shared {
  const [route, go] = useRoute();
  const filter = useMemo(() => kindFilter(run, route.kinds), [run, route.kinds]);
  return useMemo(
    () => ({ answers, run, comparison, route, go, filter, palette }),
    [answers, run, comparison, route, go, filter, palette],
  );
}
