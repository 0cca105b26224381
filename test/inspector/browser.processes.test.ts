/** The inspector in a real browser: it follows an instance live, loads nothing from elsewhere, and outlives its server. */
// modules: schedules
import { describe, expect } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { createEngine } from "../../src/engine/index.ts";
import { runs } from "../engine/schedule-world.ts";
import { barriers, BROWSER_TEST_MS, hasBrowser, NARROW, WIDE } from "./browser-kit.ts";
import { browserTest as test } from "./browser-test.ts";
import { movedLoan } from "./two-deployments.ts";

describe.skipIf(!hasBrowser)("in a browser", () => {
  test(
    "a person finds an instance in the list and follows it live: active state, path, sentence, timeline, count-down",
    async ({ world: { engine, workflow, storage, clock }, serve, visit }) => {
      const server = await serve(createInspector({ storage, workflows: [workflow], clock }));
      engine.run();
      const { page, complaints } = await visit(server);
      await page.getByText("No instance has been started yet.").waitFor();
      await engine.start(workflow, { id: "p1", input: { note: "<script>alert(1)</script>" } });
      await engine.settled();
      await page.getByRole("link", { name: "p1" }).click();
      await page.getByText("for somebody to send one of").waitFor();
      const active = page.locator("svg .state.active");
      await active.first().waitFor();
      expect(await active.count()).toBe(2);
      await engine.send(workflow, "p1", { type: "PAUSE" });
      await page.getByText("Its timer “after 15 min” fires at").waitFor();
      expect(await active.count()).toBe(1);
      expect((await page.locator("svg .badge-text").allTextContents()).toSorted()).toEqual(["2", "3"]);
      await page.locator("time", { hasText: "in 15 min" }).first().waitFor();
      // The browser's own clock counts down; the service's stands still here.
      await page
        .locator("time", { hasText: /in 14 min/ })
        .first()
        .waitFor();
      await page.locator("#step-3 summary").click();
      const asked = page.getByLabel("Find by id, signature, address or reference");
      await asked.fill("PAU");
      await engine.send(workflow, "p1", { type: "RESUME" });
      await page.locator("#step-4").waitFor();
      expect(await page.locator("[data-same]").count()).toBe(0);
      expect(await page.locator("details[id^=step-]").count()).toBe(4);
      // What a person does meanwhile is left alone.
      await page.keyboard.type("SE");
      expect(await asked.inputValue()).toBe("PAUSE");
      expect(await page.locator("#step-3").getAttribute("open")).toBe("");
      expect(await page.locator("details[id^=step-]").count()).toBe(4);
      expect(complaints).toEqual([]);
    },
    BROWSER_TEST_MS,
  );

  test(
    "U7: the steps of an instance that moved between deployments are gone through, each on the chart that made it",
    async ({ serve, visit }) => {
      const { engine, clock, first } = await movedLoan();
      const server = await serve(createInspector({ engine, workflows: [first], clock }));
      const { page, complaints } = await visit(server, "/instance?id=l");
      await page.getByText("It ended in paid").waitFor();
      const states = page.locator("svg.chart .state.active");
      const badges = page.locator("svg.chart .badge-text");
      await states.first().waitFor();
      expect(await badges.allTextContents()).toEqual(["5"]);
      await page.getByRole("link", { name: "← before" }).click();
      await page.getByText("computed again by loan@2").waitFor();
      await page.getByRole("link", { name: "← before" }).click();
      await page.getByText("computed again by loan@1").waitFor();
      await page.getByText("The step was made by loan@1.").waitFor();
      await page.locator("#context-then", { hasText: '"euros": 42' }).waitFor();
      await states.first().waitFor();
      expect(await page.locator(".narrow .states b.on").allTextContents()).toEqual(["raised"]);
      expect(await badges.allTextContents()).toEqual(["2"]);
      expect(await page.locator(".warn").count()).toBe(0);
      expect(await barriers(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
    BROWSER_TEST_MS,
  );

  test(
    "a schedule is paused by hand, and its page shows it to who watches",
    async ({ world: { storage, clock }, serve, visit }) => {
      const engine = createEngine({ storage, workflows: [runs], clock });
      const server = await serve(createInspector({ engine, clock, acts: true }));
      const rule = { cron: "30 2 * * *", timezone: "Europe/Berlin", workflow: runs, version: 1 };
      await engine.schedule("nightly", rule);
      const { page, complaints } = await visit(server);
      await page.getByRole("link", { name: "Schedules" }).click();
      await page.getByText("2026-01-01 01:30:00 UTC").waitFor();
      expect(await barriers(page)).toEqual([]);
      await page.locator("summary", { hasText: "nightly" }).click();
      await page.getByRole("link", { name: "Pause …" }).click();
      await page.getByText("starts nothing by time until").waitFor();
      await page.getByLabel("Your name").fill("ada");
      await page.getByLabel("Why").fill("a test");
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("link", { name: "Back to" }).click();
      await page.getByText("paused", { exact: true }).waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      await engine.schedules.resume("nightly");
      await page.getByText("2026-01-01 01:30:00 UTC").waitFor();
      expect(complaints).toEqual([]);
    },
    BROWSER_TEST_MS,
  );

  test(
    "when the server is gone the page says so, and goes on without repeating a step once it is back",
    async ({ world: { engine, workflow, storage, clock }, serve, visit }) => {
      const inspector = createInspector({ storage, workflows: [workflow], clock });
      const first = await serve(inspector);
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      const { page } = await visit(first, "/instance?id=p1");
      await page.getByText("live", { exact: true }).waitFor();
      await first.close();
      await page.getByText("connection lost, trying again").waitFor();
      await engine.send(workflow, "p1", { type: "PAUSE" });
      await serve(inspector, first.port);
      await page.getByText("live", { exact: true }).waitFor();
      expect(await page.locator("details[id^=step-]").count()).toBe(2);
    },
    BROWSER_TEST_MS,
  );

  test(
    "a person goes back in time, tries an event on a copy and sends it, by keyboard alone",
    async ({ world: { engine, workflow, clock }, serve, visit }) => {
      const server = await serve(createInspector({ engine, clock, acts: true }));
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      await engine.send(workflow, "p1", { type: "PAUSE" });
      const { page, complaints } = await visit(server);
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
      await page.goto(`${server.at}/instance?id=p1`);
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
    },
    BROWSER_TEST_MS,
  );

  test(
    "axe finds nothing serious on any page, wide and light or narrow and dark",
    async ({ world: { engine, workflow, clock }, serve, visit }) => {
      const server = await serve(createInspector({ engine, clock, acts: true }));
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      await engine.send(workflow, "p1", { type: "PAUSE" });
      for (const look of [WIDE, NARROW]) {
        const { page } = await visit(server, "", look);
        for (const path of ["", "/instance?id=p1", "/act?id=p1&do=send", "/timers"]) {
          await page.goto(`${server.at}${path}`);
          expect([path, await barriers(page)]).toEqual([path, []]);
        }
      }
    },
    BROWSER_TEST_MS,
  );

  test(
    "at 390 px nothing but the tables and the drawing is wider than the screen",
    async ({ world: { engine, workflow, clock }, serve, visit }) => {
      const server = await serve(createInspector({ engine, clock, acts: true }));
      const { page } = await visit(server, "", NARROW);
      await engine.start(workflow, { id: "x".repeat(300), input: { note: "x" } });
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      for (const path of [
        "",
        `/instance?id=${"x".repeat(300)}`,
        "/charts",
        "/chart?key=parcel%401",
        "/health",
        "/timers",
        "/find?q=nothing",
        "/act?id=p1&do=send",
      ]) {
        await page.goto(`${server.at}${path}`);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
      }
    },
    BROWSER_TEST_MS,
  );

  test(
    "another site can neither read the inspector nor act, and who is not admitted sees nothing",
    async ({ world: { engine, workflow, clock }, serve, visit }) => {
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      const [server, elsewhere, refusing] = await Promise.all([
        serve(createInspector({ engine, clock, acts: true })),
        serve({ node: async (_request, response) => void response.end("a page of another site") }),
        serve(createInspector({ engine, clock, authorize: () => false })),
      ]);
      const { page } = await visit(elsewhere);
      const answers: number[] = [];
      page.on("response", (response) => {
        if (response.url().startsWith(server.at)) answers.push(response.status());
      });
      await page.goto(`http://127.0.0.1:${elsewhere.port}`);
      const tries = await page.evaluate<readonly string[]>(`(${tryToRead})("${server.at}/act")`);
      expect(tries).toEqual(["TypeError", "TypeError", "TypeError"]);
      await page.evaluate(`location.href = ${JSON.stringify(`${server.at}/instance?id=p1`)}`);
      await page.getByText("The inspector answers no request that another site has made").waitFor();
      expect(answers.length).toBeGreaterThan(0);
      expect(new Set(answers)).toEqual(new Set([403]));
      expect((await engine.read("p1"))?.steps).toBe(1);
      expect((await page.goto(refusing.at))?.status()).toBe(403);
    },
    BROWSER_TEST_MS,
  );
});

/** Runs in the page of another site: reads, reads without asking to see, and sends the form of an act. */
const tryToRead = `async (address) => {
  const body = new URLSearchParams({ id: "p1", do: "send", event: "PAUSE", actor: "eve", reason: "none" });
  const told = (answer) => answer.type + " " + answer.status;
  const failed = (error) => error.name;
  return [
    await fetch(address).then(told, failed),
    await fetch(address, { method: "POST", body, mode: "no-cors" }).then(told, failed),
    await fetch(address, { method: "POST", body }).then(told, failed),
  ];
}`;
