/** A drawing: sharp on every screen, redrawn when it must be, saved as PNG or SVG, described in
 * words. */

import type { ComponentChildren, DOMAttributes } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CanvasPainter } from "../draw/painter";
import { type Draw, savePng, saveSvg } from "../draw/save";
import { useShared } from "../state/context";

export interface Size {
  width: number;
  height: number;
}

/** The size that the element referred to has on screen. */
export function useSize<E extends HTMLElement>(): [{ current: E | null }, Size] {
  const element = useRef<E>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = target;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

type CanvasEvents = Pick<
  DOMAttributes<HTMLCanvasElement>,
  | "onKeyDown"
  | "onPointerDown"
  | "onPointerMove"
  | "onPointerUp"
  | "onPointerLeave"
  | "onPointerCancel"
  | "onDblClick"
  | "onClick"
>;

export interface FigureProps extends CanvasEvents {
  /** What it shows: heading and file name. */
  title: string;
  /** What a screen reader says of it, with the keys that work. */
  description: string;
  /** Fixed height in pixels; else all the room there is. */
  height?: number;
  draw: Draw;
  onSize?: (size: Size) => void;
  /** Called outside of passive listeners, so that the page need not scroll. */
  onWheel?: (event: WheelEvent) => void;
  /** Controls beside the title. */
  controls?: ComponentChildren;
  /** What lies over the drawing: highlights and tooltips. */
  children?: ComponentChildren;
}

export function Figure(props: FigureProps) {
  const { title, description, height, draw, onSize, onWheel, controls, children, ...events } = props;
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { run, palette } = useShared();
  useLayoutEffect(() => onSize?.(size), [onSize, size]);
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => paint(canvas.current, size, draw));
    return () => cancelAnimationFrame(frame);
  }, [draw, size]);
  useLayoutEffect(() => {
    const target = canvas.current;
    if (target === null || onWheel === undefined) return;
    target.addEventListener("wheel", onWheel, { passive: false });
    return () => target.removeEventListener("wheel", onWheel);
  }, [onWheel]);
  const name = `${run.name}-${title}`.replaceAll(/[^\w.-]+/g, "-").toLowerCase();
  const framed: Draw = (painter, width, height) => {
    painter.rect(0, 0, width, height, palette.surface);
    draw(painter, width, height);
  };
  return (
    <figure class={height === undefined ? "figure fill" : "figure"}>
      <figcaption>
        <h2>{title}</h2>
        {controls}
        <span class="spring" />
        <button type="button" class="quiet" onClick={() => savePng(name, framed, size.width, size.height)}>
          PNG
        </button>
        <button type="button" class="quiet" onClick={() => saveSvg(name, title, framed, size.width, size.height)}>
          SVG
        </button>
      </figcaption>
      <div class="drawing" ref={box} style={height === undefined ? undefined : { height: `${height}px` }}>
        <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${title}. ${description}`} {...events} />
        {children}
      </div>
    </figure>
  );
}

function paint(canvas: HTMLCanvasElement | null, { width, height }: Size, draw: Draw): void {
  const context = canvas?.getContext("2d");
  if (!canvas || !context || width === 0 || height === 0) return;
  const density = Math.max(1, devicePixelRatio);
  const [wide, high] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  draw(new CanvasPainter(context, density), width, height);
}

/** Where a pointer is, from the upper left corner of the drawing. */
export function within(event: MouseEvent): { x: number; y: number } {
  return { x: event.offsetX, y: event.offsetY };
}

/** A box with details beside a point of a drawing, within its bounds. */
export function Tooltip({ x, y, size, children }: { x: number; y: number; size: Size; children: ComponentChildren }) {
  const style: Record<string, string> = {};
  if (x > size.width / 2) style.right = `${size.width - x + 12}px`;
  else style.left = `${x + 12}px`;
  if (y > size.height / 2) style.bottom = `${size.height - y + 8}px`;
  else style.top = `${y + 12}px`;
  return (
    <div class="tooltip" style={style} aria-hidden="true">
      {children}
    </div>
  );
}
