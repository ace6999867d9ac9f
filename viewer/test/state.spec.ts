/** What needs no page: routes, numbers, matrices, bytes. */

import { expect, test } from "@playwright/test";
import { address } from "../src/api/answers";
import { coarsen, cut } from "../src/api/cut";
import { holds, lookUp } from "../src/api/embedded";
import type { Matrix, WaitMatrix } from "../src/api/types";
import { blockAt, shifted, spanOf, zoomed } from "../src/draw/matrix";
import { SvgPainter } from "../src/draw/painter";
import { amountScale, evenTicks } from "../src/draw/scale";
import { accessorsAt, columnsOf, parseShape, planeOf, touches, widened } from "../src/draw/strip";
import { bytes, count, exact, percent, seconds } from "../src/format";
import { follow, formatRoute, parseRoute, START } from "../src/state/route";
import { amount } from "../src/state/traffic";
import { tokens } from "../src/views/code/tokens";
import { inOrder, relative } from "../src/views/compare";
import { stacksOf } from "../src/views/timeline";
import { Fixture } from "./fixture/answers";
import { SMALL, total, trafficOf } from "./fixture/traffic";

const traffic = trafficOf(SMALL);
const fixture = new Fixture(traffic);
const matrix = fixture.answer("/api/matrix") as Matrix;
const sum = (one: Matrix) =>
  one.cells.reduce((sum, [, , cell]) => sum + amount(cell, [true, true, true, true], "bytes"), 0);

test("routes survive their address", () => {
  const route = {
    ...START,
    view: "objects" as const,
    unit: "count" as const,
    kinds: ["rma", "a b,c".replace(",", "")],
    states: ["late sender"],
    rows: [3, 9] as [number, number],
    object: 4,
    shape: [4, 5, 6],
    search: "ä & = ?#",
  };
  expect(parseRoute(formatRoute(route))).toEqual(route);
  expect(formatRoute(START)).toBe("#/system");
});

test("what an address says wrongly is as at the start", () => {
  expect(parseRoute("#/nowhere?unit=lumps&rows=5&time=1-2-3&object=-1&shape=0x4")).toEqual(START);
});

test("what belongs to a view stays behind, what belongs to an object with it", () => {
  const route = { ...START, form: "table", search: "x", object: 1, shape: [2, 2] };
  expect(follow(route, { view: "code" })).toMatchObject({ form: "figure", search: "", shape: [2, 2] });
  expect(follow(route, { object: 2 })).toMatchObject({ form: "table", shape: [] });
});

test("questions are spelled in one way", () => {
  expect(address("matrix", { rows: "0-3", cols: null, max: 32, file: 0 })).toBe("/api/matrix?file=0&max=32&rows=0-3");
});

test("numbers are rounded without running over", () => {
  expect([0, 1, 1023, 1024, 1536, 1048575, 1048576, 1.5 * 2 ** 40].map(bytes)).toEqual([
    "0 B",
    "1 B",
    "1023 B",
    "1.00 KiB",
    "1.50 KiB",
    "1.00 MiB",
    "1.00 MiB",
    "1.50 TiB",
  ]);
  expect([0, 9999, 10_000, 999_999, 1_234_567].map(count)).toEqual(["0", "9,999", "10.0 k", "1.00 M", "1.23 M"]);
  expect(exact(1, "bytes")).toBe("1 byte");
  expect(exact(1_572_864, "count")).toBe("1,572,864 transfers");
  expect([0, 1.5, 0.02, 0.000003].map(seconds)).toEqual(["0 s", "1.5 s", "20 ms", "3 µs"]);
  expect([0, 0.012, 0.5].map(percent)).toEqual(["0 %", "1.2 %", "50 %"]);
});

test("parts and coarser forms of a matrix keep its sums", () => {
  expect(sum(matrix)).toBe(total(traffic.rows).bytes);
  const coarse = coarsen(matrix, 5);
  expect(coarse.rows.length).toBeLessThanOrEqual(5);
  expect(sum(coarse)).toBe(sum(matrix));
  const part = cut(matrix, [2, 9], [0, 4]);
  expect(sum(part)).toBe(
    total(traffic.rows.filter((row) => row.source >= 2 && row.source <= 9 && row.target <= 4)).bytes,
  );
  expect(sum(coarsen(part, 2))).toBe(sum(part));
});

test("an export cuts what it was not made for out of what it holds", () => {
  const archive = { "/api/matrix": matrix };
  expect(lookUp(archive, "/api/matrix?cols=0-4&max=8&rows=2-9")).toEqual(cut(matrix, [2, 9], [0, 4]));
  expect(() => lookUp(archive, "/api/matrix?t0=1&t1=2")).toThrow(/commsan view/);
  expect(() => lookUp(archive, "/api/object/7")).toThrow(/commsan view/);
});

test("an export knows what it holds", () => {
  const archive = { "/api/matrix?max=32&object=3": matrix };
  // In the blocks that there are.
  expect(lookUp(archive, "/api/matrix?object=3")).toEqual(matrix);
  expect(holds(archive, "/api/matrix?cols=0-4&object=3&rows=2-9")).toBe(true);
  expect(holds(archive, "/api/matrix?object=4")).toBe(false);
  expect(holds(archive, "/api/selection?t0=0&t1=0")).toBe(false);
});

test("an export cuts waits out of what it holds", () => {
  const whole = fixture.answer("/api/waits") as WaitMatrix;
  const archive = { "/api/waits": whole };
  const { places } = traffic;
  const part = lookUp(archive, "/api/waits?cols=0-4&rows=2-9") as WaitMatrix;
  expect(part.rows.map((block) => block.label)).toEqual(
    places.filter(({ id, kind }) => kind === "rank" && id >= 2 && id <= 9).map(({ name }) => name),
  );
  const time = (matrix: WaitMatrix) =>
    matrix.cells.flatMap(([, , of]) => of).reduce((sum, [, , seconds]) => sum + seconds, 0);
  const wanted = fixture.waits.filter(({ at, by }) => at >= 2 && at <= 9 && by <= 4);
  expect(time(part)).toBeCloseTo(
    wanted.reduce((sum, wait) => sum + wait.seconds, 0),
    9,
  );
  expect(time(part)).toBeGreaterThan(0);
  expect(holds(archive, "/api/waits?level=node")).toBe(false);
  expect(holds(archive, "/api/waits/lines?cols=0-0&rows=1-1")).toBe(false);
});

test("compared places are in the order of the system", () => {
  const names = traffic.places.map((place) => place.name);
  expect(inOrder(names.toSorted(), traffic)).toEqual(names);
  expect(inOrder(["rank 10 of job 2", "rank 9 of job 2", ...names.toReversed()], traffic)).toEqual([
    ...names,
    "rank 9 of job 2",
    "rank 10 of job 2",
  ]);
  const nodes = traffic.nodes.map((node) => node.name);
  expect(inOrder(nodes.toReversed(), traffic)).toEqual(nodes);
});

test("windows of places stay within them", () => {
  expect(zoomed({ from: 0, to: 100 }, 0.5, 50, 100)).toEqual({ from: 25, to: 75 });
  expect(zoomed({ from: 0, to: 10 }, 20, 9, 100)).toEqual({ from: 0, to: 100 });
  expect(zoomed({ from: 5, to: 6 }, 0.1, 5.5, 100)).toEqual({ from: 5, to: 6 });
  expect(shifted({ from: 90, to: 100 }, 50, 100)).toEqual({ from: 90, to: 100 });
  expect(spanOf({ from: 2.5, to: 7.2 }, 100)).toEqual([2, 7]);
  expect(spanOf({ from: 0, to: 100 }, 100)).toBeNull();
  const blocks = [
    { label: "", first: 0, last: 3 },
    { label: "", first: 4, last: 4 },
    { label: "", first: 9, last: 12 },
  ];
  expect([0, 3.9, 4, 5, 9.5, 13].map((place) => blockAt(blocks, place))).toEqual([0, 0, 1, -1, 2, -1]);
});

test("scales go from the least amount to the most", () => {
  const scale = amountScale([0, 16, 1024, 65_536], "log");
  expect([scale.share(16), scale.share(1024), scale.share(65_536)].map((share) => Number(share.toFixed(6)))).toEqual([
    0, 0.5, 1,
  ]);
  expect(scale.ticks(3, "bytes").every((tick) => Number.isInteger(Math.log2(tick)))).toBe(true);
  expect(amountScale([], "log").share(1)).toBe(0);
  const near = amountScale([543, 551], "log");
  expect([near.least, near.share(543) > 0.95]).toEqual([0, true]);
  expect(evenTicks(64 * 1024, 4, "bytes")).toEqual([0, 16384, 32768, 49152, 65536]);
  expect(evenTicks(900, 4, "count")).toEqual([0, 200, 400, 600, 800]);
  expect(evenTicks(2, 4, "count")).toEqual([0, 1, 2]);
  expect(evenTicks(0.02, 4, "time")).toEqual([0, 0.005, 0.01, 0.015, 0.02]);
});

test("what an answer sums up stays the rest", () => {
  const series = [3, 1, 9, 2, 8, 4, 7, 5, 6].map((amount, index) => ({
    label: `rank ${index}`,
    counts: [1],
    bytes: [amount],
  }));
  const stacks = (more: typeof series) =>
    stacksOf({ width_seconds: 1, series: [...series, ...more], waiting: [], calls: [] }, "bytes", () => false);
  const sums = stacks([{ label: "others", counts: [50], bytes: [100] }]);
  expect(sums.slice(0, 2).map((stack) => stack.label)).toEqual(["rank 2", "rank 4"]);
  expect(sums.at(-1)).toEqual({ label: "others", values: [100 + 1 + 2] });
  expect(stacks([]).at(-1)).toEqual({ label: "2 others", values: [1 + 2] });
});

test("columns lose no piece", () => {
  const pieces = Float64Array.from({ length: 10 }, (_, index) => (index % 3 === 1 ? index : 0));
  expect([...columnsOf(pieces, 5)]).toEqual([1, 0, 4, 7, 0]);
  expect(columnsOf(pieces, 20)).toBe(pieces);
  // What stands alone is more than a hairline, and no gap is closed.
  expect([...widened(Float64Array.of(2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4), 1)]).toEqual([2, 2, 0, 0, 0, 3, 3, 3, 0, 4, 4]);
  expect([...widened(Float64Array.of(0, 2, 0, 0, 3, 4, 0), 1)]).toEqual([0, 2, 0, 0, 3, 4, 0]);
});

test("an SVG is XML whatever names hold", () => {
  const painter = new SvgPainter(10, 10);
  painter.text(0, 0, "a\u0001\u001b[31m<b> & \ud800", { fill: "red" });
  expect(painter.document('"\u0000"')).not.toMatch(/[\u0000-\u0008\u001b\ud800]/);
  expect(painter.document("")).toContain("&lt;b> &amp; ");
});

test("touches are those of the most touched byte of a piece", () => {
  expect([
    ...touches(
      [
        [0, 8, 2],
        [4, 8, 3],
      ],
      0,
      4,
      4,
    ),
  ]).toEqual([2, 5, 3, 0]);
  expect([
    ...touches(
      [
        [0, 4, 1],
        [4, 4, 1],
      ],
      0,
      8,
      1,
    ),
  ]).toEqual([1]);
  expect([...touches([[10, 1, 7]], 8, 4, 2)]).toEqual([7, 0]);
  expect([...touches([], 0, 4, 2)]).toEqual([0, 0]);
});

test("who touched a byte, and nobody else", () => {
  const { places } = fixture.answer("/api/object/0") as { places: { accessors: Parameters<typeof accessorsAt>[0] }[] };
  const all = places[0]!.accessors;
  const first = all[0]!.extents[0]!;
  expect(accessorsAt(all, first[0], first[0] + 1)).toContain(all[0]);
  expect(accessorsAt(all, 1 << 30, (1 << 30) + 1)).toEqual([]);
});

test("shapes are read as people write them, and have planes", () => {
  expect(["64x128", "64 × 128", "4, 5, 6", "100"].map(parseShape)).toEqual([[64, 128], [64, 128], [4, 5, 6], [100]]);
  expect(["", "0x4", "a", "1x2x3x4", "1.5x2"].map(parseShape)).toEqual([null, null, null, null, null]);
  expect(planeOf([3, 4, 5], 8, 2)).toEqual({ rows: 4, cols: 5, from: 2 * 4 * 5 * 8, element: 8 });
  expect(planeOf([3, 4, 5], 8, 9)?.from).toBe(2 * 4 * 5 * 8);
  expect(planeOf([1 << 13, 1 << 13], 8, 0)).toBeNull();
});

test("tokens lose no character, and comments go on", () => {
  for (const line of ['  x = "a // b"; // c', "/* a */ int b; /* c", "#include <mpi.h>", ""]) {
    expect(
      tokens(line, "c", false)
        .map((token) => token.text)
        .join(""),
    ).toBe(line);
  }
  expect(tokens("int a; /* b", "c", false).at(-1)?.open).toBe(true);
  expect(tokens("b */ int", "c", true).map((token) => token.kind)).toEqual(["comment", "text", "keyword"]);
  expect(tokens("call MPI_Send(u) ! halo", "fortran", false).map((token) => token.kind)).toEqual([
    "keyword",
    "text",
    "comment",
  ]);
});

test("changes are from all gone to all new", () => {
  expect([relative(1, 0), relative(2, 1), relative(5, 5), relative(1, 2), relative(0, 1), relative(0, 0)]).toEqual([
    -1, -0.5, 0, 0.5, 1, 0,
  ]);
});
