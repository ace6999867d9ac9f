/**
 * commsan's own server and export, of a run that it has read itself.
 * `crates/viewer-server/tests/browser.rs` makes the run and sets these:
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Run } from "../src/api/types";
import { barriers, drawn, expect, open, test } from "./page";

const { COMMSAN_URL: url, COMMSAN_EXPORT: file } = process.env;
test.skip(url === undefined || file === undefined, "run by `cargo test -p commsan-viewer-server`");

const VIEWS = [
  "system",
  "system?form=graph",
  "system?form=table",
  "system?level=node",
  "system?rows=0-5&cols=0-5",
  "objects?object=0",
  "objects?object=0&form=shape",
  "objects?object=0&form=table",
  "code?file=0",
  "places?place=0",
  "timeline",
  "timeline?by=place",
  "timeline?of=object&object=0",
  "timeline?measure=time",
  "system?measure=time",
  "code?file=0&measure=time",
  "events",
  "events?path=on",
  "events?form=path",
  "waits",
  "waits?form=table",
  "waits?form=lines",
  "findings",
  "compare",
  "compare?form=table",
];

test("the server shows every view, asks nobody else, and lets nobody else ask", async ({ page, watched, request }) => {
  test.setTimeout(120_000);
  const address = url!.split("?")[0]!;
  expect((await request.get(`${address}api/run`)).status()).toBe(403);
  await page.goto(url!);
  await expect(page.locator("main")).toBeVisible();
  expect(page.url()).not.toContain("token");
  for (const view of VIEWS) {
    await open(page, `${address}#/${view}`);
    await expect(page.getByRole("alert"), view).toHaveCount(0);
    expect(await barriers(page), view).toEqual([]);
  }
  expect(watched.requests.filter((one) => !one.startsWith(address) && !/^(data|about|blob):/.test(one))).toEqual([]);
});

test("a line of the source leads to its traffic", async ({ page }) => {
  await page.goto(url!);
  await expect(page.locator("main")).toBeVisible();
  await page.keyboard.press("3");
  await page.getByRole("listbox", { name: /Lines of/ }).focus();
  await page.keyboard.press("n");
  await expect(page.getByRole("complementary", { name: "Line details" })).toContainText("transfers");
  expect(await drawn(page, "Between places")).toBeGreaterThan(50);
});

/** `tests/browser.rs`: ranks meet three times, each a millisecond later than the one before it. */
test("who waits for whom is what ranks have recorded, and the export holds it", async ({ page }) => {
  await page.goto(url!);
  await expect(page.locator("main")).toBeVisible();
  const server = url!.split("?")[0]!;
  const details = page.getByRole("complementary", { name: "Wait details" });
  for (const address of [server, pathToFileURL(file!).href]) {
    await open(page, `${address}#/waits?form=table`);
    const table = page.getByRole("grid", { name: "Who waits for whom" });
    await expect(table).toHaveAttribute("aria-rowcount", "16");
    for (const [row, rank, time] of [
      [1, 0, "45 ms"],
      [15, 14, "3 ms"],
    ] as const) {
      await expect(table.getByRole("row").nth(row)).toContainText(`rank ${rank}rank 15`);
      await expect(table.getByRole("row").nth(row)).toContainText(time);
    }
    await table.getByRole("row").nth(1).getByRole("gridcell").first().click();
    await expect(details.getByRole("heading", { name: "rank 0 waits for rank 15" })).toBeVisible();
    const line = details.getByRole("table", { name: "Lines that wait" }).getByRole("rowgroup");
    await expect(line).toContainText("3 waits, the longest 15 ms");
    await line.getByRole("button", { name: "15 ms" }).click();
    await expect(page).toHaveURL(/#\/events\?window=85000000-130000000/);
    await open(page, `${address}#/waits?form=lines`);
    await expect(page.getByRole("grid", { name: "Lines that wait" })).toHaveAttribute("aria-rowcount", "2");
  }
  // Limits::pairs of `tests/browser.rs`.
  await open(page, `${pathToFileURL(file!).href}#/waits?form=table`);
  await page.getByRole("grid").getByRole("row").nth(5).getByRole("gridcell").first().click();
  await expect(details).toContainText("This export does not hold the lines of this pair");
});

test("the export shows the same from a file, without any request", async ({ page, watched, request }) => {
  test.setTimeout(120_000);
  const address = pathToFileURL(file!).href;
  for (const view of VIEWS) {
    await open(page, `${address}#/${view}`);
    await expect(page.getByRole("alert"), view).toHaveCount(0);
  }
  const served = await request.get(`${url!.split("?")[0]!}api/run`, {
    headers: { "x-commsan-token": url!.split("token=")[1]! },
  });
  const run = (await served.json()) as Run;
  await open(page, `${address}#/objects`);
  await expect(page.getByRole("option").first()).toHaveAttribute("aria-setsize", String(run.objects.length));
  expect(
    watched.requests.filter(
      (one) => one !== address && !one.startsWith(`${address}#`) && !/^(data|about|blob):/.test(one),
    ),
  ).toEqual([]);
  expect(readFileSync(file!, "utf8")).toContain("default-src 'none'");
});

test("what an export does not hold cannot be selected", async ({ page }) => {
  const address = pathToFileURL(file!).href;
  await open(page, `${address}#/timeline`);
  await page.getByRole("img", { name: "Traffic over time" }).focus();
  for (const key of ["ArrowRight", "Shift+ArrowRight", "Enter"]) await page.keyboard.press(key);
  await expect(page).not.toHaveURL(/time=/);
  await open(page, `${address}#/timeline?of=object&object=0`);
  await expect(page.getByRole("radio", { name: "Source place" })).toBeDisabled();
  await open(page, `${address}#/timeline?form=table`);
  await page.getByRole("grid").getByRole("row").nth(1).click();
  await expect(page).not.toHaveURL(/time=/);
  // Limits::objects and places of `tests/browser.rs`.
  for (const [view, label] of [
    ["objects", /^Objects/],
    ["places", "Places"],
  ] as const) {
    await open(page, `${address}#/${view}`);
    const options = page.getByRole("listbox", { name: label }).getByRole("option");
    await expect(options.nth(3)).not.toHaveAttribute("aria-disabled", "true");
    await expect(options.nth(4)).toHaveAttribute("aria-disabled", "true");
    await options.nth(4).click({ force: true });
    await expect(page).toHaveURL(new RegExp(`#/${view}$`));
  }
  // What is linked is there.
  await open(page, `${address}#/objects?object=0`);
  await page.getByRole("button", { name: "Larger" }).click();
  await expect(page.getByRole("img", { name: "Traffic between places" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("what an export does not hold is said, with the way to it", async ({ page }) => {
  await open(page, `${pathToFileURL(file!).href}#/system?time=1-2`);
  await expect(page.getByRole("alert")).toContainText("commsan view");
});
