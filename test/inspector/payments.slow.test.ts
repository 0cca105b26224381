/** A payment service in the inspector: its money sums to zero, everything is found, no secret is shown, acts are audited. */
// modules: private
import { expect } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import { sceneTest as test } from "../payments/private/scene-test.ts";
import { orderedAs, type Scene } from "../payments/private/scene.ts";
import { BY } from "../kit/by.ts";
import { units } from "../kit/money.ts";
import { viewerOf } from "./viewer.ts";

const inspect = ({ service, clock }: Pick<Scene, "service" | "clock">) =>
  viewerOf(createHttpHandler({ service, clock, inspector: { acts: true } }));

test("a payroll with one bad payee: its money sums to zero, its transfers are one click away, and no bytes are shown", async ({
  open,
}) => {
  const world = await open();
  const { customer, alice, service } = world;
  const payees = Array.from({ length: 4 }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000n, usdc: 1n }),
  );
  const { body } = await world.order(customer, {
    sender: alice,
    to: payees.map(({ address }) => ({ address, amount: "0.5" })),
  });
  const order = orderedAs(body);
  const [bad, good] = payees;
  if (bad === undefined || good === undefined) throw new Error("there are four");
  await world.freeze(bad, "USDC");
  const look = inspect(world);
  const opened = await look.text(`/instance?id=${order.id}`);
  expect(opened).toContain("Nothing has come in yet.");
  await world.deposit(order.address, { usdc: units(body.depositAmount, 6) });
  await world.settle(24);
  const page = await look.text(`/instance?id=${order.id}`);
  expect(page).toContain("3 of 4 recipients paid");
  expect(page).toMatch(/in [\d.]+ USDC − out and held [\d.]+ USDC = 0 /);
  expect(page).not.toMatch(/= -?[1-9]/);
  expect(page).not.toContain("waits for its transfer");
  const { reads } = service.inspected.payments;
  const [view] = await reads.orderViews([order.id]);
  const transfers = view?.transfers ?? [];
  expect(transfers.map(({ kind }) => kind).toSorted()).toEqual(["chunk", "rest"]);
  const html = await look.html(`/instance?id=${order.id}`);
  for (const { id } of transfers) expect(html).toContain(`/_inspector/instance?id=${encodeURIComponent(id)}`);
  expect(page).toMatch(/chunk 0 decided, outcome \d+/);
  expect(await look.text("/health")).toMatch(/Newest final slot \d+, of .* Endpoints 1 answer, 1 must agree/);
  // Found by what a person has at hand; exactly one hit is gone to at once.
  const attempts = await reads.attemptsOfAny(transfers.map(({ id }) => id));
  const signature = attempts[0]?.id ?? "";
  for (const known of [order.address, good.address]) {
    const found = await look.get(`/find?${new URLSearchParams({ q: known }).toString()}`);
    expect([found.status, found.headers.get("location") ?? (await found.text())]).toEqual([
      expect.any(Number),
      expect.stringContaining(order.id),
    ]);
  }
  expect((await look.get(`/find?q=${signature}`)).status).toBe(303);
  expect(await look.text("/find?q=nothing-of-ours")).toContain("Nothing: no instance has this id");
  // Signed bytes are in the database, and on no page.
  expect(attempts.length).toBeGreaterThan(0);
  const pages = await Promise.all(
    [
      "",
      "/timers",
      "/webhooks",
      "/health",
      ...[order.id, ...transfers.map(({ id }) => id)].map((id) => `/instance?id=${id}`),
    ].map(look.html),
  );
  for (const { bytes } of attempts) {
    for (const spelling of [Buffer.from(bytes).toString("base64"), Buffer.from(bytes).toString("hex")]) {
      for (const each of pages) expect(each).not.toContain(spelling.slice(0, 80));
    }
  }
  await world.judge();
});

test("an open order is cancelled by hand, once, and the audit log has who and why", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  const look = inspect(world);
  expect(await look.text(`/instance?id=${order.id}`)).toContain("Cancel the transaction …");
  // Facts of the chain are no acts: what moves money is believed from the chain alone.
  expect((await look.act({ id: order.id, do: "send", event: "FUNDED" })).status).toBe(409);
  expect((await look.act({ id: order.id, do: "cancel" })).status).toBe(200);
  expect((await world.shown(order)).status).toBe("cancelled");
  expect((await look.act({ id: order.id, do: "cancel" })).status).toBe(409);
  expect(await world.service.operator.auditLog()).toMatchObject([
    { act: "request_cancel", actor: "ada", reason: "a test", what: { transactionId: order.id } },
  ]);
  await world.judge();
});

test("a held order needs attention until it is released", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  const hold = { id: "hold", order: order.id, reason: "screening", since: 0, endedAt: null, covers: null };
  await world.storage.commit([{ writes: [{ table: "holds", insert: hold }] }]);
  const { text } = inspect(world);
  expect(await text(`/instance?id=${order.id}`)).toContain("held: screening");
  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  expect(await text(`/instance?id=${order.id}`)).not.toContain("held: ");
});
