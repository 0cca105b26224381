/** Orders that are not taken, and what is ignored in those that are. */
// modules: private
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { TransactionRequest } from "../../../src/payments/frame/requests.ts";
import { everythingIn, recorder } from "../../core/recorder.ts";
import { SOL, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** A body for POST /v1/transactions over a fresh quote. */
async function request(
  world: Scene,
  recipients: readonly { address: string; amount: string }[],
  more: Partial<TransactionRequest> = {},
): Promise<TransactionRequest> {
  const { body: quote } = await world.service.createQuote(world.customer, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
    recipients: [{ address: world.bob.address, amount: "5" }],
  });
  return {
    type: "send",
    mode: "private",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients: recipients.map((share) => ({ ...share })),
    ...more,
  };
}

test("P1: a signedTransaction that was given is ignored and never broadcast", async ({ open }) => {
  const world = await open();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  const { body: signed } = await world.prepareSend(world.customer, {
    from: carol,
    to: world.bob.address,
    amount: "5",
  });
  const body = await request(world, [{ address: world.bob.address, amount: "5" }], {
    signedTransaction: signed.signedTransaction,
  });
  const { body: created } = await world.service.createTransaction(world.customer, body);
  expect(created).toMatchObject({ mode: "private", status: "pending" });
  expect(created).not.toHaveProperty("signature");
  await world.settle(3);
  expect((await world.held(carol.address))[1]).toBe(9_000_000n);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
});

test("P2: every order has an address of its own, derived anew each time and stored nowhere as a key", async ({
  open,
}) => {
  const { logger, lines } = recorder();
  const world = await open({ logger });
  const orders = [await world.sendTo(), await world.sendTo(), await world.sendTo()];
  expect(new Set(orders.map(({ address }) => address)).size).toBe(3);
  // The key brings the money out again in another process that has nothing but the database and the master secret.
  await world.service.stop();
  const again = world.another();
  await again.start();
  const [first] = orders;
  world.chain.fund(first?.address ?? "", { usdc: first?.due ?? 0n });
  for (let round = 0; round < 8; round++) {
    world.chain.advance(35);
    await again.settled();
  }
  expect(await again.transaction(world.customer, first?.id ?? "")).toMatchObject({ status: "completed" });
  await again.stop();
  expect(everythingIn(lines)).not.toMatch(/secretKey|privateKey/);
});

test("R16: exactly as many recipients as the host allows are taken, and one more is not", async ({
  open,
}) => {
  const world = await open({}, { maxRecipients: 2 });
  const to = [1, 2, 3].map((name) => ({ address: world.wallet(`payee ${name}`).address, amount: "5" }));
  const { body } = await world.order(world.customer, { sender: world.alice, to: to.slice(0, 2) });
  expect(body).toMatchObject({ status: "pending" });
  const fields = [{ path: "recipients", message: "at most 2 recipients" }];
  const refusal = { code: "VALIDATION_ERROR", details: { fields } };
  await expect(world.order(world.customer, { sender: world.alice, to })).rejects.toMatchObject(refusal);
});

test("P20: a recipient named twice is refused", async ({ open }) => {
  const world = await open();
  const twice = [
    { address: world.bob.address, amount: "2" },
    { address: world.bob.address, amount: "3" },
  ];
  const body = await request(world, twice, { type: "payroll" });
  await expect(world.service.createTransaction(world.customer, body)).rejects.toMatchObject({
    code: "INVALID_RECIPIENT",
    details: { index: 1, reason: "duplicate" },
  });
});

test("P32: refunds cannot go round: no address of ours is a sender, not even one of another account", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const other = await world.caller();
  for (const sender of [order.address, world.sponsor.address, world.treasury.address]) {
    const { body: quote } = await world.service.createQuote(other, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "5",
      mode: "private",
    });
    const refused = world.service.createTransaction(other, {
      type: "send",
      mode: "private",
      quoteId: quote.quoteId,
      sender,
      recipients: [{ address: world.bob.address, amount: "5" }],
    });
    await expect(refused).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ path: "sender" }] },
    });
  }
});

test("P21: a quote that expired before the order is refused; one that expires before its deposit still pays exactly", async ({
  open,
}) => {
  const world = await open();
  const body = await request(world, [{ address: world.bob.address, amount: "5" }]);
  const order = await world.sendTo();
  world.clock.advance(61_000);
  await expect(world.service.createTransaction(world.customer, body)).rejects.toMatchObject({
    code: "INVALID_QUOTE",
    details: { reason: "expired" },
  });
  world.clock.advance(10 * 60_000);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("P31: an empty sponsor is ROUTING_UNAVAILABLE before anything is taken, and strands nothing that was", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due - 1n });
  const sponsor = world.sponsor;
  const drain = async (): Promise<void> => {
    const [lamports] = await world.held(sponsor.address);
    await world.pay(sponsor, world.treasury.address, lamports);
  };
  await drain();
  await expect(world.sendTo()).rejects.toMatchObject({
    code: "ROUTING_UNAVAILABLE",
    details: { reason: "capacity", retryAfter: 30 },
  });
  // What was taken before waits for the sponsor, however long that takes, and goes on by itself.
  await world.deposit(order.address, { usdc: 1n });
  await world.passAndSettle(40 * 60_000, 4);
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  world.chain.fund(sponsor.address, { lamports: SOL });
  world.chain.advance(35);
  await world.passAndSettle(2 * 60_000, 12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("P31: orders promise the sponsor's lamports to each other's exclusion, and give them back when they are over", async ({
  open,
}) => {
  const world = await open();
  const [lamports] = await world.held(world.sponsor.address);
  await world.pay(world.sponsor, world.treasury.address, lamports - SOL / 10n);
  // Each account has a share of the sponsor, so that it takes several to use up the whole.
  const send = async (): Promise<{ caller: Caller; id: string }> => {
    const caller = await world.caller("enterprise");
    const to = [{ address: world.bob.address, amount: "5" }];
    const { body } = await world.order(caller, { sender: world.alice, to });
    return { caller, id: body.transactionId };
  };
  const taken: Awaited<ReturnType<typeof send>>[] = [];
  let refused: unknown = null;
  while (refused === null) {
    await send().then(
      (order) => taken.push(order),
      (error: unknown) => (refused = error),
    );
  }
  expect(refused).toMatchObject({ code: "ROUTING_UNAVAILABLE", details: { reason: "capacity" } });
  expect(taken.length).toBeGreaterThan(5);
  for (const { caller, id } of taken) await world.service.cancelTransaction(caller, id);
  await world.settle(2);
  await expect(send()).resolves.toMatchObject({ id: expect.any(String) as string });
});
