/** The inspector in a real browser beside a payment service at work: each page is watched while what it shows goes on. */
// modules: private
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createHttpHandler, type PaymentService } from "../../src/index.ts";
import { answerWith, startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { units } from "../kit/money.ts";
import { DAY, MINUTE, orderedAs, type Scene } from "../payments/private/scene.ts";
import { sceneTest as test } from "../payments/private/scene-test.ts";
import { ALL_EVENTS } from "../payments/webhooks/webhook-world.ts";
import {
  barriers,
  BROWSER_TEST_MS,
  hasBrowser,
  launchBrowser,
  listen,
  openPage,
  type Listening,
  type WatchedPage,
} from "./browser-kit.ts";

/** A page of a service, and the way to end both. */
interface Watching extends WatchedPage, Listening {
  /** Goes to a page of the inspector and waits until it is followed. */
  visit(path: string): Promise<void>;
}

describe.skipIf(!hasBrowser)("payments in a browser", () => {
  let browser: Browser;
  let receiver: HttpsReceiver;

  beforeAll(async () => {
    [browser, receiver] = await Promise.all([launchBrowser(), startHttpsReceiver()]);
  }, BROWSER_TEST_MS);
  afterAll(() => Promise.all([browser.close(), receiver.close()]));

  const watch = async ({ service, clock }: Pick<Scene, "service" | "clock">): Promise<Watching> => {
    const server = await listen(createHttpHandler({ service, clock, inspector: { acts: true } }));
    const opened = await openPage(browser, server.at);
    const { page } = opened;
    return {
      ...server,
      ...opened,
      async visit(path) {
        await page.goto(server.at + path);
        await page.getByText("live", { exact: true }).waitFor();
      },
      async close() {
        await page.context().close();
        await server.close();
      },
    };
  };

  // modules: webhooks
  test("a wallet send and its failing webhook", { timeout: BROWSER_TEST_MS }, async ({ open }) => {
    const world = await open({ webhooks: { ca: receiver.ca, allowAddress: (ip) => ip === "127.0.0.1" } });
    const { customer, bob, service } = world;
    const from = world.wallet("a sender", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const { body: hook } = await service.registerWebhook(customer, { url: receiver.url, events: ALL_EVENTS });
    receiver.answer(answerWith(503, "out of order"));
    const { page, complaints, at, visit, close } = await watch(world);
    await visit("");
    await page.getByText("No instance has been started yet.").waitFor();
    const { transactionId } = await world.send(customer, { from, to: bob.address, amount: "1.5" });
    await service.settled();
    // It comes to the list by itself, and its delivery to what needs a person.
    await page.getByRole("link", { name: transactionId }).click();
    await page.getByText("What the signed transaction moves once it lands.").waitFor();
    expect(await activeStates(page)).toEqual(["broadcasting"]);
    await page.getByText("It waits for news of").waitFor();
    expect(await moneyIsZero(page)).toBe(true);
    await page.getByText("webhook attempt 1 of").waitFor();
    await page.getByText("✗").first().waitFor();
    // Beneath the order its notices, beneath a notice its deliveries, with their webhook.
    const delivery = page.locator(".tree > li > ul > li > ul > li", { hasText: "delivery" }).first();
    await delivery.getByText("1 attempt").waitFor();
    expect(await delivery.getByRole("link").allTextContents()).toContain(hook.webhookId);
    await world.finalize();
    await page.getByText("It ended in completed").waitFor();
    expect(await activeStates(page)).toEqual(["completed"]);
    await page.getByText("It moved in one transaction that the sender signed.").waitFor();
    const steps = await page.locator("details[id^=step-]").count();
    expect(await takenSteps(page)).toEqual(Array.from({ length: steps - 1 }, (_, index) => index + 2));
    expect(await barriers(page)).toEqual([]);

    // The list of what needs attention, the ladder and the count-down to the next attempt.
    await visit("?attention=1");
    await page.getByText("its webhook did not take it in one attempt").first().waitFor();
    await page.goto(`${at}/webhooks`);
    await page.getByRole("link", { name: hook.webhookId }).click();
    await page.getByText("answered 503").first().waitFor();
    await page.getByText("out of order").first().waitFor();
    await page
      .locator("time[data-due] small", { hasText: /^ in \d+ (s|min)/ })
      .first()
      .waitFor();
    expect(await page.getByText("X-Service-Signature: $SIGNATURE").count()).toBeGreaterThan(0);
    expect(await barriers(page)).toEqual([]);
    receiver.answer(answerWith(200));
    await world.pass(10 * MINUTE);
    await page.locator(".ladder .pill.active").first().waitFor({ state: "detached" });
    await visit("?attention=1");
    await page.getByText("Nothing needs attention.").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test(
    "U7: a private payroll with one bad payee, its order a tree",
    { timeout: BROWSER_TEST_MS },
    async ({ open }) => {
      const world = await open();
      const payees = Array.from({ length: 4 }, (_, index) =>
        world.wallet(`payee ${index}`, { lamports: 1_000_000n, usdc: 1n }),
      );
      const { body } = await world.order(world.customer, {
        sender: world.alice,
        to: payees.map(({ address }) => ({ address, amount: "0.5" })),
      });
      const { id, address } = orderedAs(body);
      await world.freeze(payees[1] ?? world.bob, "USDC");
      const { page, complaints, at, visit, close } = await watch(world);
      await visit(`/instance?id=${id}`);
      await page.getByText("Nothing has come in yet.").waitFor();
      await world.deposit(address, { usdc: units(body.depositAmount, 6) });
      await page.getByText("As it stands on the chain.").waitFor();
      await page.getByText("0 of 4 recipients paid").waitFor();
      await world.settle(24);
      await page.getByText("3 of 4 recipients paid").waitFor();
      expect(await activeStates(page)).toContain("recent");
      expect(await moneyIsZero(page)).toBe(true);
      expect(await barriers(page)).toEqual([]);

      // Its address stands beneath it, its transfers beneath that: one click away, and they lead back.
      const transfers = page.locator(".tree > li > ul > li > ul > li", { hasText: "transfer: " });
      expect(await transfers.count()).toBe(2);
      await transfers.first().getByRole("link").click();
      await page.getByText("order-transfer@1").first().waitFor();
      expect(await transfers.first().locator("[aria-current]").count()).toBe(1);
      await page.locator(`.tree > li > a[href$="${id}"]`).click();
      await page.getByRole("heading", { name: id }).waitFor();

      await replay(page);
      // Found by what a person has at hand.
      await page.keyboard.press("/");
      await page.keyboard.type(address);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/(instance|find)\?/);
      await page.getByText(id).first().waitFor();

      // What is left of the list by its filters stands in the address.
      await page.goto(at);
      await page.getByLabel("Chart").selectOption({ label: "order-transfer@1" });
      await page.getByLabel("Status").selectOption({ label: "ended" });
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL(/workflow=order-transfer%401&status=done/);
      const rows = await page.locator("tbody tr td:nth-child(2)").allTextContents();
      expect(new Set(rows)).toEqual(new Set(["order-transfer@1"]));
      expect(complaints).toEqual([]);
      await close();
      await world.judge();
    },
  );

  test("a held refund, released by hand", { timeout: BROWSER_TEST_MS }, async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.freeze(world.alice, "USDC");
    const { page, complaints, visit, close } = await watch(world);
    await visit("?attention=1");
    await page.getByText("Nothing needs attention.").waitFor();
    await world.deposit(order.address, { usdc: order.due - 1n });
    await world.passAndSettle(31 * MINUTE);
    await world.passAndSettle(2 * DAY, 2);
    // The list that is watched has it now.
    await page.getByRole("link", { name: order.id }).first().click();
    await page.getByRole("link", { name: "Release the order" }).waitFor();
    await page.getByText("It needs attention: held: sender_frozen.").waitFor();
    expect(await activeStates(page)).toContain("resting");
    await page.locator(".flow", { hasText: "held" }).waitFor();
    expect(await moneyIsZero(page)).toBe(true);
    expect(await barriers(page)).toEqual([]);
    await world.thaw(world.alice, "USDC");
    await page.getByRole("link", { name: "Release the order" }).click();
    await page.getByText("What will happen").waitFor();
    expect(await barriers(page)).toEqual([]);
    await giveNameAndReason(page);
    await page.getByRole("heading", { name: "Done", exact: true }).waitFor();
    await page.getByRole("link", { name: "Back to" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await world.settle(8);
    await page.locator(".flow", { hasText: "refund" }).waitFor();
    expect(await moneyIsZero(page)).toBe(true);
    expect(await auditOf(world.service)).toEqual([["release", "ada"]]);
    expect((await world.shown(order)).refunds).toMatchObject([{ status: "paid" }]);
    expect(complaints).toEqual([]);
    await close();
    await world.judge();
  });

  test("an order that is cancelled", { timeout: BROWSER_TEST_MS }, async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    const { page, complaints, at, visit, close } = await watch(world);
    expect((await world.shown(order)).status).toBe("pending");
    const second = await browser.newPage();
    await second.goto(`${at}/instance?id=${order.id}`);
    await second.getByText("live", { exact: true }).waitFor();
    await visit(`/instance?id=${order.id}`);
    await page.getByRole("link", { name: "Cancel the transaction" }).click();
    await giveNameAndReason(page);
    await page.getByRole("heading", { name: "Done", exact: true }).waitFor();
    // The other page was only watched.
    await second.getByText("cancelled").first().waitFor();
    expect(await activeStates(second)).toContain("recent");
    expect(await second.getByRole("link", { name: "Cancel the transaction" }).count()).toBe(0);
    expect(await auditOf(world.service)).toEqual([["request_cancel", "ada"]]);
    // A service that does not know its chain yet may work with real money.
    const unsure = await listen(createHttpHandler({ service: world.another(), inspector: true }));
    expect((await second.goto(unsure.at))?.status()).toBe(403);
    await second.getByText("this service works, or may work, with real money").waitFor();
    await unsure.close();
    await second.context().close();
    expect(complaints).toEqual([]);
    await close();
    await world.judge();
  });
});

/** The innermost states that are marked as active; as many boxes of the drawing are filled. */
async function activeStates(page: Page): Promise<string[]> {
  // The first drawing of a chart comes after the page.
  await page.locator("svg.chart .state.active").first().waitFor();
  const names = await page.locator(".narrow .states b.on").allTextContents();
  expect(await page.locator("svg.chart .state.active").count()).toBe(names.length);
  return names;
}

/** The numbers on the drawing. A way that was taken more than three times has not all of them. */
async function takenSteps(page: Page): Promise<number[]> {
  const badges = await page.locator("svg.chart .badge-text").allTextContents();
  return [...new Set(badges.flatMap((text) => text.split(",").map(Number)))].toSorted((a, b) => a - b);
}

/** Whether each picture of money sums to zero. There is at least one. */
async function moneyIsZero(page: Page): Promise<boolean> {
  const sums = await page.locator("figure.money figcaption b").allTextContents();
  return sums.length > 0 && sums.every((sum) => sum === "0");
}

/** Walks through all steps by the slider, and back to now. Each is computed again. */
async function replay(page: Page): Promise<void> {
  await page.getByText("live", { exact: true }).waitFor();
  const slider = page.locator("#step");
  const last = Number(await slider.getAttribute("max"));
  expect(last).toBeGreaterThan(2);
  await slider.focus();
  await page.keyboard.press("Home");
  for (let step = 1; step < last; step++) {
    await page.getByText(`As it stood after step ${step}`).waitFor();
    await page.getByText(`Snapshot after step ${step}, computed again`).waitFor();
    expect(await activeStates(page)).not.toEqual([]);
    expect((await takenSteps(page)).every((taken) => taken <= step)).toBe(true);
    await page.keyboard.press("ArrowRight");
  }
  await page.getByRole("link", { name: "see it as it stands now" }).click();
  await page.getByText("live", { exact: true }).waitFor();
}

async function giveNameAndReason(page: Page): Promise<void> {
  await page.getByLabel("Your name").fill("ada");
  await page.getByLabel("Why").fill("a test");
  await page.locator("form.confirm button").click();
}

async function auditOf({ operator }: PaymentService): Promise<readonly (readonly [string, string])[]> {
  return (await operator.auditLog()).map(({ act, actor }) => [act, actor] as const);
}
