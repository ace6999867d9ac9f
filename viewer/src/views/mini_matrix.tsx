/** A small matrix of part of the traffic: of an object, of a line. */

import { useMemo } from "preact/hooks";
import type { Matrix } from "../api/types";
import { drawLines, type Grid, rasterise } from "../draw/matrix";
import { heatTable, type Palette, pixel } from "../draw/palette";
import type { Draw } from "../draw/save";
import { type AmountScale, amountScale } from "../draw/scale";
import { quantity } from "../format";
import type { Route } from "../state/route";
import type { Unit } from "../state/traffic";
import { matrixAddress, partText, useAnswer, useShared } from "../state/context";
import { Figure } from "../ui/figure";
import { Answered } from "../ui/parts";
import { systemAddress, useGrid } from "./system/grid";

const MAX_BLOCKS = 32;
const HEIGHT = 232;

interface MiniMatrixProps {
  title: string;
  /** What it is of; the route names the same. */
  parameters: { object: number } | { file: number; line: number };
}

export function MiniMatrix({ title, parameters }: MiniMatrixProps) {
  const { route, run } = useShared();
  const asked = useAnswer<Matrix>(matrixAddress(route, run, { ...parameters, max: MAX_BLOCKS }));
  const of = "object" in parameters ? "object" : "line";
  const part = partText(route, run);
  return (
    <Answered asked={asked}>
      {(matrix) => <MiniFigure title={title} part={part} matrix={matrix} larger={{ ...parameters, of }} />}
    </Answered>
  );
}

/** The whole matrix at a glance; its title and largest cell are told in words. */
function drawing(grid: Grid, scale: AmountScale, palette: Palette, text: string): Draw {
  const table = heatTable(palette);
  const none = pixel(palette.panel);
  const colour = (amount: number) => (amount > 0 ? table[Math.round(scale.share(amount) * 255)]! : none);
  const rows = { from: grid.rows[0]?.first ?? 0, to: (grid.rows.at(-1)?.last ?? 0) + 1 };
  const cols = { from: grid.cols[0]?.first ?? 0, to: (grid.cols.at(-1)?.last ?? 0) + 1 };
  return (painter, width, height) => {
    const side = Math.min(width - 20, height - 40);
    const box = { x: 18, y: 18, width: side, height: side };
    const sight = { grid, rows, cols, box };
    painter.text(box.x, 8, "target →", { fill: palette.muted, size: 10 });
    painter.text(8, box.y + 24, "source →", { fill: palette.muted, size: 10, rotate: 90, anchor: "middle" });
    painter.raster(box.x, box.y, side, side, rasterise(sight, painter.density, colour));
    drawLines(painter, sight, [], palette);
    painter.text(box.x, height - 9, text, { fill: palette.muted, size: 10 });
  };
}

interface MiniFigureProps {
  title: string;
  /** The part of the run that it is of, in words. */
  part: string;
  matrix: Matrix;
  larger: Partial<Route>;
}

function MiniFigure({ title, part, matrix, larger }: MiniFigureProps) {
  const { answers, palette, route, run, go } = useShared();
  const whole = { ...route, ...larger, rows: null, cols: null };
  const held = answers.holds(systemAddress(whole, run));
  const grid = useGrid(matrix)!;
  const scale = useMemo(() => amountScale(grid.amounts, "log"), [grid]);
  const first = `${grid.rows[0]?.label ?? ""} … ${grid.rows.at(-1)?.label ?? ""}`;
  const text = scale.most === 0 ? "no traffic" : `at most ${quantity(scale.most, grid.unit ?? route.unit)}, ${first}`;
  const draw = useMemo(() => drawing(grid, scale, palette, text), [grid, scale, palette, text]);
  const most = useMemo(() => largestOf(grid, grid.unit ?? route.unit), [grid, route.unit]);
  const largest = part === "" ? most : `Of what happened ${part}. ${most}`;
  return (
    <>
      <Figure
        title={title}
        description={`Rows are sources, columns are targets. ${largest}`}
        height={HEIGHT}
        draw={draw}
      />
      <p class="muted">
        {largest}{" "}
        {held && (
          <>
            <button
              type="button"
              class="link"
              onClick={() => go({ view: "system", rows: null, cols: null, ...larger })}
            >
              Larger
            </button>
            {" · "}
          </>
        )}
        <button type="button" class="link" onClick={() => go({ view: "timeline", ...larger })}>
          Over time
        </button>
      </p>
    </>
  );
}

/** Which cell holds most, in words. */
function largestOf(grid: Grid, unit: Unit): string {
  let most = -1;
  grid.amounts.forEach((amount, index) => {
    if (amount > 0 && (most < 0 || amount > grid.amounts[most]!)) most = index;
  });
  if (most < 0) return "Nothing moved under this filter.";
  const [row, col] = [grid.rows[Math.floor(most / grid.cols.length)], grid.cols[most % grid.cols.length]];
  return `Most: ${row?.label} → ${col?.label}, ${quantity(grid.amounts[most]!, unit)}.`;
}
