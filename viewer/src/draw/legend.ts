/** Which colour is how much. */

import { quantity } from "../format";
import type { Unit } from "../state/traffic";
import type { Box } from "./matrix";
import type { Painter } from "./painter";
import { heat, type Palette } from "./palette";
import type { AmountScale } from "./scale";

/** Pixels that a number takes from top to bottom. */
const LABEL_ROOM = 14;

/** Width that a legend takes with its numbers. */
export const LEGEND_WIDTH = 92;

export function drawLegend(painter: Painter, scale: AmountScale, unit: Unit, box: Box, palette: Palette): void {
  if (scale.most === 0) return;
  const steps = 64;
  const step = box.height / steps;
  for (let index = 0; index < steps; index += 1) {
    // Overlapping by a little, so that no seams show between the steps.
    painter.rect(box.x, box.y + box.height - (index + 1) * step, 12, step + 0.5, heat(index / (steps - 1), palette));
  }
  const at = (amount: number) => box.y + box.height * (1 - scale.share(amount));
  const taken: number[] = [];
  const label = (amount: number, fill: string) => {
    const y = at(amount);
    if (taken.some((other) => Math.abs(other - y) < LABEL_ROOM)) return;
    taken.push(y);
    painter.text(box.x + 18, y, quantity(amount, unit), { fill });
  };
  label(scale.most, palette.text);
  label(scale.least, palette.text);
  for (const tick of scale.ticks(5, unit)) label(tick, palette.muted);
}
