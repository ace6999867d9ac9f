// Takes pictures of the viewer: node test/picture.mjs PAGE NAME=FRAGMENT…, once a view has been drawn.
import { chromium } from "@playwright/test";

const [page, ...views] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const tab = await browser.newPage({ viewport: { width: 1200, height: 720 } });
for (const view of views) {
  const at = view.indexOf("=");
  await tab.goto("about:blank");
  await tab.goto(`file://${page}#${view.slice(at + 1)}`);
  await tab.locator("main canvas, main svg").first().waitFor();
  // Figures take the size of their place one frame after they were put there.
  await tab.waitForTimeout(500);
  await tab.screenshot({ path: view.slice(0, at) });
}
await browser.close();
