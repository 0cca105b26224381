/** A headless browser on the inspector's pages, that keeps what a page complains of and what it asks of others. */
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { HttpHandler } from "../../src/index.ts";

/** Where Debian's package chromium-headless-shell puts it. */
const PROGRAM = "/usr/bin/chromium-headless-shell";

export const hasBrowser = existsSync(PROGRAM);

/** For a test in a browser. */
export const BROWSER_TEST_MS = 180_000;

export const WIDE = { viewport: { width: 1280, height: 900 }, colorScheme: "light" } as const;
export const NARROW = {
  viewport: { width: 390, height: 800 },
  colorScheme: "dark",
  reducedMotion: "reduce",
} as const;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox"] });
}

/** A handler behind a port of this machine. */
export interface Listening {
  /** Where the inspector's list stands. */
  readonly at: string;
  readonly port: number;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

export async function listen({ node }: Pick<HttpHandler, "node">, port = 0): Promise<Listening> {
  const server: Server = createServer((request, response) => void node(request, response));
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    at: `http://127.0.0.1:${taken}/_inspector`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** A page, and all that it complained of: messages of its console, errors, requests to others. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
}

export async function openPage(
  browser: Browser,
  at: string,
  look: BrowserContextOptions = WIDE,
): Promise<WatchedPage> {
  const page = await browser.newPage(look);
  // A large chart is laid out for seconds on a busy machine.
  page.setDefaultTimeout((2 * BROWSER_TEST_MS) / 3);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(at)) complaints.push(`asks ${request.url()}`);
  });
  return { page, complaints };
}

/** What axe has found. */
interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** What keeps people out of the page that is shown: the rule and where it is broken. */
export async function barriers(page: Page): Promise<readonly (readonly [string, string])[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResult>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes[0]?.html ?? ""] as const);
}
