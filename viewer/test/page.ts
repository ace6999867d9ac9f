/** What all tests of pages expect: no errors, and no request that leaves the place it came from. */

import { expect, type Page, test as base } from "@playwright/test";
import axe from "axe-core";

export interface Watched {
  /** Addresses that were asked for. */
  requests: string[];
  /** Errors of scripts and on the console, broken policies included. */
  errors: string[];
}

export const test = base.extend<{ watched: Watched }>({
  watched: [
    async ({ page }, use) => {
      const watched: Watched = { requests: [], errors: [] };
      page.on("request", (request) => watched.requests.push(request.url()));
      page.on("pageerror", (error) => watched.errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && watched.errors.push(message.text()));
      await use(watched);
      expect(watched.errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Opens a view and waits until nothing is loading. */
export async function open(page: Page, address: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(address);
  await expect(page.locator("main")).toBeVisible();
  await expect(page.getByText("Loading …")).toHaveCount(0);
}

/** What axe finds wrong, in words; of contrast, if it is asked for, by what WCAG calls enhanced. */
export async function barriers(page: Page, contrast: "usual" | "enhanced" = "usual"): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async (enhanced) => {
    const found = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ["violations"],
      rules: { "color-contrast-enhanced": { enabled: enhanced } },
    });
    return found.violations.map(
      (one) =>
        `${one.id}: ${one.help}: ${one.nodes
          .slice(0, 3)
          .map((node) => node.html.slice(0, 160))
          .join(" | ")}`,
    );
  }, contrast === "enhanced");
}

/** How many pixels of the figure with this title are not the most common one: something is
 * drawn. */
export async function drawn(page: Page, title: string): Promise<number> {
  const canvas = page.getByRole("img", { name: title, exact: false }).and(page.locator("canvas")).first();
  await expect(canvas).toBeVisible();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const pixels = new Uint32Array(
      (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data.buffer,
    );
    const counts = new Map<number, number>();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return pixels.length - Math.max(...counts.values());
  });
}
