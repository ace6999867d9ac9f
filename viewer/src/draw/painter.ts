/** What figures draw with: the same code makes the canvas on screen and the exported SVG. */

export type Anchor = "start" | "middle" | "end";

export interface TextStyle {
  fill: string;
  size?: number;
  anchor?: Anchor;
  weight?: number;
  /** Degrees, clockwise, around the given point. */
  rotate?: number;
}

export interface PathStyle {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  opacity?: number;
}

/** Pixels, row by row, as 0xAABBGGRR: what an ImageData holds on little-endian machines. */
export interface Raster {
  width: number;
  height: number;
  pixels: Uint32Array;
}

export interface Painter {
  /** Device pixels per unit: rasters that large look sharp. */
  readonly density: number;
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  /** `d` is the path data of SVG. */
  path(d: string, style: PathStyle): void;
  /** Text whose vertical middle is at `y`. */
  text(x: number, y: number, text: string, style: TextStyle): void;
  raster(x: number, y: number, width: number, height: number, raster: Raster): void;
  /** Draws what `inside` draws only within the rectangle. */
  clip(x: number, y: number, width: number, height: number, inside: () => void): void;
}

export const FONT = 'system-ui, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif';
const SIZE = 11;

function rasterCanvas(raster: Raster): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = raster.width;
  canvas.height = raster.height;
  const bytes = new Uint8ClampedArray(
    raster.pixels.buffer as ArrayBuffer,
    raster.pixels.byteOffset,
    raster.pixels.byteLength,
  );
  canvas.getContext("2d")?.putImageData(new ImageData(bytes, raster.width, raster.height), 0, 0);
  return canvas;
}

export class CanvasPainter implements Painter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly density: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  path(d: string, style: PathStyle): void {
    const { context } = this;
    const path = new Path2D(d);
    context.globalAlpha = style.opacity ?? 1;
    if (style.fill !== undefined) {
      context.fillStyle = style.fill;
      context.fill(path);
    }
    if (style.stroke !== undefined) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate(((style.rotate ?? 0) * Math.PI) / 180);
    context.font = `${style.weight ?? 400} ${style.size ?? SIZE}px ${FONT}`;
    const align = { start: "left", middle: "center", end: "right" } as const;
    context.textAlign = align[style.anchor ?? "start"];
    context.textBaseline = "middle";
    context.fillStyle = style.fill;
    context.fillText(text, 0, 0);
    context.restore();
  }

  raster(x: number, y: number, width: number, height: number, raster: Raster): void {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(rasterCanvas(raster), x, y, width, height);
  }

  clip(x: number, y: number, width: number, height: number, inside: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    inside();
    this.context.restore();
  }
}

/** What XML cannot hold at all (XML 1.0 §2.2) becomes U+FFFD. */
const IMPOSSIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

function escape(text: string): string {
  return text
    .replaceAll(IMPOSSIBLE, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export class SvgPainter implements Painter {
  readonly density = 2;
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect ${this.box(x, y, width, height)} fill="${escape(fill)}"/>`);
  }

  path(d: string, style: PathStyle): void {
    const attributes = [
      `fill="${escape(style.fill ?? "none")}"`,
      style.stroke === undefined ? "" : `stroke="${escape(style.stroke)}" stroke-width="${style.width ?? 1}"`,
      style.dash === undefined ? "" : `stroke-dasharray="${style.dash.join(" ")}"`,
      style.opacity === undefined ? "" : `opacity="${style.opacity}"`,
    ];
    this.parts.push(`<path d="${escape(d)}" ${attributes.filter(Boolean).join(" ")}/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const turn = style.rotate === undefined ? "" : ` transform="rotate(${style.rotate} ${fixed(x)} ${fixed(y)})"`;
    this.parts.push(
      `<text x="${fixed(x)}" y="${fixed(y)}" dominant-baseline="central" font-size="${style.size ?? SIZE}" ` +
        `font-weight="${style.weight ?? 400}" text-anchor="${style.anchor ?? "start"}" ` +
        `fill="${escape(style.fill)}"${turn}>${escape(text)}</text>`,
    );
  }

  raster(x: number, y: number, width: number, height: number, raster: Raster): void {
    const address = rasterCanvas(raster).toDataURL("image/png");
    this.parts.push(
      `<image ${this.box(x, y, width, height)} preserveAspectRatio="none" image-rendering="pixelated" href="${address}"/>`,
    );
  }

  clip(x: number, y: number, width: number, height: number, inside: () => void): void {
    this.clips += 1;
    const name = `clip${this.clips}`;
    this.parts.push(
      `<clipPath id="${name}"><rect ${this.box(x, y, width, height)}/></clipPath><g clip-path="url(#${name})">`,
    );
    inside();
    this.parts.push("</g>");
  }

  /** The whole document. */
  document(title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
      `viewBox="0 0 ${this.width} ${this.height}" font-family="${escape(FONT)}" role="img">` +
      `<title>${escape(title)}</title>${this.parts.join("")}</svg>\n`
    );
  }

  private box(x: number, y: number, width: number, height: number): string {
    return `x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}"`;
  }
}
