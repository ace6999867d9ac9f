/** What matrix and timeline are of, if not of everything; and the way back. */

import { fileLine } from "../format";
import { useShared } from "../state/context";

export function Subject() {
  const { run, route, go } = useShared();
  const file = route.file === null ? undefined : run.files[route.file];
  const names = {
    all: undefined,
    object: route.object === null ? undefined : run.objects[route.object]?.name,
    line: file && fileLine(file.path, route.line),
    place: route.place === null ? undefined : run.places[route.place]?.name,
  };
  // The system view has all places in it anyway.
  const name = route.of === "place" && route.view === "system" ? undefined : names[route.of];
  if (name === undefined) return null;
  return (
    <span class="chip">
      only {route.of} <strong class="mono">{name}</strong>
      <button type="button" aria-label="Show all traffic" onClick={() => go({ of: "all" })}>
        ✕
      </button>
    </span>
  );
}
