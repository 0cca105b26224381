/** The inspector in a real browser: it follows an instance live, loads nothing from elsewhere, and outlives its server. */
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInspector, type HttpHandler } from "../../src/index.ts";
import { withParcels } from "./parcel.ts";

// Debian's package chromium-headless-shell.
const BROWSER = "/usr/bin/chromium-headless-shell";
const TIMEOUT_MS = 60_000;

const listening = async ({ node }: HttpHandler, port = 0): Promise<Server> => {
  const server = createServer((request, response) => void node(request, response));
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
};

const closed = (server: Server): Promise<unknown> => {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(resolve);
  });
};

/** What axe has found. */
interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe.skipIf(!existsSync(BROWSER))("in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  }, TIMEOUT_MS);
  afterAll(() => browser.close());

  /** A page that keeps what it complains of and what it asks of others. */
  const openPage = async (origin: string): Promise<{ page: Page; complaints: string[] }> => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(origin)) complaints.push(`asks ${request.url()}`);
    });
    return { page, complaints };
  };

  test(
    "a person finds an instance in the list and follows it live: active state, path, sentence, timeline, count-down",
    () =>
      withParcels(async ({ engine, workflow, storage, clock }) => {
        const server = await listening(createInspector({ storage, workflows: [workflow], clock }));
        const origin = `http://127.0.0.1:${portOf(server)}`;
        try {
          engine.run();
          const { page, complaints } = await openPage(origin);
          await page.goto(`${origin}/_inspector`);
          await page.getByText("No instance has been started yet.").waitFor();
          await engine.start(workflow, { id: "p1", input: { note: "<script>alert(1)</script>" } });
          await engine.settled();
          await page.getByRole("link", { name: "p1" }).click();
          await page.getByText("for somebody to send one of").waitFor();
          const active = page.locator("svg .state.active");
          expect(await active.count()).toBe(2);
          await engine.send(workflow, "p1", { type: "PAUSE" });
          await page.getByText("Its timer “after 15 min” fires at").waitFor();
          expect(await active.count()).toBe(1);
          expect((await page.locator("svg .badge-text").allTextContents()).toSorted()).toEqual(["2", "3"]);
          await page.locator("time", { hasText: "in 15 min" }).first().waitFor();
          await page.locator("#step-3 summary").click();
          await engine.send(workflow, "p1", { type: "RESUME" });
          await page.locator("#step-4").waitFor();
          expect(await page.locator("#step-3").getAttribute("open")).toBe("");
          expect(await page.locator("details[id^=step-]").count()).toBe(4);
          expect(complaints).toEqual([]);
          await page.close();
        } finally {
          await closed(server);
        }
      }),
    TIMEOUT_MS,
  );

  test(
    "when the server is gone the page says so, and goes on without repeating a step once it is back",
    () =>
      withParcels(async ({ engine, workflow, storage, clock }) => {
        const inspector = createInspector({ storage, workflows: [workflow], clock });
        const first = await listening(inspector);
        const port = portOf(first);
        await engine.start(workflow, { id: "p1", input: { note: "x" } });
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${port}/_inspector/instance?id=p1`);
        await page.getByText("live", { exact: true }).waitFor();
        await closed(first);
        await page.getByText("connection lost, trying again").waitFor();
        await engine.send(workflow, "p1", { type: "PAUSE" });
        const second = await listening(inspector, port);
        await page.getByText("live", { exact: true }).waitFor();
        expect(await page.locator("details[id^=step-]").count()).toBe(2);
        await page.close();
        await closed(second);
      }),
    TIMEOUT_MS,
  );

  test(
    "a person goes back in time, tries an event on a copy and sends it, by keyboard alone",
    () =>
      withParcels(async ({ engine, workflow, clock }) => {
        const server = await listening(createInspector({ engine, clock, acts: true }));
        const origin = `http://127.0.0.1:${portOf(server)}`;
        try {
          await engine.start(workflow, { id: "p1", input: { note: "x" } });
          await engine.send(workflow, "p1", { type: "PAUSE" });
          const { page, complaints } = await openPage(origin);
          await page.goto(`${origin}/_inspector`);
          await page.keyboard.press("/");
          await page.keyboard.type("p1");
          await page.keyboard.press("Enter");
          await page.getByText("Its timer “after 15 min” fires at").waitFor();
          // The slider moves by the arrow keys; the page of the past is shown in place.
          await page.locator("#step").focus();
          await page.keyboard.press("ArrowLeft");
          await page.getByText("As it stood after step 1").waitFor();
          expect(await page.locator("svg .badge-text").count()).toBe(0);
          expect(new URL(page.url()).searchParams.get("step")).toBe("1");
          await page.locator("#live", { hasText: "stands still" }).waitFor();
          await page.goto(`${origin}/_inspector/instance?id=p1`);
          await page.locator("#what-if summary").focus();
          await page.keyboard.press("Enter");
          await page.keyboard.press("Tab");
          await page.keyboard.type("RESUME");
          await page.keyboard.press("Enter");
          await page.getByText("Nothing is stored, nothing is carried out.").waitFor();
          expect((await engine.read("p1"))?.steps).toBe(2);
          await page.goto(`${origin}/_inspector/instance?id=p1`);
          await page.getByRole("link", { name: "Send an event" }).focus();
          await page.keyboard.press("Enter");
          await page.getByText("The event is handed to the instance.").waitFor();
          await page.getByLabel("Event, its type or JSON").focus();
          for (const text of ["RESUME", "ada", "a test"]) {
            await page.keyboard.type(text);
            await page.keyboard.press("Tab");
          }
          await page.keyboard.press("Enter");
          await page.getByText("The event made a step.").waitFor();
          expect((await engine.read("p1"))?.value).toEqual({ packing: "weighing" });
          expect(complaints).toEqual([]);
          await page.close();
        } finally {
          await closed(server);
        }
      }),
    TIMEOUT_MS,
  );

  test(
    "axe finds nothing serious on any page, wide and light or narrow and dark",
    () =>
      withParcels(async ({ engine, workflow, clock }) => {
        const server = await listening(createInspector({ engine, clock, acts: true }));
        await engine.start(workflow, { id: "p1", input: { note: "x" } });
        await engine.send(workflow, "p1", { type: "PAUSE" });
        const looks = [
          { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
          { viewport: { width: 390, height: 800 }, colorScheme: "dark", reducedMotion: "reduce" },
        ] as const;
        for (const look of looks) {
          const page = await browser.newPage(look);
          for (const path of [
            "",
            "/instance?id=p1",
            "/what-if?id=p1&event=RESUME",
            "/act?id=p1&do=send",
            "/timers",
          ]) {
            await page.goto(`http://127.0.0.1:${portOf(server)}/_inspector${path}`);
            await page.evaluate(axe.source);
            const { violations } = await page.evaluate<AxeResult>("axe.run()");
            const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
            expect(serious.map(({ id, nodes }) => [path, id, nodes[0]?.html])).toEqual([]);
          }
          await page.close();
        }
        await closed(server);
      }),
    TIMEOUT_MS,
  );

  test(
    "at 390 px nothing but the tables and the drawing is wider than the screen",
    () =>
      withParcels(async ({ engine, workflow, storage, clock }) => {
        const server = await listening(createInspector({ storage, workflows: [workflow], clock }));
        const page = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme: "dark" });
        await engine.start(workflow, { id: "x".repeat(300), input: { note: "x" } });
        for (const path of [
          "",
          `/instance?id=${"x".repeat(300)}`,
          "/charts",
          "/chart?key=parcel%401",
          "/health",
        ]) {
          await page.goto(`http://127.0.0.1:${portOf(server)}/_inspector${path}`);
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
        }
        await page.close();
        await closed(server);
      }),
    TIMEOUT_MS,
  );
});
