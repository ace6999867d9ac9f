/** Every view: its content, its table, its keys, its address, what assistive technology gets of
 * it. */

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import type { KindTotal, ObjectDetail, PlaceDetail, Run, Selection, TimelineDetail } from "../src/api/types";
import { bytes, count, quantity, seconds } from "../src/format";
import { secondsIn } from "./fixture/answers";
import { serve, type Served } from "./fixture/server";
import { LINES, SMALL, total } from "./fixture/traffic";
import { barriers, drawn, expect, open, test } from "./page";

let served: Served;
test.beforeAll(async () => {
  served = await serve(SMALL, true);
});
test.afterAll(() => served.close());

const VIEWS = [
  "system",
  "system?form=graph",
  "system?form=table",
  "objects?object=0",
  "objects?object=0&form=shape",
  "objects?object=0&form=table",
  "code?file=0&line=31",
  "code?file=2",
  "places?place=0",
  "timeline",
  "timeline?form=table",
  "timeline?measure=time",
  "system?measure=time",
  "events",
  "waits",
  "findings",
  "findings?form=table",
  "compare",
  "compare?form=table",
];

for (const scheme of ["light", "dark"] as const) {
  test(`no barriers in any view, ${scheme}`, async ({ page, watched }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme: scheme });
    for (const view of VIEWS) {
      await open(page, `${served.address}#/${view}`);
      expect(await barriers(page), view).toEqual([]);
    }
    const elsewhere = watched.requests.filter(
      (url) => !url.startsWith(served.address) && !/^(data|about|blob):/.test(url),
    );
    expect(elsewhere).toEqual([]);
  });
}

test("figures of every view are drawn", async ({ page }) => {
  const figures = [
    ["system", "Traffic between places"],
    ["system?form=graph", "Traffic as a graph"],
    ["objects?object=0", "Bytes of u"],
    ["objects?object=0&form=shape&place=0", "u at rank 0, 64 × 128"],
    ["code?file=0&line=31", "Between places"],
    ["timeline", "Traffic over time"],
    ["waits", "Who waits for whom"],
    ["compare", "Change between places"],
  ] as const;
  for (const [view, title] of figures) {
    await open(page, `${served.address}#/${view}`);
    expect(await drawn(page, title), view).toBeGreaterThan(500);
  }
});

test("the matrix is walked, asked and zoomed by keys, and the address follows", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  await page.getByRole("img", { name: "Traffic between places" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const own = served.fixture.traffic.rows.filter((row) => row.source === 0 && row.target === 1);
  const details = page.getByRole("complementary", { name: "Details" });
  await expect(details).toContainText("rank 0 → rank 1");
  await expect(details).toContainText(bytes(total(own).bytes));
  await page.keyboard.press("+");
  await expect(page).toHaveURL(/rows=\d+-\d+&cols=\d+-\d+/);
  await page.keyboard.press("Backspace");
  await expect(page).not.toHaveURL(/rows=/);
});

test("the wheel zooms and a rectangle zooms, both come back", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  const canvas = page.getByRole("img", { name: "Traffic between places" });
  const box = (await canvas.boundingBox())!;
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.wheel(0, -400);
  await expect(page).toHaveURL(/rows=/);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(page).not.toHaveURL(/rows=/);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 160, box.y + 150);
  await page.mouse.down();
  await page.mouse.move(box.x + 260, box.y + 250, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect(page).toHaveURL(/rows=1-5&cols=1-5/);
});

test("the table holds what the matrix holds", async ({ page }) => {
  await open(page, `${served.address}#/system?form=table`);
  const pairs = new Set(served.fixture.traffic.rows.map((row) => `${row.source} ${row.target}`));
  await expect(page.getByRole("grid", { name: "Traffic between places" })).toHaveAttribute(
    "aria-rowcount",
    String(pairs.size + 1),
  );
  await page.getByRole("button", { name: "host-to-device" }).click();
  const rest = new Set(
    served.fixture.traffic.rows.filter((row) => row.kind !== 3).map((row) => `${row.source} ${row.target}`),
  );
  await expect(page.getByRole("grid", { name: "Traffic between places" })).toHaveAttribute(
    "aria-rowcount",
    String(rest.size + 1),
  );
});

test("one search finds all that has a name, and leads there", async ({ page }) => {
  const cases = [
    ["rank 3", "Places", "rank 3", /#\/places\?place=3/],
    ["halo window", "Objects", "halo", /#\/objects\?object=2/],
    [`halo.c:${LINES.reduce}`, "Lines", `halo.c:${LINES.reduce}`, new RegExp(`#/code\\?file=0&line=${LINES.reduce}`)],
    ["EXCHANGE_h", "Functions", "exchange_halo", new RegExp(`#/code\\?file=0&line=${LINES.send}`)],
    ["mpi_isend halo.c", "Calls", "MPI_Isend", new RegExp(`#/code\\?file=0&line=${LINES.send}`)],
    ["MPI_Waitall", "Calls", "MPI_Waitall", /#\/timeline\?measure=time/],
    ["generated", "Files", "generated.c", /#\/code\?file=1$/],
    ["pending send", "Findings", "CS-BUF-01 write to the buffer of a pending send", /#\/findings\?finding=0/],
  ] as const;
  for (const [query, subject, text, address] of cases) {
    await open(page, `${served.address}#/system`);
    await page.keyboard.press("/");
    const box = page.getByRole("combobox", { name: "Search everything" });
    await expect(box).toBeFocused();
    await box.fill(query);
    const option = page
      .getByRole("group", { name: subject })
      .getByRole("option")
      .filter({ has: page.getByText(text, { exact: true }) })
      .first();
    await expect(option, query).toBeVisible();
    // By keys alone: the chosen option is what the input says it is.
    const wanted = (await option.getAttribute("id"))!;
    for (let step = 0; step < 40 && (await box.getAttribute("aria-activedescendant")) !== wanted; step += 1) {
      await page.keyboard.press("ArrowDown");
    }
    await expect(option).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("Enter");
    await expect(box).toHaveCount(0);
    await expect(page, query).toHaveURL(address);
  }
});

test("the search says what it finds, and leaves everything as it was", async ({ page }) => {
  await open(page, `${served.address}#/objects?object=1`);
  const before = page.url();
  await page.getByRole("button", { name: "Search" }).first().click();
  const status = page.getByRole("dialog").getByRole("status");
  await expect(status).toContainText("Enter opens");
  expect(await barriers(page)).toEqual([]);
  const box = page.getByRole("combobox", { name: "Search everything" });
  await box.fill("rank");
  await expect(page.getByRole("group", { name: "Places" }).getByRole("option")).toHaveCount(6);
  await expect(page.getByRole("group", { name: "Places" })).toContainText("10 more");
  await expect(status).toContainText("16 found");
  expect(await barriers(page)).toEqual([]);
  await box.fill("nothing like it");
  await expect(status).toContainText("Nothing has this name");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect(box).toHaveCount(0);
  expect(page.url()).toBe(before);
});

test("what is searched for is in the address, and is found again by going back", async ({ page }) => {
  await open(page, `${served.address}#/objects?object=1`);
  const box = page.getByRole("combobox", { name: "Search everything" });
  await page.keyboard.press("/");
  await box.fill("rank 3");
  await expect(page).toHaveURL(/#\/objects\?object=1&find=rank%203$/);
  await page.reload();
  await expect(box).toHaveValue("rank 3");
  await expect(box).toBeFocused();
  await expect(page.getByRole("dialog").getByRole("status")).toContainText("found");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/places\?object=1&place=3$/);
  await expect(box).toHaveCount(0);
  await page.goBack();
  await expect(box).toHaveValue("rank 3");
  // An empty field is no reason to leave.
  await box.fill("");
  await expect(page).toHaveURL(/#\/objects\?object=1$/);
  await expect(box).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(box).toHaveCount(0);
});

test("an address restores everything", async ({ page, context }) => {
  await open(page, `${served.address}#/system`);
  await page.getByRole("radio", { name: "Transfers" }).click();
  await page.getByRole("button", { name: "collective" }).click();
  await page.keyboard.press("2");
  await page.getByRole("option", { name: /^halo/ }).click();
  await page.getByRole("radio", { name: "Table" }).click();
  const before = await page.locator("main").ariaSnapshot();
  const other = await context.newPage();
  await open(other, page.url());
  expect(await other.locator("main").ariaSnapshot()).toBe(before);
  await expect(other.getByRole("button", { name: "collective" })).toHaveAttribute("aria-pressed", "false");
  await page.goBack();
  await expect(page.getByRole("radio", { name: "Strips" })).toHaveAttribute("aria-checked", "true");
});

test("from a finding to its line, object and call path in three clicks", async ({ page }) => {
  await open(page, `${served.address}#/findings`);
  await page.getByRole("article").filter({ hasText: "CS-BUF-01" }).getByRole("button", { name: "halo.c:31" }).click();
  const details = page.getByRole("complementary", { name: "Line details" });
  await expect(details).toContainText("CS-BUF-01");
  const line = served.fixture.traffic.rows.filter((row) => row.file === 0 && row.line === LINES.send);
  await expect(details.getByText(bytes(total(line).bytes)).first()).toBeVisible();
  await expect(details).toContainText("exchange_halo");
  await details.getByRole("button", { name: "u", exact: true }).first().click();
  await expect(page.getByRole("option", { name: /^u findings/ })).toHaveAttribute("aria-selected", "true");
});

test("findings say how bad they are, and are found by it", async ({ page }) => {
  await open(page, `${served.address}#/findings`);
  await expect(page.getByRole("article").filter({ hasText: "CS-BUF-01" })).toContainText("error");
  await page.getByRole("searchbox", { name: "Search findings" }).fill("warning");
  await expect(page.getByRole("article")).toHaveCount(1);
  await expect(page.getByRole("article")).toContainText("CS-RMA-03");
});

test("source lines are walked by keys", async ({ page }) => {
  await open(page, `${served.address}#/code?file=0&line=31`);
  await page.keyboard.press("n");
  await expect(page).toHaveURL(new RegExp(`line=${LINES.reduce}`));
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(new RegExp(`line=${LINES.reduce + 1}`));
  await page.keyboard.press("p");
  await expect(page).toHaveURL(new RegExp(`line=${LINES.reduce}`));
});

test("a missing source still shows its lines with traffic, and says why", async ({ page }) => {
  await open(page, `${served.address}#/code?file=2`);
  await expect(page.getByText("is not on this machine")).toBeVisible();
});

test("bytes of an object are told at the point, and laid out in a shape of one's own", async ({ page }) => {
  await open(page, `${served.address}#/objects?object=0`);
  await page.getByRole("img", { name: /Bytes of u/ }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("[aria-live]").filter({ hasText: "rank 1, offset" })).toBeAttached();
  await page.keyboard.press("Enter");
  const shape = page.getByLabel("Shape", { exact: false }).and(page.locator("input"));
  await shape.fill("32 x 256");
  await shape.press("Enter");
  await expect(page).toHaveURL(/shape=32x256/);
  await expect(page.getByText("u at rank 1, 32 × 256")).toBeVisible();
  await shape.fill("many");
  await shape.press("Enter");
  await expect(page.getByText("Give one to three sizes")).toBeVisible();
});

/** How many stripes of other colours than the most common one a row of pixels of a figure has,
 * between two margins. */
async function stripes(page: Page, title: RegExp, from: number, to: number, y: number): Promise<number> {
  const canvas = page.getByRole("img", { name: title }).and(page.locator("canvas"));
  await expect(canvas).toBeVisible();
  return canvas.evaluate(
    (element, [from, to, y]) => {
      const canvas = element as HTMLCanvasElement;
      const row = canvas.getContext("2d")!.getImageData(from!, y!, canvas.width - to! - from!, 1).data;
      const pixels = [...new Uint32Array(row.buffer)];
      const most = pixels.toSorted().at(pixels.length >> 1);
      return pixels.filter((pixel, index) => pixel !== most && (index === 0 || pixels[index - 1] === most)).length;
    },
    [from, to, y],
  );
}

test("what is thinner than a pixel is drawn", async ({ page }) => {
  const touched = Array.from({ length: 60 }, (_, index) => [index * 1096 + 80, 8, 5]);
  await page.route("**/api/object/0*", async (route) => {
    const answer = served.fixture.answer("/api/object/0") as ObjectDetail;
    const [place] = answer.places;
    const accessors = [{ ...place!.accessors[0]!, kind: 0, extents: touched }];
    await route.fulfill({ json: { ...answer, places: [{ ...place, accessors }] } });
  });
  await page.setViewportSize({ width: 1100, height: 800 });
  await open(page, `${served.address}#/objects?object=0`);
  expect(await stripes(page, /Bytes of u/, 112, 116, 40)).toBe(60);
  await open(page, `${served.address}#/objects?object=0&form=shape&shape=1x8192`);
  expect(await stripes(page, /1 × 8192/, 64, 116, 40)).toBe(60);
});

test("time selected in the timeline restricts the matrix", async ({ page }) => {
  await open(page, `${served.address}#/timeline`);
  const chart = page.getByRole("img", { name: "Traffic over time" });
  await chart.focus();
  for (const key of ["ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
  await expect(page).toHaveURL(/time=0-2/);
  const asked = page.waitForResponse((response) => response.url().includes("t0=0&t1=2"));
  await page.keyboard.press("1");
  await asked;
  await expect(page.getByText("0 s to 48 ms").first()).toBeVisible();
  await page.getByRole("button", { name: "Show all of the time" }).click();
  await expect(page).not.toHaveURL(/time=/);
});

test("figures are saved as PNG and SVG, tables as CSV", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  const save = async (name: string) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).first().click();
    const download = await waiting;
    return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
  };
  const svg = await save("SVG");
  expect(svg.name).toBe("stencil.commsan-traffic-between-places.svg");
  expect(svg.content.toString()).toMatch(/^<svg [^>]*>.*rank 15.*<\/svg>\s*$/s);
  const png = await save("PNG");
  expect(png.content.subarray(1, 4).toString()).toBe("PNG");
  expect(png.content.length).toBeGreaterThan(5000);
  await page.getByRole("radio", { name: "Table" }).click();
  const csv = (await save("CSV")).content.toString().trim().split("\r\n");
  expect(csv[0]).toBe("source,target,kinds,transfers,bytes");
  const sum = csv.slice(1).reduce((sum, row) => sum + Number(row.split(",").at(-1)), 0);
  expect(sum).toBe(total(served.fixture.traffic.rows).bytes);
});

test("theme, help and focus", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole("radio", { name: "Dark" }).click();
  expect(await background()).not.toBe(light);
  await page.reload();
  await expect(page.locator("main")).toBeVisible();
  expect(await background()).not.toBe(light);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("zoom into the cell");
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("4");
  const places = page.getByRole("listbox", { name: "Places" });
  await expect(places).toBeVisible();
  await page.keyboard.press("l");
  await page.keyboard.type("gpu 1");
  await expect(places.getByRole("option")).toHaveCount(SMALL.ranks / SMALL.perNode);
});

/** Shows the fixture's run with something changed. */
async function changed(page: Page, change: (run: Run) => Partial<Run>): Promise<void> {
  const run = served.fixture.run;
  await page.route("**/api/run", (route) => route.fulfill({ json: { ...run, ...change(run) } }));
}

test("names of any length leave room for the rest", async ({ page }) => {
  const long = `std::vector<${"x".repeat(50_000)}>`;
  await changed(page, ({ objects }) => ({
    objects: objects.map((object) => ({
      ...object,
      name: object.id === 0 ? long : object.id === 1 ? "" : object.name,
    })),
    regions: [long],
    name: long,
  }));
  for (const view of ["system", "objects?object=0", "code?file=0&line=31"]) {
    await open(page, `${served.address}#/${view}`);
    const width = page.viewportSize()!.width;
    expect(await page.evaluate(() => document.documentElement.scrollWidth), view).toBeLessThanOrEqual(width);
    for (const bar of await page.locator(".details .bar").all()) {
      const box = (await bar.boundingBox())!;
      expect(box.x + box.width, view).toBeLessThan(width);
    }
  }
  await open(page, `${served.address}#/objects`);
  await expect(page.getByRole("option", { name: /^unnamed \(stack\)/ })).toBeVisible();
});

test("files that only occur in call paths are listed when they are shown", async ({ page }) => {
  const list = page.getByRole("listbox", { name: "Files" });
  await open(page, `${served.address}#/code`);
  await expect(list.getByRole("option", { name: "halo.c" })).toBeVisible();
  await expect(list.getByRole("option", { name: "lost.f90" })).toHaveCount(0);
  await open(page, `${served.address}#/code?file=2`);
  await expect(list.getByRole("option", { name: "lost.f90" })).toHaveAttribute("aria-selected", "true");
});

test("nobody allocates a global variable", async ({ page }) => {
  await open(page, `${served.address}#/objects?object=0`);
  const about = page.getByRole("complementary", { name: "About u" });
  await expect(about).toContainText("Allocated by");
  await changed(page, ({ objects }) => ({ objects: objects.map((object) => ({ ...object, memory: "global" })) }));
  await open(page, `${served.address}#/objects?object=0`);
  await expect(about).toContainText("size");
  await expect(about).not.toContainText("llocated");
});

test("amounts that are not known by kind say so when kinds are switched off", async ({ page }) => {
  for (const view of ["places?place=0", "timeline?by=place"]) {
    await open(page, `${served.address}#/${view}`);
    await expect(page.getByText("of all kinds")).toHaveCount(0);
    await page.getByRole("button", { name: "collective" }).click();
    await expect(page.getByText("of all kinds").first()).toBeVisible();
  }
});

test("a run that has moved nothing says so", async ({ page }) => {
  await changed(page, () => ({ kinds: [], totals: [], objects: [] }));
  await page.route("**/api/matrix*", (route) => route.fulfill({ json: { rows: [], cols: [], cells: [] } }));
  await open(page, `${served.address}#/system`);
  await expect(page.getByText("Nothing has moved in this run.")).toBeVisible();
});

test("nothing found is told apart from nothing checked", async ({ page }) => {
  await changed(page, () => ({ findings: [] }));
  await open(page, `${served.address}#/findings`);
  await expect(page.getByText("Checking has found nothing in this run.")).toBeVisible();
  await page.unroute("**/api/run");
  await changed(page, () => ({ findings: [], checked: false }));
  await open(page, `${served.address}#/findings`);
  await expect(page.getByText("This run was not checked")).toBeVisible();
});

test("what a place's lists leave out is told", async ({ page }) => {
  await page.route("**/api/place/0", async (route) => {
    const answer = served.fixture.answer("/api/place/0") as PlaceDetail;
    await route.fulfill({ json: { ...answer, more: [3, 0, 1, 1234, 2] } });
  });
  await open(page, `${served.address}#/places?place=0`);
  const table = (name: string | RegExp) => page.getByRole("region", { name });
  await expect(table(/^Between/)).toContainText("without the 1,234 smallest");
  await expect(table("Objects")).toContainText("without the 3 smallest");
  await expect(table("Lines")).toContainText("without the 1 smallest");
  await expect(table("Calls and instructions")).not.toContainText("without the");
  await expect(table("Time in calls")).toContainText("without the 2 smallest in time");
});

test("a selection of time is of all that is beside it", async ({ page }) => {
  const { fixture } = served;
  const part = fixture.answer("/api/selection?t0=0&t1=31") as Selection;
  const kind = page.getByRole("button", { name: "point-to-point" });
  await open(page, `${served.address}#/system`);
  await expect(kind).toContainText(bytes(fixture.run.totals[0]!.bytes));
  await open(page, `${served.address}#/system?time=0-31`);
  await expect(kind).toContainText(bytes(part.totals[0]!.bytes));
  const details = page.getByRole("complementary", { name: "Details" });
  await expect(details).toContainText("Of what happened 0 s to 512 ms");
  await expect(details).toContainText(`50 % of 512 ms`);
  for (const total of part.totals) {
    await expect(details.getByText(bytes(total.bytes), { exact: true }).first()).toBeVisible();
  }
  const [object, traffic] = part.objects.toSorted((a, b) => b[1][0]![2] - a[1][0]![2])[0]!;
  const row = details.getByRole("row").filter({ hasText: fixture.run.objects[object]!.name });
  await expect(row.first()).toContainText(bytes(traffic[0]![2]));
  const slowest = part.calls.by_rank.toSorted((a, b) => b.seconds - a.seconds)[0]!;
  const name = fixture.run.places[slowest.place]!.name;
  await expect(details.getByRole("row").filter({ hasText: name }).first()).toContainText(seconds(slowest.seconds));
  // Lists of other views are of the whole run, and their matrices say what they are of.
  await open(page, `${served.address}#/objects?object=0&time=0-31`);
  await expect(page.getByText("matrices only, the rest is of the whole run")).toBeVisible();
  await expect(page.getByText("Of what happened 0 s to 512 ms. Most: ").first()).toBeVisible();
});

test("calls are told by their time, of the time that is selected", async ({ page }) => {
  const details = page.getByRole("complementary", { name: "Details" });
  const row = details.getByRole("row").filter({ hasText: "MPI_Allreduce" });
  for (const [view, share] of [
    ["system", 1],
    ["system?time=0-31", 0.5],
  ] as const) {
    await open(page, `${served.address}#/${view}`);
    await expect(row).toContainText(`halo.c:${LINES.reduce}`);
    await expect(row).toContainText(seconds(1.25 * share));
  }
  await row.getByRole("button").click();
  await expect(page).toHaveURL(new RegExp(`/code\\?.*line=${LINES.reduce}`));
});

test("a rank's time is told by call, line, peer and communicator", async ({ page }) => {
  await open(page, `${served.address}#/places?place=0`);
  const table = page.getByRole("region", { name: "Time in calls" });
  const [first, second] = [table.getByRole("row").nth(1), table.getByRole("row").nth(2)];
  await expect(first).toContainText("MPI_Waitall");
  await expect(first).toContainText("750 ms");
  for (const text of ["MPI_Recv", `halo.c:${LINES.send}`, "rank 1", "ranks 0-15", "500", "250 ms", "125 ms"]) {
    await expect(second).toContainText(text);
  }
  await second.click();
  await expect(page).toHaveURL(new RegExp(`/code\\?.*line=${LINES.send}`));
});

test("a file with a finding is listed, moved anything or not", async ({ page }) => {
  await changed(page, ({ findings }) => ({
    findings: findings.map((finding) => ({
      ...finding,
      sides: finding.sides.map((side) => ({ ...side, file: side.file === null ? 2 : side.file })),
    })),
  }));
  await open(page, `${served.address}#/code`);
  const lost = page.getByRole("listbox", { name: "Files" }).getByRole("option", { name: "lost.f90" });
  await expect(lost).toContainText("▲");
  await lost.click();
  await expect(page.getByRole("listbox", { name: /Lines of/ })).toContainText("7");
});

test("what alone was asked for stands beside the totals", async ({ page }) => {
  const filters = page.getByRole("region", { name: "Filters" });
  await open(page, `${served.address}#/system`);
  await expect(filters).not.toContainText("--only");
  await changed(page, () => ({ only: ["objects u, v", "kernels step"] }));
  for (const view of ["system", "objects", "compare"]) {
    await open(page, `${served.address}#/${view}`);
    await expect(filters).toContainText("counted: only objects u, v; kernels step (--only)");
  }
});

test("amounts over time say what time they are of", async ({ page }) => {
  await open(page, `${served.address}#/timeline`);
  await page.getByRole("img", { name: "Traffic over time" }).focus();
  await page.keyboard.press("ArrowRight");
  const { series, width_seconds } = served.fixture.answer("/api/timeline") as TimelineDetail;
  const told = page.locator("[aria-live]").filter({ hasText: "0 s to 16 ms" });
  for (const { label, bytes: all } of series) {
    await expect(told).toContainText(`${label}: ${bytes(all[0]!)}, ${bytes(all[0]! / width_seconds)}/s`);
  }
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "SVG", exact: true }).click();
  expect(readFileSync(await (await waiting).path()).toString()).toContain("bytes in each 16 ms");
  await page.keyboard.press("u");
  await page.getByRole("radio", { name: "Table" }).click();
  await expect(page.getByRole("region", { name: "Traffic over time" })).toContainText("transfers in each 16 ms");
});

test("frames of a library are folded", async ({ page }) => {
  const own = { function: "Grid::Grid", file: 0, line: 12, library: false };
  const library = Array.from({ length: 6 }, (_, at) => ({ function: `std::f${at}`, file: 2, line: at, library: true }));
  await changed(page, ({ objects }) => ({
    objects: objects.map((object) => ({ ...object, stack: [...library, own, ...object.stack] })),
  }));
  await open(page, `${served.address}#/objects?object=0`);
  const about = page.getByRole("complementary", { name: "About u" });
  await expect(about.getByText("Grid::Grid")).toBeVisible();
  await expect(about.getByText("std::f0")).toBeHidden();
  await about.getByText("6 frames of the library").click();
  await expect(about.getByText("std::f0")).toBeVisible();
});

test("figures beside names are those of the run", async ({ page }) => {
  const { run } = served.fixture;
  const sum = (traffic: readonly KindTotal[], at: 1 | 2) => traffic.reduce((sum, one) => sum + one[at], 0);
  for (const [unit, at, text] of [
    ["bytes", 2, bytes],
    ["count", 1, count],
  ] as const) {
    await open(page, `${served.address}#/objects?unit=${unit}`);
    for (const object of run.objects.slice(0, 6)) {
      const option = page.getByRole("option", { name: new RegExp(`^${object.name} `) });
      await expect(option.first()).toContainText(text(sum(object.by_kind, at)));
    }
    for (const total of run.totals) {
      await expect(page.getByRole("button", { name: run.kinds[total.kind]! })).toContainText(text(total[unit]));
    }
    await open(page, `${served.address}#/code?unit=${unit}`);
    for (const file of run.files.filter((file) => file.count > 0)) {
      const name = file.path.split("/").at(-1)!;
      await expect(page.getByRole("option", { name }).first()).toContainText(text(sum(file.by_kind, at)));
    }
  }
  const answer = served.fixture.answer("/api/place/0") as PlaceDetail;
  await open(page, `${served.address}#/places?place=0`);
  for (const [title, rows] of [
    ["Between rank 0 and others", answer.peers],
    ["Objects", answer.objects],
    ["Calls and instructions", answer.instructions],
    ["Lines", answer.lines],
  ] as const) {
    const waiting = page.waitForEvent("download");
    await page.getByRole("region", { name: title }).getByRole("button", { name: "CSV" }).click();
    const csv = readFileSync(await (await waiting).path(), "utf8")
      .trim()
      .split("\r\n")
      .slice(1);
    const last = (back: number) => csv.reduce((sum, row) => sum + Number(row.split(",").at(back)), 0);
    expect([last(-2), last(-1)], title).toEqual([
      rows.reduce((sum, row) => sum + row.count, 0),
      rows.reduce((sum, row) => sum + row.bytes, 0),
    ]);
  }
});

test("time is a unit of every view that knows it, and equals the tables", async ({ page }) => {
  const { fixture } = served;
  const { rows } = fixture.traffic;
  const grid = (name: string) => page.getByRole("grid", { name });
  const csvOf = async (region: string) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("region", { name: region }).getByRole("button", { name: "CSV" }).click();
    const text = readFileSync(await (await waiting).path(), "utf8").trim();
    return text.split("\r\n").map((row) => row.split(","));
  };
  await open(page, `${served.address}#/system`);
  await page.keyboard.press("u");
  await page.keyboard.press("u");
  await expect(page).toHaveURL(/measure=time/);
  await expect(page.getByRole("radio", { name: "Time" })).toHaveAttribute("aria-checked", "true");
  const named = secondsIn(rows.filter((row) => row.kind === 0));
  await expect(page.getByText("by the one rank that the call names")).toContainText(seconds(named));
  await page.getByRole("img", { name: "Time in calls between places" }).focus();
  for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  const pair = rows.filter((row) => row.source === 0 && row.target === 1 && row.kind === 0);
  await expect(page.getByRole("complementary", { name: "Details" })).toContainText(
    `rank 0 is in calls that name rank 1 for ${seconds(secondsIn(pair))}`,
  );
  await open(page, `${served.address}#/system?form=table&measure=time`);
  const [head, ...cells] = await csvOf("Traffic between places");
  expect(head!.at(-1)).toBe("time in calls");
  expect(cells.reduce((sum, row) => sum + Number(row.at(-1)), 0)).toBeCloseTo(named, 9);
  // Of a region it is not known.
  await open(page, `${served.address}#/system?region=solve&measure=time`);
  await expect(page.getByText("Time in calls is not known by object or region")).toBeVisible();
  await open(page, `${served.address}#/code?file=0&line=${LINES.send}&measure=time`);
  const file = rows.filter((row) => row.file === 0);
  const line = file.filter((row) => row.line === LINES.send);
  await expect(page.getByRole("option", { name: /halo\.c/ }).first()).toContainText(seconds(secondsIn(file)));
  await expect(page.getByRole("option", { selected: true }).last()).toContainText(seconds(secondsIn(line)));
  const details = page.getByRole("complementary", { name: "Line details" });
  await expect(details).toContainText(`time in calls${seconds(secondsIn(line))}`);
  await open(page, `${served.address}#/places?place=0&measure=time`);
  await expect(page.locator(".tables").getByRole("region").first()).toHaveAttribute("aria-label", "Time in calls");
  await open(page, `${served.address}#/timeline?form=table&measure=time`);
  const { calls } = fixture.answer("/api/timeline") as TimelineDetail;
  const [titles, ...bins] = await csvOf("Traffic over time");
  for (const { label, seconds } of calls) {
    const at = titles!.indexOf(label);
    expect(bins.reduce((sum, row) => sum + Number(row[at]), 0)).toBeCloseTo(
      seconds.reduce((sum, more) => sum + more, 0),
      9,
    );
  }
  await expect(page.getByText("seconds in calls, of all ranks, in each 16 ms")).toBeVisible();
  await open(page, `${served.address}#/compare?measure=time`);
  const first = grid("Time in calls").getByRole("row").nth(1);
  for (const text of ["MPI_Isend", `halo.c:${LINES.send}`, "2 s", "500 ms", "−75 %", quantity(-1.5, "time")]) {
    await expect(first).toContainText(text);
  }
  await expect(page.getByText("3 more calls differ by less")).toBeVisible();
  await open(page, `${served.address}#/objects?measure=time`);
  await expect(page.getByText("Time is not known by object")).toBeVisible();
});

test.describe("failures", () => {
  test("are told, and what to do", async ({ page, watched }) => {
    await page.route("**/api/object/**", (route) => route.abort());
    await open(page, `${served.address}#/objects?object=1`);
    await expect(page.getByRole("alert")).toContainText("Is `commsan view` still running?");
    await open(page, `${served.address}#/objects?object=99`);
    await expect(page.getByText("This run has no such object")).toBeVisible();
    // The browser's own note of the request that was cut off.
    watched.errors.length = 0;
  });
});

test("what is unusual is said with its evidence, and leads to the line", async ({ page }) => {
  await open(page, `${served.address}#/system`);
  const details = page.getByRole("complementary", { name: "Details" });
  await expect(details.getByRole("heading", { name: "Unusual in this run" })).toBeVisible();
  const first = details.locator(".unusual li");
  await expect(first).toHaveCount(1);
  await expect(first).toContainText("rank 1 is up to 38.0 ms late");
  await expect(first).toContainText("Divide the work");
  const picture = first.getByRole("img", { name: "waiting for rank 1, by rank: rank 0: 20 ms, rank 1: 0 s" });
  await expect(picture).toBeVisible();
  await expect(first).toContainText("rank 1: 0 s; the most, rank 15: 41 ms; mean: 28.1 ms");
  const bars = picture.locator("rect:not(.reach)");
  await expect(bars).toHaveCount(16);
  await expect(bars.nth(1)).toHaveClass("bar-marked");
  const heights = await bars.evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("height"))));
  const { bars: values } = (served.fixture.answer("/api/run") as Run).unusual[0]!.picture;
  const most = Math.max(...values.map(([, value]) => value));
  heights.forEach((height, at) => expect(height).toBeCloseTo((44 * values[at]![1]) / most, 6));
  await first.getByRole("button").first().click();
  await expect(page).toHaveURL(new RegExp(`code\\?.*line=${LINES.reduce}`));
  await page.goBack();
  await first.getByRole("button", { name: "When" }).click();
  await expect(page).toHaveURL(/events\?window=7000000-16000000/);
});

test("late calls are listed with what others wait for them", async ({ page }) => {
  const run = (await (await page.request.get(`${served.address}api/run`)).json()) as Run;
  await open(page, `${served.address}#/system`);
  const details = page.getByRole("complementary", { name: "Details" });
  await expect(details.getByRole("heading", { name: "Waiting for others" })).toBeVisible();
  const [place, waited] = run.waiting!.by_rank.find(
    ([rank]) => run.calls.by_rank.toSorted((a, b) => b.seconds - a.seconds)[0]!.place === rank,
  )!;
  const balance = details.getByRole("row").filter({ hasText: "waiting" });
  await expect(balance.filter({ hasText: run.places[place]!.name }).first()).toContainText(seconds(waited));
  for (const late of run.waiting!.late) {
    const row = details.getByRole("row").filter({ hasText: late.kind });
    await expect(row).toContainText(seconds(late.seconds));
    await expect(row).toContainText(run.places[late.place]!.name);
  }
});
