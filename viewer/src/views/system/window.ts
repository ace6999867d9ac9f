/** The part of the matrix in sight: as the route says, and in between while it moves. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Extent, extentOf, spanOf } from "../../draw/matrix";
import { useShared } from "../../state/context";

/** How long nothing must move before the route is told, in milliseconds. */
const CALM = 160;

export interface MatrixWindow {
  rows: Extent;
  cols: Extent;
}

/** The window, and how to move it: at once on screen, in the address when it has come to rest. */
export function useMatrixWindow(): [MatrixWindow, (next: MatrixWindow, now?: boolean) => void] {
  const { run, route, go } = useShared();
  const places = run.places.length;
  const [moving, setMoving] = useState<MatrixWindow | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What the address says anew holds.
  useEffect(() => setMoving(null), [route.rows, route.cols]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = useCallback(
    (next: MatrixWindow, now = false) => {
      const tell = () => {
        go({ rows: spanOf(next.rows, places), cols: spanOf(next.cols, places) }, now ? undefined : "replace");
        setMoving(null);
      };
      clearTimeout(timer.current);
      if (now) return tell();
      setMoving(next);
      timer.current = setTimeout(tell, CALM);
    },
    [go, places],
  );
  const rest = { rows: extentOf(route.rows, places), cols: extentOf(route.cols, places) };
  return [moving ?? rest, move];
}
