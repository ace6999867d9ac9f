/** Events over time: lanes, zoom, selection, whom a call waits for, the table that holds the
 * same. */

import { expect as is, test as unit } from "@playwright/test";
import type { Happened, Run } from "../src/api/types";
import { itemAt, itemsOf } from "../src/draw/lanes";
import { seconds } from "../src/format";
import { timeTicks } from "../src/views/events/figure";
import { around, moment, movedLanes, movedTime, zoomedLanes, zoomedTime } from "../src/views/events/window";
import { TIMES } from "./fixture/events";
import { serve, type Served } from "./fixture/server";
import { LINES, SMALL } from "./fixture/traffic";
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
    for (const view of ["events", `events?${STEP}&lane=1&at=2400000-5400000`, `events?form=table&${STEP}`]) {
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
  const first = details.getByRole("row").first();
  await expect(first).toContainText("wait at NxN");
  await expect(first).toContainText("3 ms");
  await first.getByRole("button", { name: "rank 0" }).click();
  await expect(page).toHaveURL(/window=\d+-\d+&lane=0&at=/);
  await expect(details).toContainText("wait at NxN: rank 15");
});

test("the table holds the events of the time and lanes shown", async ({ page }) => {
  const wanted = served.fixture.answer("/api/happened?from=0&to=32000000&lanes=0-3") as Happened;
  await open(page, `${served.address}#/events?form=table&${STEP}&lanes=0-3`);
  const table = page.getByRole("grid", { name: "Events" });
  await expect(table).toHaveAttribute("aria-rowcount", String(wanted.events.length + 1));
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
