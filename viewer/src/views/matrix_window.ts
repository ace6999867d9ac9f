/** The part of the matrix in sight: as the route says, and in between while it moves. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Extent } from "../draw/matrix";
import { useShared } from "../state/context";
import { type Axis, extentOn, placesOf } from "./axis";

/** How long nothing must move before the route is told, in milliseconds. */
const CALM = 160;

export interface MatrixWindow {
  rows: Extent;
  cols: Extent;
}

/** The window, and how to move it: at once on screen, in the address when it has come to rest. */
export function useMatrixWindow(axis: Axis): [MatrixWindow, (next: MatrixWindow, now?: boolean) => void] {
  const { route, go } = useShared();
  const [moving, setMoving] = useState<MatrixWindow | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What the address says anew holds.
  useEffect(() => setMoving(null), [route.rows, route.cols]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = useCallback(
    (next: MatrixWindow, now = false) => {
      const tell = () => {
        go({ rows: placesOf(axis, next.rows), cols: placesOf(axis, next.cols) }, now ? undefined : "replace");
        setMoving(null);
      };
      clearTimeout(timer.current);
      if (now) return tell();
      setMoving(next);
      timer.current = setTimeout(tell, CALM);
    },
    [go, axis],
  );
  const rest = { rows: extentOn(axis, route.rows), cols: extentOn(axis, route.cols) };
  return [moving ?? rest, move];
}
