/** A run of 4,096 ranks, 1,000 objects and 100,000 lines stays quick; times are printed. */

import type { Page } from "@playwright/test";
import { serve, type Served } from "./fixture/server";
import { LARGE } from "./fixture/traffic";
import { drawn, expect, open, test } from "./page";

/** What the page may take until something is painted, in milliseconds. */
const FIRST_PAINT = 2000;
/** Frames of a second while the matrix is zoomed: a tenth of what two busy cores show. */
const FRAMES = 3;

let served: Served;
test.beforeAll(async () => {
  served = await serve(LARGE);
});
test.afterAll(() => served.close());

/** How often the page paints while `during` goes on, as frames of a second, at its median frame. */
async function frames(page: Page, during: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const times: number[] = [];
    const tick = (time: number) => {
      times.push(time);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    Object.assign(globalThis, { frameTimes: times });
  });
  await during();
  return page.evaluate(() => {
    const times = (globalThis as unknown as { frameTimes: number[] }).frameTimes;
    const gaps = times
      .slice(1)
      .map((time, index) => time - times[index]!)
      .sort((a, b) => a - b);
    return 1000 / gaps[Math.floor(gaps.length / 2)]!;
  });
}

test("the first paint is soon", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  expect(await drawn(page, "Traffic between places")).toBeGreaterThan(500);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]!.startTime);
  console.log(`first paint after ${paint.toFixed(0)} ms`);
  expect(paint).toBeLessThan(FIRST_PAINT);
});

test("zooming paints often enough", async ({ page }) => {
  await open(page, `${served.address}#/system?level=place`);
  const box = (await page.getByRole("img", { name: "Traffic between places" }).boundingBox())!;
  await page.mouse.move(box.x + 300, box.y + 300);
  const rate = await frames(page, async () => {
    for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, step < 40 ? -60 : 60);
  });
  console.log(`zooming at ${rate.toFixed(0)} frames per second`);
  expect(rate).toBeGreaterThan(FRAMES);
  await expect(page).toHaveURL(/rows=/);
});

test("waits of thousands of ranks are drawn soon, by node and by rank", async ({ page }) => {
  for (const [view, first] of [
    ["waits", "cn000 wait for cn000"],
    ["waits?level=place", /^ranks from 0 wait for ranks from 0$/],
  ] as const) {
    const begin = Date.now();
    await open(page, `${served.address}#/${view}`);
    expect(await drawn(page, "Who waits for whom"), view).toBeGreaterThan(500);
    console.log(`${view} after ${Date.now() - begin} ms`);
    await page.getByRole("img", { name: "Who waits for whom" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("heading", { name: first })).toBeVisible();
  }
});

test("long lists and sources scroll, and only what is in sight exists", async ({ page }) => {
  await open(page, `${served.address}#/code?file=1&line=50000`);
  const source = page.getByRole("listbox", { name: /Lines of/ });
  await expect(source.getByRole("option", { selected: true })).toContainText("50000");
  expect(await source.getByRole("option").count()).toBeLessThan(120);
  const rate = await frames(page, async () => {
    await source.hover();
    for (let step = 0; step < 40; step += 1) await page.mouse.wheel(0, 700);
  });
  console.log(`scrolling 100,000 lines at ${rate.toFixed(0)} frames per second`);
  expect(rate).toBeGreaterThan(FRAMES);
  await open(page, `${served.address}#/places`);
  const places = page.getByRole("listbox", { name: "Places" });
  await places.focus();
  await page.keyboard.press("End");
  await expect(places.getByRole("option", { selected: true })).toHaveAttribute(
    "aria-posinset",
    String(LARGE.ranks + 64 * LARGE.devices),
  );
});

test("objects of thousands of places are shown in pages", async ({ page }) => {
  await open(page, `${served.address}#/objects?object=0`);
  await expect(page.getByText("places 1–64 of 4,096")).toBeVisible();
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByText("places 65–128 of 4,096")).toBeVisible();
});
