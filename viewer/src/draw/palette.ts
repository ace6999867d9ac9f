/** Colours of figures. Those of text and surfaces are the style sheet's. */

import { scaleLinear } from "d3-scale";
import { interpolateCividis } from "d3-scale-chromatic";

export interface Palette {
  dark: boolean;
  /** Whether the user asks for more contrast, or the system forces its colours. */
  strong: boolean;
  surface: string;
  panel: string;
  border: string;
  text: string;
  muted: string;
  accent: string;
  warning: string;
}

export function readPalette(): Palette {
  // Colours of the system have names: the browser alone knows what they are.
  const probe = document.createElement("span");
  probe.className = "probe";
  document.body.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const surface = colour("surface");
  const palette = {
    dark: luminance(surface) < 0.5,
    strong: CONTRAST.some((query) => matchMedia(query).matches),
    surface,
    panel: colour("panel"),
    border: colour("border"),
    text: colour("text"),
    muted: colour("muted"),
    accent: colour("accent"),
    warning: colour("warning"),
  };
  probe.remove();
  return palette;
}

/** Questions whose answers change the palette. */
export const CONTRAST = ["(prefers-contrast: more)", "(forced-colors: active)"] as const;

/** Roughly how light a colour is, from 0 to 1. */
function luminance(colour: string): number {
  const pixels = pixel(colour);
  return (0.2126 * (pixels & 255) + 0.7152 * ((pixels >> 8) & 255) + 0.0722 * ((pixels >> 16) & 255)) / 255;
}

/**
 * The colour of a share of the largest amount. Cividis is made for colour-blind readers (Nuñez et
 * al., 2018); more is further from the background, in light and dark.
 */
export function heat(share: number, palette: Palette): string {
  const clamped = Math.min(1, Math.max(0, share));
  if (palette.dark) return interpolateCividis(palette.strong ? 0.4 + 0.6 * clamped : 0.12 + 0.88 * clamped);
  return interpolateCividis(palette.strong ? 0.6 - 0.6 * clamped : 0.95 - 0.95 * clamped);
}

/** Violet, the colour of no change, orange: apart for everybody, and the middle stands back in both
 * themes. */
const DIVERGING = {
  light: scaleLinear([-1, 0, 1], ["#542788", "#d3d6dc", "#b35806"]).clamp(true),
  dark: scaleLinear([-1, 0, 1], ["#b9a2f2", "#464e59", "#f5a742"]).clamp(true),
};

/** The colour of a change from −1, all gone, to 1, all new. */
export function divergence(change: number, palette: Palette): string {
  return (palette.dark ? DIVERGING.dark : DIVERGING.light)(change);
}

/** Okabe and Ito's colours for series, without black, that no kind of colour blindness confuses. */
const SERIES_LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#7a7f87"];
const SERIES_DARK = ["#4aa3dd", "#e69f00", "#2ec495", "#dd94bb", "#8fd0f5", "#ee7a2b", "#f0e442", "#9aa4af"];

export function seriesColour(index: number, palette: Palette): string {
  const colours = palette.dark ? SERIES_DARK : SERIES_LIGHT;
  return colours[index % colours.length]!;
}

/** A colour as a raster's pixel. */
export function pixel(colour: string): number {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  const parts = hex
    ? hex.slice(1).map((part) => Number.parseInt(part, 16))
    : colour.match(/\d+/g)?.slice(0, 3).map(Number);
  const [red = 0, green = 0, blue = 0] = parts ?? [];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The colours from least to most, as pixels: rasters look amounts up instead of computing
 * colours. */
export function heatTable(palette: Palette, steps = 256): Uint32Array {
  return Uint32Array.from({ length: steps }, (_, step) => pixel(heat(step / (steps - 1), palette)));
}
