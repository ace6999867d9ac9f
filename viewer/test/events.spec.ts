/** Events over time: lanes, zoom, selection, whom a call waits for, the table that holds the
 * same. */

import { expect as is, test as unit } from "@playwright/test";
import type { CriticalPath, Finding, Happened, Run } from "../src/api/types";
import { itemAt, itemsOf } from "../src/draw/lanes";
import { percent, seconds } from "../src/format";
import { timeTicks } from "../src/views/events/figure";
import { aroundMoment, lanesOf, nextPin, pinsOf } from "../src/views/events/pins";
import { around, moment, movedLanes, movedTime, zoomedLanes, zoomedTime } from "../src/views/events/window";
import { TIMES } from "./fixture/events";
import { serve, type Served } from "./fixture/server";
import { FOUND, LINES, SMALL } from "./fixture/traffic";
import { barriers, drawn, expect, open, test } from "./page";

let served: Served;
test.beforeAll(async () => {
  served = await serve(SMALL);
});
test.afterAll(() => served.close());

const STEP = "window=0-32000000";
const LANES = /Events over time/;

for (const scheme of ["light", "dark"] as const) {
  test(`no barriers, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    for (const view of [
      "events",
      "events?path=on",
      "events?form=path",
      `events?${STEP}&lane=1&at=2400000-5400000`,
      `events?form=table&${STEP}`,
    ]) {
      await open(page, `${served.address}#/${view}`);
      expect(await barriers(page), view).toEqual([]);
    }
  });
}

test("lanes are drawn, what is coarse and what was folded says so", async ({ page }) => {
  await open(page, `${served.address}#/events`);
  expect(await drawn(page, "Events over time")).toBeGreaterThan(5000);
  const colours = page.getByRole("list", { name: "Colours" });
  for (const text of ["collective", "waits in a collective", "heights: share of the time", "folded when recorded"]) {
    await expect(colours).toContainText(text);
  }
  await expect(page.getByText("had more events than room")).toBeVisible();
  await expect(colours).toContainText("512 messages are here; zoom in to see them");
  await open(page, `${served.address}#/events?${STEP}`);
  await expect(colours).toContainText("waits for a message");
  await expect(colours).not.toContainText("zoom in to see them");
});

test("an event tells its line, peer, bytes, duration, and whom it waits for", async ({ page }) => {
  await open(page, `${served.address}#/events?${STEP}`);
  const canvas = page.getByRole("img", { name: LANES });
  await canvas.focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  const details = page.getByRole("complementary", { name: "Event details" });
  await expect(page).toHaveURL(/lane=1&at=2000000-2400000/);
  for (const text of ["MPI_Isend", `halo.c:${LINES.send}`, "rank 2", "4.00 KiB", seconds(TIMES.send / 1e9), "tag 7"]) {
    await expect(details).toContainText(text);
  }
  await page.keyboard.press("ArrowRight");
  await expect(details).toContainText("MPI_Waitall");
  await expect(details).toContainText("Waits 1 ms");
  await expect(details).toContainText("late sender: rank 0");
  await expect(details).toContainText("exchange_halo");
  await page.keyboard.press("ArrowRight");
  await expect(details).toContainText("of 16 ranks");
  await expect(details).toContainText("wait at NxN: rank 15");
  await expect(page.locator("[aria-live]").filter({ hasText: "rank 1: MPI_Allreduce" })).toBeAttached();
  const address = page.url();
  await details.getByRole("button", { name: "Show what is late" }).click();
  await expect(page).toHaveURL(/lane=15&at=13000000-13000001/);
  await expect(details.getByRole("heading", { name: "MPI_Allreduce" })).toBeVisible();
  await open(page, address);
  await expect(details).toContainText("wait at NxN: rank 15");
  await details
    .getByRole("button", { name: `halo.c:${LINES.reduce}` })
    .first()
    .click();
  await expect(page).toHaveURL(new RegExp(`/code\\?.*line=${LINES.reduce}`));
});

test("findings are pinned at their moment, and lead to the finding and back", async ({ page }) => {
  await open(page, `${served.address}#/events?${STEP}&lanes=0-3`);
  const canvas = page.getByRole("img", { name: LANES });
  const details = page.getByRole("complementary", { name: "Event details" });
  await expect(details).toContainText("Findings here");
  await expect(details).toContainText("CS-BUF-01 rank 1");
  const box = (await canvas.boundingBox())!;
  // The figure's margins, and the middle of a glyph in the first lane.
  const x = 96 + (FOUND / 32e6) * (box.width - 96 - 12);
  const at = { x: box.x + x, y: box.y + 6 + 8 };
  await page.mouse.move(at.x, at.y);
  await expect(page.locator(".tooltip")).toContainText("CS-BUF-01: write to the buffer of a pending send");
  await expect(page.locator(".tooltip")).toContainText("found by rank 0 at 0.00600 s");
  await page.mouse.click(at.x, at.y);
  await expect(page).toHaveURL(/lane=0&finding=0/);
  for (const text of ["`pack_column` writes 8 bytes", "MPI_Isend starts to read", "complete the request"]) {
    await expect(details).toContainText(text);
  }
  await canvas.focus();
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/lane=1&finding=0/);
  await expect(page.locator(".drawing [aria-live]")).toContainText("found by rank 1 at 0.00620 s");
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/lane=2&finding=1/);
  // It was not in sight.
  await expect(page).toHaveURL(/window=24000000-56000000/);
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/lane=0&finding=0/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/findings\?.*finding=0/);
  const card = page.getByRole("article").filter({ hasText: "CS-BUF-01" });
  await expect(card).toHaveAttribute("aria-current", "true");
  await expect(page.getByRole("article").filter({ hasText: "CS-RMA-03" })).not.toHaveAttribute("aria-current");
  await expect(card.getByRole("listitem")).toHaveText(["at 0.006000 s by rank 0", "at 0.006200 s by rank 1"]);
  await card.getByRole("button", { name: "at 0.006200 s" }).click();
  await expect(page).toHaveURL(/#\/events\?window=\d+-\d+&lane=1&finding=0/);
  await expect(details).toContainText("write");
});

test("what is concluded after the run is at the moment of its calls", async ({ page }) => {
  const run = served.fixture.run;
  const findings = run.findings.map(({ moments, ...finding }, index): Finding => ({
    ...finding,
    moments: moments.map((one) => ({ ...one, what: index === 0 ? "called" : "stuck" })),
  }));
  await page.route("**/api/run", (route) => route.fulfill({ json: { ...run, findings } satisfies Run }));
  await open(page, `${served.address}#/events?${STEP}`);
  await page.getByRole("img", { name: LANES }).focus();
  await page.keyboard.press("n");
  const told = page.locator(".drawing [aria-live]");
  await expect(told).toContainText("called by rank 0 at 0.00600 s");
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await expect(told).toContainText("rank 2 stands still from 0.04");
  await page.keyboard.press("Enter");
  const stuck = page.getByRole("article").filter({ hasText: "CS-RMA-03" });
  await expect(stuck).toContainText("stands still");
  await expect(stuck.getByRole("listitem")).toHaveText(["from 0.040000 s: rank 2"]);
  await expect(page.getByRole("article").filter({ hasText: "CS-BUF-01" }).getByRole("listitem")).toHaveText([
    "at 0.006000 s by rank 0",
    "at 0.006200 s by rank 1",
  ]);
});

test("the table holds findings between the events", async ({ page }) => {
  await open(page, `${served.address}#/events?form=table&${STEP}&lanes=0-3`);
  const row = page.getByRole("grid", { name: "Events" }).getByRole("row").filter({ hasText: "CS-BUF-01" });
  await expect(row).toHaveCount(2);
  await expect(row.first()).toContainText(`halo.c:${LINES.send}`);
  await row.last().getByRole("gridcell").first().click();
  await expect(page).toHaveURL(/lane=1&finding=0/);
  await expect(page.getByRole("complementary", { name: "Event details" })).toContainText("pack_column");
});

test("the critical path is marked, summed up, and told as tables", async ({ page }) => {
  const wanted = served.fixture.answer("/api/critical") as CriticalPath;
  await open(page, `${served.address}#/events?${STEP}`);
  const canvas = page.getByRole("img", { name: LANES });
  const details = page.getByRole("complementary", { name: "Event details" });
  const dark = () =>
    canvas.evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const pixels = new Uint32Array(
        (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data.buffer,
      );
      // --text of the light theme.
      return pixels.filter((pixel) => pixel === 0xff261f1a).length;
    });
  await drawn(page, "Events over time");
  const before = await dark();
  await canvas.focus();
  await page.keyboard.press("c");
  await expect(page).toHaveURL(/path=on/);
  await expect(page.getByRole("button", { name: "Mark critical path" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("list", { name: "Colours" })).toContainText("critical path");
  // The band is four pixels high, and as long as the figure is wide.
  const box = (await canvas.boundingBox())!;
  await expect.poll(dark).toBeGreaterThan(before + 3 * (box.width - 120));
  const byRank = details.getByRole("table", { name: "Critical path by rank" });
  await expect(byRank.getByRole("row")).toHaveCount(wanted.by_place.length);
  const all = (wanted.end - wanted.begin) / 1e9;
  const first = wanted.by_place[0]!;
  await expect(byRank.getByRole("row").first()).toContainText(percent((first.calls + first.own) / all));
  await expect(details.getByRole("table", { name: "Critical path by call" })).toContainText("before MPI_Allreduce");
  await details.getByRole("button", { name: "All of it, as tables" }).click();
  await expect(page).toHaveURL(/form=path/);
  for (const [title, count] of [
    ["Critical path by rank", wanted.by_place.length],
    ["Critical path by call", wanted.by_call.length],
    ["Parts of the critical path", wanted.parts.length],
  ] as const) {
    await expect(page.getByRole("grid", { name: title })).toHaveAttribute("aria-rowcount", String(count + 1));
  }
  await expect(page.locator("main")).toContainText("1000 longest waits");
  const part = page.getByRole("grid", { name: "Parts of the critical path" }).getByRole("row").nth(1);
  await expect(part).toContainText("rank 15");
  await part.getByRole("gridcell").first().click();
  await expect(page).toHaveURL(/path=on/);
  await expect(page).toHaveURL(/lane=15/);
  await expect(page.getByRole("img", { name: LANES })).toBeVisible();
});

unit("moments of findings are in the lane of their thread, and are walked in both directions", () => {
  const lanes = {
    lanes: [
      { place: 3, thread: 0 },
      { place: 3, thread: 2 },
      { place: 5, thread: null },
    ],
    classes: [],
    until: 100,
    events: 0,
    notes: [],
  };
  const laneOf = lanesOf(lanes);
  is([laneOf(3, 2), laneOf(3, 1), laneOf(5, 4), laneOf(4, 0)]).toEqual([1, 0, 2, null]);
  const moments = (...of: [place: number, thread: number, time: number][]) =>
    ({ moments: of.map(([place, thread, time]) => ({ place, thread, time, what: "found" })) }) as Finding;
  const pins = pinsOf([moments([5, 0, 70], [4, 0, 1]), moments([3, 2, 20], [3, 0, 400])], lanes);
  is(pins.map(({ finding, lane, time }) => [finding, lane, time])).toEqual([
    [1, 1, 20],
    [0, 2, 70],
    [1, 0, 100],
  ]);
  is(nextPin(pins, 1, null, 30)).toBe(pins[1]);
  is(nextPin(pins, -1, null, 30)).toBe(pins[0]);
  is(nextPin(pins, 1, pins[1]!, 0)).toBe(pins[2]);
  is(nextPin(pins, -1, pins[0]!, 0)).toBeNull();
  is(aroundMoment(10_000, 1_000_000)).toEqual([5_000, 15_000]);
  is(aroundMoment(0, 1_000)).toEqual([0, 500]);
});

test("keys and the wheel zoom from the whole run to microseconds and back", async ({ page }) => {
  await open(page, `${served.address}#/events`);
  const canvas = page.getByRole("img", { name: LANES });
  await canvas.focus();
  for (let step = 0; step < 40; step += 1) await page.keyboard.press("+");
  const length = () => {
    const [, from, to] = /window=(\d+)-(\d+)/.exec(page.url())!;
    return Number(to) - Number(from);
  };
  expect(length()).toBeLessThan(1000);
  await page.keyboard.press("Backspace");
  await expect(page).not.toHaveURL(/window=/);
  const box = (await canvas.boundingBox())!;
  await page.mouse.move(box.x + 400, box.y + 100);
  await page.mouse.wheel(0, -600);
  await expect(page).toHaveURL(/window=/);
  expect(length()).toBeLessThan(0.5 * 1.024e9);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 400, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 90, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect(page).toHaveURL(/window=\d+-\d+&lanes=\d-\d/);
});

test("many calls in a bin are told by the longest, and lead to each", async ({ page }) => {
  await open(page, `${served.address}#/events?lane=3&at=16000000-17000000`);
  const details = page.getByRole("complementary", { name: "Event details" });
  await expect(details).toContainText(`${TIMES.asks} events of rank 3`);
  await details.getByRole("button", { name: "MPI_Test" }).first().click();
  await expect(details.getByRole("heading", { name: "MPI_Test" })).toBeVisible();
  await expect(details).toContainText(seconds(TIMES.ask / 1e9));
});

test("the longest waits are listed, and lead to their moment", async ({ page }) => {
  await open(page, `${served.address}#/events`);
  const details = page.getByRole("complementary", { name: "Event details" });
  const first = details.getByRole("row").filter({ hasText: "rank 15" }).first();
  await expect(first).toContainText("wait at NxN");
  await expect(first).toContainText("3 ms");
  await first.getByRole("button", { name: "rank 0" }).click();
  await expect(page).toHaveURL(/window=\d+-\d+&lane=0&at=/);
  await expect(details).toContainText("wait at NxN: rank 15");
});

/** With the two moments of a finding. */
test("the table holds the events of the time and lanes shown", async ({ page }) => {
  const wanted = served.fixture.answer("/api/happened?from=0&to=32000000&lanes=0-3") as Happened;
  await open(page, `${served.address}#/events?form=table&${STEP}&lanes=0-3`);
  const table = page.getByRole("grid", { name: "Events" });
  await expect(table).toHaveAttribute("aria-rowcount", String(wanted.events.length + 2 + 1));
  await table.getByRole("button", { name: "waiting" }).click();
  const first = table.getByRole("row").nth(1);
  await expect(first).toContainText("rank 15 (wait at NxN)");
  await first.getByRole("gridcell").first().click();
  await expect(page.getByRole("complementary", { name: "Event details" })).toContainText("MPI_Allreduce");
  await open(page, `${served.address}#/events?form=table`);
  await expect(page.getByText("the longest of")).toBeVisible();
});

test("a run without events says so", async ({ page }) => {
  const run = served.fixture.run;
  await page.route("**/api/run", (route) => route.fulfill({ json: { ...run, waiting: null } satisfies Run }));
  await open(page, `${served.address}#/events`);
  await expect(page.getByText("recorded without events")).toBeVisible();
});

test.describe("a thousand lanes", () => {
  test("share rows, and are drawn soon", async ({ page }) => {
    const many = Array.from({ length: 1000 }, (_, lane) => ({ place: lane % 16, thread: lane }));
    await page.route("**/api/lanes", (route) =>
      route.fulfill({ json: { ...served.fixture.events.lanes, lanes: many } }),
    );
    await page.route("**/api/events*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      const rows = Number(query.get("rows"));
      // As the server does.
      const bins = Math.min(Number(query.get("width")), Math.floor(65_536 / rows));
      const size = Math.ceil(1000 / rows);
      const busy = (row: number) =>
        Array.from({ length: bins }, (_, bin) => [bin, 1, row % 3, (bin * 7) % 1000, (bin * 3) % 500, 1, 9, 0]);
      const all = Array.from({ length: Math.ceil(1000 / size) }, (_, row) => ({
        lanes: [row * size, Math.min(999, row * size + size - 1)],
        slices: [],
        coarse: busy(row),
        regions: [],
      }));
      const none = { messages: [], more_messages: 9e6, meetings: [], more_meetings: 0, waits: [], names: [] };
      return route.fulfill({ json: { from: 0, to: 1.024e9, bins, rows: all, ...none } });
    });
    await open(page, `${served.address}#/events`);
    expect(await drawn(page, "Events over time")).toBeGreaterThan(100_000);
    const canvas = page.getByRole("img", { name: LANES });
    await canvas.focus();
    const before = Date.now();
    for (const key of ["+", "+", "Shift+ArrowRight", "-"]) await page.keyboard.press(key);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const spent = (Date.now() - before) / 4;
    console.log(`zooming a thousand lanes: ${spent.toFixed(0)} ms a step`);
    expect(spent).toBeLessThan(3000);
  });
});

unit("time and lanes are zoomed and moved within the run", () => {
  is(zoomedTime([0, 1000], 0.5, 250, 1000)).toEqual([125, 625]);
  is(zoomedTime([125, 625], 4, 250, 1000)).toEqual([0, 1000]);
  is(zoomedTime([500, 600], 0.1, 550, 1000)).toEqual([500, 600]);
  is(movedTime([100, 300], 900, 1000)).toEqual([800, 1000]);
  is(movedTime([100, 300], -900, 1000)).toEqual([0, 200]);
  is(zoomedLanes([0, 99], 0.5, 10, 100)).toEqual([5, 54]);
  is(zoomedLanes([5, 5], 0.5, 5, 100)).toEqual([5, 5]);
  is(zoomedLanes([5, 5], 1.1, 5, 100)).toEqual([5, 6]);
  is(movedLanes([90, 99], 20, 100)).toEqual([90, 99]);
  is(around(1000, 2000, 10_000)).toEqual([0, 3000]);
});

unit("moments have the digits that tell neighbours apart", () => {
  is([moment(1_234_567_890, 1000, 2e9), moment(1_500_000, 100_000, 2e6)]).toEqual(["1.234568 s", "1.5 ms"]);
  const { at, step } = timeTicks([1050, 2010], 5);
  is([at, step]).toEqual([[1200, 1400, 1600, 1800, 2000], 200]);
});

unit("a point finds the call, else the bins", () => {
  const row = {
    lanes: [0, 0] as [number, number],
    slices: [[100, 300, 0, 0, 50, 1] as [number, number, number, number, number, number]],
    coarse: [[2, 2, 1, 500, 0, 0, 9, 0] as [number, number, number, number, number, number, number, number]],
    regions: [],
  };
  const answer = {
    from: 0,
    to: 1000,
    bins: 10,
    names: ["MPI_Send"],
    rows: [row],
    messages: [],
    meetings: [],
    waits: [],
    path: [],
  };
  const all = { ...answer, more_messages: 0, more_meetings: 0 };
  is(itemsOf(all, row).map((item) => [item.begin, item.end])).toEqual([
    [100, 300],
    [200, 400],
  ]);
  is(itemAt(all, row, 250, 0)?.slice?.[0]).toBe(100);
  is(itemAt(all, row, 350, 0)?.coarse?.[6]).toBe(9);
  is(itemAt(all, row, 900, 0)).toBeNull();
});
