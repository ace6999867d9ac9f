/** Who waits for whom: the matrix, its cells, its tables, and the way to events and lines. */

import { readFileSync } from "node:fs";
import { expect as is, test as unit } from "@playwright/test";
import type { Happened, LongWait, Run } from "../src/api/types";
import { percent, seconds } from "../src/format";
import { extentOn, isOn, placesOf, positioned, ranksAlone } from "../src/views/axis";
import { serve, type Served } from "./fixture/server";
import { LINES, SMALL } from "./fixture/traffic";
import { STATES, sumsOf } from "./fixture/waits";
import { barriers, drawn, expect, open, test } from "./page";

let served: Served;
test.beforeAll(async () => {
  served = await serve(SMALL);
});
test.afterAll(() => served.close());

const FIGURE = "Who waits for whom";

for (const scheme of ["light", "dark"] as const) {
  test(`no barriers, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    for (const view of [
      "waits",
      "waits?cell=1-0",
      "waits?level=node",
      "waits?form=table",
      "waits?form=lines",
      "waits?states=late%20sender",
    ]) {
      await open(page, `${served.address}#/${view}`);
      expect(await barriers(page), view).toEqual([]);
    }
  });
}

test("the matrix is walked by keys, and says who waits for whom, where, and what is late", async ({ page }) => {
  await open(page, `${served.address}#/waits`);
  expect(await drawn(page, FIGURE)).toBeGreaterThan(500);
  const canvas = page.getByRole("img", { name: FIGURE });
  await canvas.focus();
  // Rank 4 is the first of the second node: devices have no row.
  for (const key of [
    "ArrowDown",
    ...Array.from({ length: 5 }, () => "ArrowDown"),
    ...Array.from({ length: 4 }, () => "ArrowRight"),
  ])
    await page.keyboard.press(key);
  const details = page.getByRole("complementary", { name: "Wait details" });
  await expect(details.getByRole("heading", { name: "rank 5 waits for rank 4" })).toBeVisible();
  const own = served.fixture.waits.filter((wait) => wait.lane === 5 && wait.state === 0);
  await expect(details).toContainText(`${seconds(own[0]!.seconds)} in ${own[0]!.count} waits`);
  const line = details.getByRole("table", { name: "Lines that wait" }).getByRole("rowgroup");
  await expect(line).toHaveCount(1);
  for (const text of ["MPI_Isend", `halo.c:${LINES.send}`, "late sender", "waits: MPI_Waitall", "1 ms"]) {
    await expect(line).toContainText(text);
  }
  // The address holds the cell.
  const address = page.url();
  await open(page, address);
  await expect(details.getByRole("heading", { name: "rank 5 waits for rank 4" })).toBeVisible();
  await line
    .getByRole("button", { name: `halo.c:${LINES.send}` })
    .first()
    .click();
  await expect(page).toHaveURL(new RegExp(`/code\\?.*line=${LINES.send}`));
  await open(page, address);
  await canvas.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/events\?window=1400000-4400000&lane=5&at=2400000-3400000/);
  await expect(page.getByRole("complementary", { name: "Event details" })).toContainText("late sender: rank 4");
});

test("zoom and level are of ranks, and shared with the system's places", async ({ page }) => {
  await open(page, `${served.address}#/waits`);
  const canvas = page.getByRole("img", { name: FIGURE });
  await canvas.focus();
  await page.keyboard.press("+");
  await expect(page).toHaveURL(/rows=\d+-\d+&cols=\d+-\d+/);
  const [, first, last] = /rows=(\d+)-(\d+)/.exec(page.url())!;
  const { places } = served.fixture.run;
  expect([places[Number(first)]!.kind, places[Number(last)]!.kind]).toEqual(["rank", "rank"]);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(page).not.toHaveURL(/rows=/);
  await page.getByRole("radio", { name: "Nodes" }).click();
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("heading", { name: "cn000 wait for cn000" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/rows=0-3&cols=0-3/);
  // Devices alone, as the system may show them.
  await open(page, `${served.address}#/waits?rows=4-5&cols=4-5`);
  await expect(page.getByText("None of the places shown is a rank")).toBeVisible();
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(canvas).toBeVisible();
});

test("the table holds what events tell, by state", async ({ page }) => {
  const { fixture } = served;
  const csvOf = async (region: string) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("region", { name: region }).getByRole("button", { name: "CSV" }).click();
    const text = readFileSync(await (await waiting).path(), "utf8").trim();
    return text.split("\r\n").map((row) => row.split(","));
  };
  // All waits of the run's events, one by one.
  const waits: LongWait[] = [];
  for (let lane = 0; lane < SMALL.ranks; lane += 1) {
    const { events, more } = fixture.answer(`/api/happened?lanes=${lane}-${lane}`) as Happened;
    waits.push(...events.flatMap((event) => event.wait ?? []));
    // What is left out is shorter than what waits.
    expect(more === 0 || Math.min(...events.map(({ begin, end }) => end - begin)) < 1_000_000).toBe(true);
  }
  const name = (place: number) => fixture.run.places[place]!.name;
  const rank = (lane: number) => name(fixture.events.lanes.lanes[lane]!.place);
  const expected = new Map<string, number>();
  for (const { lane, place, begin, end } of waits) {
    const pair = `${rank(lane)},${name(place)}`;
    expected.set(pair, (expected.get(pair) ?? 0) + (end - begin) / 1e9);
  }
  await open(page, `${served.address}#/waits?form=table`);
  const [head, ...rows] = await csvOf(FIGURE);
  expect(head).toEqual(["waits", "for", "states", "count", "time"]);
  expect(rows.length).toBe(expected.size);
  for (const row of rows) {
    // States are quoted, with commas between them.
    expect(Number(row.at(-1))).toBeCloseTo(expected.get(`${row[0]},${row[1]}`)!, 9);
  }
  await page.getByRole("button", { name: STATES[1]! }).click();
  await expect(page).toHaveURL(/states=late%20sender/);
  const [, count, time] = sumsOf(fixture.waits.filter((wait) => wait.state === 0))[0]!;
  const [, ...late] = await csvOf(FIGURE);
  expect(late.reduce((sum, row) => sum + Number(row.at(-1)), 0)).toBeCloseTo(time, 9);
  expect(late.reduce((sum, row) => sum + Number(row.at(-2)), 0)).toBe(count);
  await page.getByRole("grid", { name: FIGURE }).getByRole("row").nth(1).getByRole("gridcell").first().click();
  await expect(page).toHaveURL(/cell=\d+-\d+/);
  await page.getByRole("radio", { name: "Lines" }).click();
  const [titles, ...lines] = await csvOf("Lines that wait");
  expect(titles!.slice(0, 5)).toEqual(["state", "waits in", "at", "for", "late at"]);
  expect(lines.map((line) => line[0])).toEqual(["late sender"]);
  expect(Number(lines[0]![7])).toBeCloseTo(time, 9);
  await page.keyboard.press("f");
  await expect(page.getByRole("img", { name: FIGURE })).toBeVisible();
});

test("the run's waits are summed up, and the system leads here", async ({ page }) => {
  const { run } = served.fixture;
  await open(page, `${served.address}#/system`);
  await page.getByRole("button", { name: FIGURE }).click();
  await expect(page).toHaveURL(/#\/waits/);
  const details = page.getByRole("complementary", { name: "Wait details" });
  const { waiting } = run;
  const all = run.calls.by_rank.reduce((sum, rank) => sum + rank.seconds + rank.busy, 0);
  await expect(details).toContainText(`${percent(waiting!.seconds / all)} of all ranks’ time`);
  const table = details.getByRole("table", { name: "Waits by state" });
  for (const { name, seconds: time } of waiting!.states) {
    await expect(table.getByRole("row").filter({ hasText: name })).toContainText(seconds(time));
    await expect(page.getByRole("group", { name: "Wait states" }).getByRole("button", { name })).toContainText(
      seconds(time),
    );
  }
  const late = details.getByRole("row").filter({ hasText: "late at" });
  await expect(late).toHaveCount(waiting!.late.length);
  await page.getByRole("button", { name: STATES[1]! }).first().click();
  await expect(late).toHaveCount(1);
});

test("runs without events, and without waits, say so", async ({ page }) => {
  const { run } = served.fixture;
  const answer = async (waiting: Run["waiting"]) => {
    await page.unroute("**/api/run");
    await page.route("**/api/run", (route) => route.fulfill({ json: { ...run, waiting } satisfies Run }));
    await open(page, `${served.address}#/waits`);
  };
  await answer(null);
  await expect(page.getByText("recorded without events")).toBeVisible();
  await answer({ ...run.waiting!, states: [], late: [], compared: 4000 });
  await expect(page.getByText("both ends of 4,000 messages")).toBeVisible();
});

unit("an axis of ranks leaves out what else a node has", () => {
  const place = (id: number, kind: "rank" | "device" | "file", node: number) => ({
    id,
    name: `${kind} ${id}`,
    kind,
    node,
  });
  const axis = ranksAlone({
    places: [place(0, "rank", 0), place(1, "device", 0), place(2, "rank", 1), place(3, "rank", 1), place(4, "file", 2)],
    nodes: [
      { name: "a", places: [0, 1] },
      { name: "b", places: [2, 3] },
      { name: "files", places: [4, 4] },
    ],
  });
  is([axis.length, axis.nodes.map((node) => node.places)]).toEqual([
    3,
    [
      [0, 0],
      [1, 2],
    ],
  ]);
  is([0, 1, 2, 3, 4].map((at) => isOn(axis, at))).toEqual([true, false, true, true, false]);
  is(extentOn(axis, [0, 2])).toEqual({ from: 0, to: 2 });
  is(extentOn(axis, null)).toEqual({ from: 0, to: 3 });
  is(placesOf(axis, { from: 1, to: 3 })).toEqual([2, 3]);
  is(placesOf(axis, { from: 0, to: 3 })).toBeNull();
  is(positioned(axis, [{ label: "", first: 2, last: 3 }])).toEqual([{ label: "", first: 1, last: 2 }]);
});
