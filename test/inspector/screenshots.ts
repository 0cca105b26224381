/**
 * `npm run screenshots`: takes the README's picture of the inspector, a payroll that is under way with one payee who cannot
 * be paid. With a folder as argument, pages at both widths, light and dark, are put there to be looked at.
 */
// modules: private
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { createHttpHandler } from "../../src/index.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import { privateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { launchBrowser, listen, NARROW, WIDE } from "./browser-kit.ts";

const PICTURE = join(import.meta.dirname, "../../src/inspector/inspector.png");
const SHARES = ["1200", "950", "1400", "1100", "875.5"];

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  "wide-light": WIDE,
  "wide-dark": { ...WIDE, colorScheme: "dark" },
  "narrow-light": { ...NARROW, colorScheme: "light" },
  "narrow-dark": NARROW,
};

/** What a picture shows, and where it is kept. */
interface Picture {
  readonly path: string;
  readonly look: BrowserContextOptions;
  /** What stands below the picture; absent for a whole page. */
  readonly upTo?: string;
}

/** Takes a picture of a page once its charts are laid out. */
async function take(browser: Browser, url: string, { path, look, upTo }: Picture): Promise<void> {
  const page = await browser.newPage(look);
  await page.goto(url);
  await page.locator("#live", { hasText: /^live$/ }).waitFor();
  if (upTo !== undefined) {
    await page.locator("svg .state").first().waitFor();
    // The whole chart in a file that a page of text can load.
    await page.evaluate("document.body.style.zoom = '0.85'");
  }
  const below = upTo === undefined ? null : await page.locator(upTo).boundingBox();
  const { width } = WIDE.viewport;
  const clip = below === null ? {} : { clip: { x: 0, y: 0, width, height: Math.floor(below.y) } };
  await page.screenshot({ path, fullPage: true, ...clip });
  await page.context().close();
}

const { service, clock, chain, ...world } = await privateFixture();
const payees = SHARES.map((_, index) => world.wallet(`payee ${index}`, { lamports: 1_000_000n, usdc: 1n }));
const { body }: { body: CreatedOrderBody } = await world.order(await world.caller(), {
  sender: world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n }),
  to: payees.map(({ address }, index) => ({ address, amount: SHARES[index] ?? "1" })),
});
chain.advance(35);
const [, , bad] = payees;
if (bad !== undefined) await world.freeze(bad, "USDC");
const server = await listen(createHttpHandler({ service, clock, inspector: true }));
const browser = await launchBrowser();
try {
  await world.pass(60_000);
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle(2);
  const order = `${server.at}/instance?id=${body.transactionId}`;
  await take(browser, order, { path: PICTURE, look: WIDE, upTo: "[data-key=section-travel]" });
  const [, , folder] = process.argv;
  for (const [name, look] of folder === undefined ? [] : Object.entries(LOOKS)) {
    for (const [page, url] of [
      ["order", order],
      ["list", server.at],
      ["health", `${server.at}/health`],
    ] as const) {
      await take(browser, url, { path: join(folder ?? "", `${page}-${name}.png`), look });
    }
  }
} finally {
  await browser.close();
  await server.close();
  await service.stop();
}
