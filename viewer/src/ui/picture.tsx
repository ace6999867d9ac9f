/** A small chart beside a sentence: what is unusual among others of its kind. */

import type { Picture } from "../api/types";
import { exact, integer, quantity, seconds } from "../format";

const WIDTH = 264;
const HEIGHT = 44;

/** A value as text, and with every digit. */
export function spelled(value: number, unit: Picture["unit"]): [text: string, exact: string] {
  if (unit === "nanoseconds") return [seconds(value / 1e9), `${integer(value)} ns`];
  return [quantity(value, unit), exact(value, unit)];
}

export function PictureOf({ picture }: { picture: Picture }) {
  const { bars, marked, mean, title, unit } = picture;
  if (bars.length === 0) return null;
  const most = Math.max(1, ...bars.map(([, value]) => value));
  const [step, height] = [WIDTH / bars.length, (value: number) => (HEIGHT * value) / most];
  const gap = Math.min(2, step / 4);
  const told = marked === null ? null : bars[marked];
  const largest = bars.find(([, value]) => value === most);
  const text = (name: string, value: number) => `${name}: ${spelled(value, unit)[0]}`;
  const words = [
    told && text(...told),
    largest && largest !== told && `the most, ${text(...largest)}`,
    text("mean", mean),
  ].filter(Boolean);
  return (
    <figure class="picture">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 8}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${bars.map(([name, value]) => text(name, value)).join(", ")}`}
      >
        <path class="ground" d={`M0 ${HEIGHT + 0.5}H${WIDTH}`} />
        {bars.map(([name, value], at) => (
          <g key={at}>
            <title>{`${name}: ${spelled(value, unit)[1]}`}</title>
            <rect x={at * step} y={0} width={step} height={HEIGHT + 8} class="reach" />
            <rect
              x={at * step + gap / 2}
              y={HEIGHT - height(value)}
              width={step - gap}
              height={height(value)}
              class={at === marked ? "bar-marked" : "bar-other"}
            />
            {at === marked && <path class="bar-marked" d={`M${(at + 0.5) * step} ${HEIGHT + 2}l4 6h-8z`} />}
          </g>
        ))}
        <path class="mean" d={`M0 ${HEIGHT - height(mean)}H${WIDTH}`} />
      </svg>
      <figcaption class="muted">
        {title}: {words.join("; ")}
      </figcaption>
    </figure>
  );
}
