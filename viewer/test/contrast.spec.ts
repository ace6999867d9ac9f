/** Users who need more contrast, or whose system forces its own colours. */

import type { Page } from "@playwright/test";
import { serve, type Served } from "./fixture/server";
import { SMALL } from "./fixture/traffic";
import { barriers, drawn, expect, open, test } from "./page";

let served: Served;
test.beforeAll(async () => {
  served = await serve(SMALL, true);
});
test.afterAll(() => served.close());

const VIEWS = [
  "system",
  "system?form=table",
  "objects?object=0",
  "code?file=0&line=31",
  "places?place=0",
  "timeline",
  "events?path=on",
  "events?form=path",
  "events?lane=0&finding=0",
  "waits?cell=1-0",
  "findings",
  "compare",
];

for (const scheme of ["light", "dark"] as const) {
  test(`all text has seven times the contrast where more is asked for, ${scheme}`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme: scheme, contrast: "more" });
    for (const view of VIEWS) {
      await open(page, `${served.address}#/${view}`);
      expect(await barriers(page, "enhanced"), view).toEqual([]);
    }
  });
}

/** The colours of a system, by what the style sheets call them. */
function colours(page: Page, ...names: string[]): Promise<string[]> {
  return page.evaluate((names) => {
    const probe = document.createElement("span");
    probe.style.forcedColorAdjust = "none";
    document.body.append(probe);
    const found = names.map((name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return found;
  }, names);
}

/** Shares of the colours in a figure, by `rgb(…)`. */
async function shares(page: Page, title: string): Promise<Map<string, number>> {
  await drawn(page, title);
  const canvas = page.getByRole("img", { name: title, exact: false }).and(page.locator("canvas")).first();
  const all = await canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const { data } = (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
    const counts: Record<string, number> = {};
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] !== 255) continue;
      const colour = `rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`;
      counts[colour] = (counts[colour] ?? 0) + 4 / data.length;
    }
    return counts;
  });
  return new Map(Object.entries(all));
}

for (const scheme of ["light", "dark"] as const) {
  test(`colours that the system forces are those of figures, too, ${scheme}`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme: scheme, forcedColors: "active" });
    for (const view of VIEWS) {
      await open(page, `${served.address}#/${view}`);
      expect(await barriers(page), view).toEqual([]);
    }
    await open(page, `${served.address}#/events?window=0-50000000&path=on`);
    const [canvas, text, selected] = await colours(page, "Canvas", "CanvasText", "SelectedItem");
    const found = await shares(page, "Events over time");
    // The background, and the band of the critical path.
    expect(found.get(canvas!) ?? 0).toBeGreaterThan(0.2);
    expect(found.get(text!) ?? 0).toBeGreaterThan(0.002);
    // What is chosen differs from what is not.
    const background = (name: string) =>
      page.getByRole("button", { name, exact: true }).evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(await background("Events")).toBe(selected);
    expect(await background("Objects")).not.toBe(selected);
    expect(await background("Mark critical path")).toBe(selected);
  });
}

test("figures follow when more contrast is asked for while they are shown", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, `${served.address}#/events?window=0-50000000`);
  const black = async () => (await shares(page, "Events over time")).get("rgb(0, 0, 0)") ?? 0;
  expect(await black()).toBeLessThan(0.01);
  await page.emulateMedia({ colorScheme: "dark", contrast: "more" });
  await expect.poll(black).toBeGreaterThan(0.2);
  await page.emulateMedia({ colorScheme: "dark", contrast: "no-preference" });
  await expect.poll(black).toBeLessThan(0.01);
});
