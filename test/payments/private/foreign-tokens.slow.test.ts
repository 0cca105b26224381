/** P11: tokens that are none of the service's assets are told to the customer and the operator, and leave on two people's word. */
// modules: private
import { expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import type { ActContext } from "../../../src/payments/frame/intake/rules.ts";
import type { ResolveResult } from "../../../src/payments/frame/acts/command.ts";
import type { Matter } from "../../../src/payments/frame/acts/matter.ts";
import { BY } from "../../kit/by.ts";
import { lyingAbout, oddEndpoint, type OddEndpoint } from "../../kit/odd-endpoints.ts";
import { sampled } from "../../kit/thorough.ts";
import { foreignMint, type ForeignMint } from "./foreign-mint.ts";
import { MINUTE, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** Another person than that of `BY`. */
const BEA: ActContext = { actor: "bea", reason: "checked with the bank" };

const mattersIn = async ({ service }: Pick<Scene, "service">): Promise<readonly Matter[]> =>
  (await service.operator.attention()).filter(({ kind }) => kind === "unexplained");

const matterOf = ({ id }: Ordered): string => `unexplained:tokens@${id}`;

/** An order that is paid and over, at whose address a foreign mint has arrived before. */
async function settledWith(
  world: Scene,
  program: "token" | "token-2022",
  units = 7_000_000n,
  extension?: "hook" | "fee",
): Promise<{ readonly order: Ordered; readonly foreign: ForeignMint }> {
  const order = await world.sendTo();
  const foreign = await foreignMint(world, program, extension);
  await foreign.give(order.address, units);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  await world.service.reconcile();
  return { order, foreign };
}

/** Asked for by one person. */
const asked = ({ service }: Pick<Scene, "service">, { id }: Ordered, mint: string, address?: string) =>
  service.operator.resolve(
    id,
    { action: "foreign", mint, ...(address === undefined ? {} : { address }) },
    BY,
  );

/** Asked for by one person and confirmed by another. */
async function sent(world: Scene, order: Ordered, mint: string, to?: string): Promise<ResolveResult> {
  const { address } = await asked(world, order, mint, to);
  if (address === undefined) throw new Error("who gets it is to be confirmed");
  return world.service.operator.approve(order.id, { address }, BEA);
}

const PROGRAMS = ["token", "token-2022"] as const;

test.for(sampled(PROGRAMS, "mints that go back"))(
  "P11: a mint of the program %s is told when the order is over, is a matter, and goes back to the sender on two people's word",
  async (program, { world }) => {
    const { order, foreign } = await settledWith(world, program);
    const { mint } = foreign;
    const shown = await world.shown(order);
    expect(shown).toMatchObject({ status: "completed", refunds: [] });
    expect(shown.received?.filter((each) => each.mint === mint)).toMatchObject([
      { asset: mint, amount: formatAmount(7_000_000n, 6), decimals: 6, payer: null, counted: false },
    ]);
    expect(await mattersIn(world)).toMatchObject([
      { id: matterOf(order), transactionId: order.id, message: expect.stringContaining(mint) as string },
    ]);
    expect((await world.service.reconcile()).findings).toMatchObject([
      { findings: [{ finding: "other_mint", mint, units: "7000000" }] },
    ]);
    expect(await asked(world, order, mint)).toMatchObject({
      state: "awaits_approval",
      address: world.alice.address,
      allowed: { [mint]: "7000000" },
    });
    const confirmation = { address: world.alice.address };
    await expect(world.service.operator.approve(order.id, confirmation, BY)).rejects.toThrow(
      "another actor has to approve",
    );
    expect(await world.service.operator.approve(order.id, confirmation, BEA)).toMatchObject({
      state: "done",
    });
    await world.settle(8);
    expect(await foreign.heldBy(world.alice.address)).toBe(7_000_000n);
    expect(await foreign.heldBy(order.address)).toBe(0n);
    expect(await mattersIn(world)).toEqual([]);
    expect(await world.service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
    await world.judge();
  },
);

test("P11: tokens that an issuer has frozen are told, and an account that holds nothing is not", async ({
  world,
}) => {
  const [order, other] = [await world.sendTo(), await world.sendTo()];
  const frozen = await foreignMint(world, "token");
  await frozen.give(order.address, 3n);
  await frozen.freeze(order.address);
  await frozen.give(other.address, 0n);
  for (const { id } of [order, other]) await world.service.cancelTransaction(world.customer, id);
  await world.settle(2);
  await world.service.reconcile();
  expect((await mattersIn(world)).map(({ id }) => id)).toEqual([matterOf(order)]);
});

test("P11: a dropped matter comes back with the next tokens only", async ({ world }) => {
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 7n);
  await world.service.reconcile();
  expect(await mattersIn(world)).toHaveLength(1);
  await world.service.operator.resolve(matterOf(order), { action: "drop" }, BY);
  await world.passAndSettle(3 * MINUTE, 2);
  await world.service.reconcile();
  expect(await mattersIn(world)).toEqual([]);
  await foreign.give(order.address, 2n);
  await world.service.reconcile();
  expect(await mattersIn(world)).toHaveLength(1);
});

test("P11: what one of two nodes invents is told to nobody, and what both show is", async ({ open }) => {
  const nodes: OddEndpoint[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    nodes.push(oddEndpoint(chain, "one"), oddEndpoint(chain, "two"));
    return ledgerOf(nodes.map(({ option }) => option));
  });
  const order = await world.sendTo();
  const { mint, give } = await foreignMint(world, "token");
  const data = Buffer.alloc(165);
  for (const [at, key] of [mint, order.address].entries()) {
    Buffer.from(new (await import("@solana/web3.js")).PublicKey(key).toBytes()).copy(data, at * 32);
  }
  data.writeBigUInt64LE(5n, 64);
  data[108] = 1;
  const account = {
    lamports: 2_039_280,
    owner: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    data: [data.toString("base64"), "base64"],
    executable: false,
    rentEpoch: 0,
    space: 165,
  };
  const invented = { pubkey: world.ledger.tokenAccountOf(order.address as Address, mint), account };
  const [liar] = nodes;
  if (liar === undefined) throw new Error("there are two nodes");
  liar.rule = lyingAbout(
    "getTokenAccountsByOwner",
    (told: { context: object; value: readonly unknown[] }) => ({ ...told, value: [...told.value, invented] }),
  );
  await world.service.cancelTransaction(world.customer, order.id);
  await world.service.reconcile();
  expect(await mattersIn(world)).toEqual([]);
  liar.rule = undefined;
  await give(order.address, 5n);
  await world.service.reconcile();
  expect(await mattersIn(world)).toHaveLength(1);
});

test("M10: another owner than the sender is screened, and what two people send him is what was there when the first one asked, once", async ({
  open,
}) => {
  const refused = new Set<string>();
  const world = await open({}, { screen: async (address) => (refused.has(address) ? "refused" : "ok") });
  const order = await world.sendTo();
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 7_000_000n);
  await world.service.cancelTransaction(world.customer, order.id);
  await world.service.reconcile();
  const { mint } = foreign;
  const to = world.wallet("dave", { lamports: SOL }).address;
  refused.add(to);
  await expect(asked(world, order, mint, to)).rejects.toThrow(`the host's screening refuses ${to}`);
  refused.delete(to);
  expect(await asked(world, order, mint, to)).toMatchObject({ address: to, allowed: { [mint]: "7000000" } });
  await foreign.give(order.address, 2_000_000n);
  world.chain.advance(35);
  const { operator } = world.service;
  await expect(operator.approve(order.id, { address: world.alice.address }, BEA)).rejects.toThrow(
    "confirm that",
  );
  const confirmed = await Promise.allSettled(
    [BEA, { ...BEA, actor: "Cleo" }].map((by) => operator.approve(order.id, { address: to }, by)),
  );
  expect(confirmed.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await world.settle(8);
  expect(await foreign.heldBy(to)).toBeLessThanOrEqual(7_000_000n);
  expect(await foreign.heldBy(to)).toBeGreaterThan(0n);
  expect((await operator.auditLog()).map(({ act }) => act)).toEqual(["request_foreign", "foreign"]);
});

test("P11: while the order is open it has to wait, and what names no mint, an asset or nobody who can be paid is refused", async ({
  world,
}) => {
  const order = await world.sendTo();
  const { mint, give } = await foreignMint(world, "token");
  await give(order.address, 5n);
  await expect(asked(world, order, mint)).rejects.toThrow("is not over: wait until it is");
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  await expect(asked(world, { ...order, id: "tx_0" }, mint)).rejects.toThrow("tx_0");
  await expect(asked(world, order, "DOGE")).rejects.toThrow("mint: DOGE is no address of a mint");
  await expect(asked(world, order, world.mints.USDC)).rejects.toThrow("it goes back by itself");
  await expect(asked(world, order, world.alice.address)).rejects.toThrow("holds nothing of");
  await expect(asked(world, order, mint, "0x12")).rejects.toThrow("address: 0x12 is no address");
  for (const own of [order.address, world.sponsor.address, world.treasury.address]) {
    await expect(asked(world, order, mint, own)).rejects.toThrow("is one of the service's own");
  }
  await expect(asked(world, order, mint, mint)).rejects.toThrow("cannot be paid (mint): name a wallet");
  await world.judge();
});

test("P11: the sponsor runs no program of a mint's own, and what an issuer has frozen stays", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token-2022", 9n, "hook");
  const frozen = await foreignMint(world, "token");
  await frozen.give(order.address, 3n);
  await frozen.freeze(order.address);
  await world.service.reconcile();
  for (const { mint } of [foreign, frozen]) {
    await sent(world, order, mint).catch(() => undefined);
    await world.settle(4);
  }
  for (const { id } of await transfersOf(world, order, "foreign")) {
    expect(await world.storage.attemptsOf(id)).toEqual([]);
  }
  expect(await foreign.heldBy(order.address)).toBe(9n);
  expect(await frozen.heldBy(order.address)).toBe(3n);
  // What comes of our own assets is refunded as ever.
  await world.deposit(order.address, { usdc: 2_000_000n });
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect((await world.shown(order)).refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
});
