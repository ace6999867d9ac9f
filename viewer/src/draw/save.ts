/** Figures as files. */

import { CanvasPainter, type Painter, SvgPainter } from "./painter";

/** Draws a figure of the given size in CSS pixels. */
export type Draw = (painter: Painter, width: number, height: number) => void;

export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download has its own reference once the click has been handled.
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function saveSvg(name: string, title: string, draw: Draw, width: number, height: number): void {
  const painter = new SvgPainter(width, height);
  draw(painter, width, height);
  download(`${name}.svg`, new Blob([painter.document(title)], { type: "image/svg+xml" }));
}

/** Twice the size on screen, for print. */
export function savePng(name: string, draw: Draw, width: number, height: number): void {
  const density = 2;
  const canvas = document.createElement("canvas");
  canvas.width = width * density;
  canvas.height = height * density;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(density, density);
  draw(new CanvasPainter(context, density), width, height);
  canvas.toBlob((content) => {
    if (content !== null) download(`${name}.png`, content);
  });
}

/** Rows as a table that spreadsheets read (RFC 4180). */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const cell = (value: string | number) => {
    // Spreadsheets would compute a name that begins like this.
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(cell).join(","));
  download(`${name}.csv`, new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
}
