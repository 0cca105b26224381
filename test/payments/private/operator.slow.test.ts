/** What an operator sees and decides: money that is held, screening, what nobody watches any more, and purses that run dry. */
// modules: private
import { expect } from "vitest";
import { OperatorRefused } from "../../../src/payments/frame/acts/act.ts";
import type { ScreenAddress } from "../../../src/payments/frame/recipients/recipients.ts";
import { recorder } from "../../core/recorder.ts";
import { BY } from "../../kit/by.ts";
import { DAY, holdsOf, HOUR, MINUTE, SOL } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** Refuses one address; everybody it was asked about is remembered. */
function refusing(): {
  readonly screen: ScreenAddress;
  refuse(address: string): void;
  readonly asked: string[];
} {
  const refused = new Set<string>();
  const asked: string[] = [];
  return {
    asked,
    refuse: (address) => void refused.add(address),
    screen: async (address, { role, transactionId }) => {
      asked.push(`${role} ${address} ${transactionId === null ? "before" : "after"}`);
      return refused.has(address) ? "refused" : "ok";
    },
  };
}

test("a screened sender or recipient is refused before anything is taken, as not served", async ({
  open,
}) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  screening.refuse(world.alice.address);
  await expect(world.sendTo()).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    details: { fields: [{ path: "sender", reason: "not_served" }] },
  });
  screening.refuse(world.bob.address);
  world.clock.advance(10 * 60_000);
  await expect(world.sendTo()).rejects.toMatchObject({
    code: "INVALID_RECIPIENT",
    details: { index: 0, address: world.bob.address, reason: "not_served" },
  });
  expect(screening.asked.slice(0, 2)).toEqual([
    `recipient ${world.bob.address} before`,
    `sender ${world.alice.address} before`,
  ]);
});

test("a screening that cannot answer takes no order, and after a deposit it is asked again until it can", async ({
  open,
}) => {
  let isDown = true;
  const screen: ScreenAddress = async () => {
    if (isDown) throw new Error("the list is out of reach");
    return "ok";
  };
  const world = await open({}, { screen });
  await expect(world.sendTo()).rejects.toMatchObject({
    code: "ROUTING_UNAVAILABLE",
    details: { reason: "upstream" },
  });
  isDown = false;
  const order = await world.sendTo();
  isDown = true;
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  await world.payTokens(carol, order.address, "USDC", order.due);
  await world.settle(4);
  expect(await world.shown(order)).toMatchObject({ status: "processing", signatures: [] });
  isDown = false;
  await world.passAndSettle(2 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("a refused depositor holds the money: nothing is paid out or back until the operator releases it", async ({
  open,
}) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const order = await world.sendTo();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  screening.refuse(carol.address);
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  await world.payTokens(carol, order.address, "USDC", order.due);
  await world.passAndSettle(HOUR, 4);
  expect(await world.shown(order)).toMatchObject({ status: "processing", signatures: [], refunds: [] });
  expect(await holdsOf(world, order)).toEqual(["screening"]);
  expect(screening.asked).toContain(`depositor ${carol.address} after`);
  expect((await world.held(order.address))[1]).toBe(order.due);
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("a refused depositor of a cancelled order gets nothing back either", async ({ open }) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  const carol = world.wallet("carol", { lamports: 2n * SOL });
  screening.refuse(carol.address);
  await world.pay(carol, order.address, SOL);
  await world.passAndSettle(MINUTE, 6);
  expect(await holdsOf(world, order)).toEqual(["screening"]);
  expect(await world.shown(order)).toMatchObject({
    status: "cancelled",
    refunds: [],
    unreturned: [{ asset: "SOL", amount: "1", reason: "held" }],
    attention: "held",
  });
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.settle(8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ asset: "SOL", status: "paid" }] });
  await world.passAndSettle(11 * MINUTE, 6);
  await world.judge();
});

test("C70: who pays in while an order is held for another reason is asked about once that is released, and is held if he is refused", async ({
  open,
}) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  const mallory = world.wallet("mallory", { lamports: SOL, usdc: 900_000_000n });
  screening.refuse(mallory.address);
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  await world.freeze(world.alice, "USDC");
  await world.payTokens(carol, order.address, "USDC", 2_000_000n);
  await world.passAndSettle(5 * MINUTE, 6);
  expect(await holdsOf(world, order)).toEqual(["sender_frozen"]);
  await world.payTokens(mallory, order.address, "USDC", 500_000_000n);
  await world.passAndSettle(HOUR, 6);
  await world.thaw(world.alice, "USDC");
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.passAndSettle(5 * MINUTE, 8);
  expect(await holdsOf(world, order)).toEqual(["screening"]);
  expect((await world.held(order.address))[1]).toBe(502_000_000n);
  expect((await world.held(world.alice.address))[1]).toBe(1n);
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.passAndSettle(5 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ asset: "USDC", status: "paid" }] });
  await world.passAndSettle(11 * MINUTE, 6);
  await world.judge();
});

test("C75: while it is not known who gave a part, nobody is asked about the others again and again", async ({
  open,
}) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const order = await world.sendTo();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  const before = screening.asked.length;
  await world.payTokens(carol, order.address, "USDC", order.due / 2n);
  // What the issuer makes has no payer.
  await world.deposit(order.address, { usdc: order.due - order.due / 2n });
  await world.passAndSettle(59 * MINUTE, 2);
  expect(await world.stateOf(order)).toBe("deciding");
  expect(screening.asked.slice(before).filter((each) => each.includes(carol.address))).toHaveLength(1);
  await world.passAndSettle(2 * MINUTE, 2);
  expect(await holdsOf(world, order)).toEqual(["screening"]);
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.passAndSettle(MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(screening.asked.slice(before)).toContain(`recipient ${world.bob.address} after`);
  await world.judge();
});

test("C76: a payer who holds more lamports than JSON's numbers can tell is known", async ({ open }) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const exchange = world.wallet("exchange", { lamports: 2n ** 53n + 10n * SOL });
  const order = await world.sendTo({ asset: "SOL", amount: "0.1" });
  await world.pay(exchange, order.address, order.due + 1n);
  await world.passAndSettle(MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({
    status: "completed",
    received: [{ payer: exchange.address }],
  });
  expect(screening.asked).toContain(`depositor ${exchange.address} after`);
  await world.judge();
});

test("who served depositors are is asked of the right ones: neither our sponsor nor the address itself", async ({
  open,
}) => {
  const screening = refusing();
  const world = await open({}, { screen: screening.screen });
  const order = await world.sendTo();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 9_000_000n });
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  await world.payTokens(carol, order.address, "USDC", order.due + 3_000_000n);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
  const asked = screening.asked.filter((each) => each.startsWith("depositor"));
  expect(asked.some((each) => each.includes(carol.address))).toBe(true);
  expect(asked.some((each) => each.includes(world.sponsor.address))).toBe(false);
  expect(asked.some((each) => each.includes(order.address))).toBe(false);
  await world.judge();
});

test("what comes to an address that nobody watches any more is found by reconcile, and goes back", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  await world.passAndSettle(DAY + MINUTE, 1);
  await world.passAndSettle(61 * DAY, 1);
  expect(await world.stateOf(order)).toBe("closed");
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(DAY, 2);
  expect(await world.shown(order)).toMatchObject({ refunds: [] });
  expect(await world.service.reconcile()).toMatchObject({ isExplained: true });
  await world.settle(8);
  await world.passAndSettle(11 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
    refunds: [{ asset: "USDC", status: "paid" }],
  });
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("of two who hold an order at once one does, with one row in the audit log, and what is no private transaction is refused", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const both = await Promise.allSettled([
    world.service.operator.resolve(order.id, { action: "hold" }, BY),
    world.another().operator.resolve(order.id, { action: "hold" }, { actor: "bea", reason: "drill" }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const [refused] = both.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
  expect(refused).toBeInstanceOf(OperatorRefused);
  expect(refused?.message).toMatch(/somebody else has just decided|is held already/);
  await world.settle(2);
  await expect(world.service.operator.resolve("tx_0", { action: "hold" }, BY)).rejects.toThrow(
    OperatorRefused,
  );
  expect(await world.service.operator.auditLog()).toMatchObject([
    { act: "hold", what: { transactionId: order.id } },
  ]);
  await world.judge();
});

test("a start warns of a sponsor with too little, naming what is missing, and of a treasury that does not exist", async ({
  open,
}) => {
  const { logger, lines } = recorder();
  const world = await open();
  await world.service.stop();
  const poor = world.wallet("poor sponsor", { lamports: 1_000_000n });
  const nobody = (await import("@solana/web3.js")).Keypair.generate().publicKey.toBase58();
  const { keypairSigner } = await import("../../../src/ledger/sign-transaction.ts");
  const { FIXED_PRICES } = { FIXED_PRICES: { rate: async () => ({ give: 1n, get: 1n }) } };
  const service = world.another({
    logger,
    privateRouting: { sponsor: keypairSigner(poor.secretKey), treasury: nobody, prices: FIXED_PRICES },
  });
  await service.start();
  await service.stop();
  const warned = lines.filter(({ level }) => level === "warn");
  expect(warned.map(({ message }) => message)).toEqual([
    "token accounts of the sponsor are missing: what is due to it in these tokens is left out",
    "the sponsor of private mode has too little for so many sends at once",
    "the treasury of private mode is no wallet on the chain: fees that are due to it wait until it is one",
    // Of the treasury, in both tokens.
    ...Array<string>(2).fill(
      "a token account of private mode is missing: make it, or what is due to it in this asset is left out",
    ),
  ]);
  expect(warned[1]?.fields).toMatchObject({
    sponsor: poor.address,
    missing: expect.stringMatching(/^\d+\.\d+$/) as string,
  });
});
