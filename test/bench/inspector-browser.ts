/** How fast the inspector is on a screen: the first paint of a long list, an event until it is shown, and how much a page holds. */
import type { Page } from "playwright-core";
import { hasBrowser, launchBrowser, listen, WIDE } from "../inspector/browser-kit.ts";
import type { HttpHandler } from "../../src/index.ts";
import type { Report } from "./figures.ts";

const PAINTS = 10;
const EVENTS = 200;
/** Slower than a page is shown, so that each event is seen alone. */
const EVENT_EVERY_MS = 60;

/** What is looked at. */
export interface OnScreen {
  readonly inspector: HttpHandler;
  /** Has the instance `first` make one step; answers its number. */
  readonly step: () => Promise<number>;
}

/** Says that there is no browser where there is none. */
export async function benchOnScreen(report: Report, { inspector, step }: OnScreen): Promise<void> {
  if (!hasBrowser) {
    report({ name: "inspector: on a screen", browser: "none: install chromium-headless-shell" });
    return;
  }
  const [browser, server] = await Promise.all([launchBrowser(), listen(inspector)]);
  try {
    const page = await browser.newPage(WIDE);
    const paints: number[] = [];
    for (let count = 0; count < PAINTS; count++) {
      await page.goto(server.at);
      paints.push(await firstPaint(page));
    }
    report({
      name: "inspector: first paint of the list in a browser",
      "p50 ms": at(paints, 0.5),
      "worst ms": at(paints, 1),
      elements: await elements(page),
    });
    await page.goto(`${server.at}/instance?id=first`);
    await page.getByText("live", { exact: true }).waitFor();
    const delays: number[] = [];
    // What the machine and the browser take alone: a frame of a page that has the step already, asked for the same way.
    const frames: number[] = [];
    let number = await step();
    await shownAt(page, number);
    for (let count = 0; count < EVENTS; count++) {
      const asked = Date.now();
      frames.push((await shownAt(page, number)) - asked);
      const began = Date.now();
      number = await step();
      delays.push((await shownAt(page, number)) - began);
      await page.waitForTimeout(EVENT_EVERY_MS);
    }
    report({
      name: "inspector: event to screen",
      "p50 ms": at(delays, 0.5),
      "p95 ms": at(delays, 0.95),
      "a frame alone, p50 ms": at(frames, 0.5),
      "a frame alone, p95 ms": at(frames, 0.95),
      elements: await elements(page),
      "scroll of the whole page, slowest frame ms": await slowestFrame(page),
    });
  } finally {
    await browser.close();
    await server.close();
  }
}

function at(values: readonly number[], share: number): number | undefined {
  const ordered = values.toSorted((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))];
}

function firstPaint(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [first] = list.getEntriesByName("first-contentful-paint");
      if (first !== undefined) resolve(first.startTime);
    }).observe({ type: "paint", buffered: true });
  })`);
}

function elements(page: Page): Promise<number> {
  return page.evaluate("document.querySelectorAll('*').length");
}

/** When the frame with this step was drawn, by the clock of this machine. */
function shownAt(page: Page, step: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const look = () =>
      document.getElementById("step-${step}") === null
        ? requestAnimationFrame(look)
        : requestAnimationFrame(() => resolve(Date.now()));
    look();
  })`);
}

/** Scrolls from the top to the end in steps of a screen, a frame each. */
function slowestFrame(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let slowest = 0;
    let last = performance.now();
    const frame = (now) => {
      slowest = Math.max(slowest, now - last);
      last = now;
      const before = scrollY;
      scrollBy(0, innerHeight);
      if (scrollY === before) resolve(slowest); else requestAnimationFrame(frame);
    };
    scrollTo(0, 0);
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
  })`);
}
