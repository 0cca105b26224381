/** Screening by amount: what came in must have come from payers who are known by name and served; and those who get it. */
// modules: private
import {
  AccountLayout,
  AuthorityType,
  createInitializeAccount3Instruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { ScreenAddress } from "../../../src/payments/frame/recipients/recipients.ts";
import type { FaultRule } from "../../../src/local/faults.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { flood } from "../../kit/flood.ts";
import { land } from "../../solana/signed-transaction.ts";
import { BY } from "../../kit/by.ts";
import { listsOutside, lyingNode, type LyingNode } from "./lying-nodes.ts";
import { holdsOf, MINUTE, orderedAs, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** Refuses whom it is told to; everybody it was asked about is remembered. */
class Refusals {
  readonly refused = new Set<string>();
  readonly asked: string[] = [];
  readonly screen: ScreenAddress = async (address, { role, transactionId }) => {
    this.asked.push(`${role} ${address} ${transactionId === null ? "before" : "after"}`);
    return this.refused.has(address) ? "refused" : "ok";
  };
}

/** A world that screens, with two people who pay in. */
interface Screened extends Scene {
  readonly refusals: Refusals;
  readonly carol: Wallet;
  readonly dave: Wallet;
  /** Brings nothing. */
  readonly mallory: Wallet;
}

const test = sceneTest.extend("world", async ({ open }): Promise<Screened> => {
  const refusals = new Refusals();
  const world = await open({}, { screen: refusals.screen });
  const wealth = { lamports: 5n * SOL, usdc: 50_000_000n };
  const [carol, dave, mallory] = [
    world.wallet("carol", wealth),
    world.wallet("dave", wealth),
    world.wallet("mallory", wealth),
  ];
  return { ...world, refusals, carol, dave, mallory };
});

const keyOf = ({ address }: { readonly address: string }): PublicKey => new PublicKey(address);

/** Pays into a new token account of this owner that is not its associated one; the payer may own it at first. */
async function payBeside(
  world: Screened,
  from: Wallet,
  order: Ordered,
  amount: bigint,
  way: "directly" | "handed over" = "directly",
): Promise<PublicKey> {
  const account = Keypair.generate();
  const mint = new PublicKey(world.mints.USDC);
  const source = new PublicKey(world.tokenAccountOf(from, "USDC"));
  const firstOwner = way === "directly" ? keyOf(order) : keyOf(from);
  await land(world, {
    signers: [from, account],
    instructions: [
      SystemProgram.createAccount({
        fromPubkey: keyOf(from),
        newAccountPubkey: account.publicKey,
        lamports: Number(await world.ledger.rentMinimum(AccountLayout.span)),
        space: AccountLayout.span,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccount3Instruction(account.publicKey, mint, firstOwner),
      createTransferCheckedInstruction(source, mint, account.publicKey, keyOf(from), amount, 6),
    ],
  });
  if (way === "handed over") {
    const handOver = createSetAuthorityInstruction(
      account.publicKey,
      keyOf(from),
      AuthorityType.AccountOwner,
      keyOf(order),
    );
    await land(world, { signers: [from], instructions: [handOver] });
  }
  await world.service.settled();
  return account.publicKey;
}

/** Opens the order's associated account and pays into it. */
async function payIn(world: Screened, from: Wallet, order: Ordered, amount = order.due): Promise<void> {
  await world.openAccount({ ...from, address: order.address as Wallet["address"] }, "USDC");
  await world.payTokens(from, order.address, "USDC", amount);
}

/** The order's associated account. */
function depositAccount(world: Screened, { address }: Ordered): string {
  return world.tokenAccountOf({ ...world.carol, address: address as Wallet["address"] }, "USDC");
}

/** What the node lists of an account. */
async function listed({ chain }: Screened, account: string): Promise<readonly unknown[]> {
  const call = { jsonrpc: "2.0", id: 1, method: "getSignaturesForAddress", params: [account] };
  const answer = await chain.fetch("http://local", { body: JSON.stringify(call) });
  return ((await answer.json()) as { result: unknown[] }).result;
}

/** A node that shows balances and lists no transaction that made them. */
const LISTS_NOTHING: FaultRule = ({ method }) =>
  method === "getSignaturesForAddress" ? { kind: "lie", answer: () => [] } : undefined;

/** Why the order is held; null while it is not. */
const heldFor = async (world: Screened, { id }: Ordered): Promise<string | null> =>
  (await world.storage.orderedTransaction(id))?.order?.holds.find(({ endedAt }) => endedAt === null)
    ?.reason ?? null;

const mattersOf = async ({ service }: Screened): Promise<readonly string[]> =>
  (await service.operator.attention()).map(({ kind }) => kind);

const release = (world: Screened, { id }: Ordered): Promise<unknown> =>
  world.service.operator.resolve(id, { action: "release" }, BY);

/** Nothing has moved and nothing moves: the order waits for the operator. */
async function expectHeld(world: Screened, order: Ordered, amount = order.due): Promise<void> {
  // Who is unknown is waited for: an hour.
  await world.passAndSettle(61 * MINUTE, 6);
  expect(await heldFor(world, order)).toBe("screening");
  expect(await world.shown(order)).toMatchObject({ refunds: [] });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  const { tokens } = await world.ledger.holdingsOf(
    order.address as Wallet["address"],
    [world.mints.USDC],
    "finalized",
  );
  expect(tokens).toEqual([amount]);
}

async function expectCompleted(world: Screened, order: Ordered): Promise<void> {
  // Who is not known yet is looked for again after some seconds.
  await world.passAndSettle(20_000, 6);
  await world.settle(6);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
}

async function expectCompletedAfter(world: Screened, payer: Wallet, order: Ordered): Promise<void> {
  const { refusals } = world;
  await expectCompleted(world, order);
  expect(refusals.asked).toContain(`depositor ${payer.address} after`);
}

test.for(["SOL", "USDC"] as const)(
  "what is left of a deposit of %s is refunded after its payout: our own payments and loans leave nothing unexplained",
  async (asset, { world }) => {
    const { carol } = world;
    const order = await world.sendTo({ asset, amount: "1", to: world.wallet("erin", {}) });
    const more = order.due / 2n;
    if (asset === "SOL") await world.pay(carol, order.address, order.due + more);
    else await payIn(world, carol, order, order.due + more);
    await world.settle(14);
    expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
    await world.passAndSettle(11 * MINUTE, 4);
    // Late money is told apart from what was there before.
    if (asset === "SOL") await world.pay(carol, order.address, order.due);
    else await payIn(world, carol, order);
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }, { status: "paid" }] });
    expect(await heldFor(world, order)).toBeNull();
    await world.passAndSettle(11 * MINUTE, 4);
    await world.judge();
  },
);

test("M8: money that was made by the issuer has no payer: held", async ({ world }) => {
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await expectHeld(world, order);
});

test("a gift of less than the smallest deposit holds nobody's order, whoever made it", async ({ world }) => {
  const { refusals, dave, carol } = world;
  const order = await world.sendTo();
  refusals.refused.add(dave.address);
  await payIn(world, carol, order);
  await world.payTokens(dave, order.address, "USDC", 999n);
  await world.deposit(order.address, { usdc: 999n });
  await world.settle(4);
  expect(refusals.asked).toContain(`depositor ${dave.address} after`);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("many gifts of less than the smallest deposit add up: what is refused is judged by its sum", async ({
  world,
}) => {
  const { refusals, dave, carol } = world;
  const order = await world.sendTo();
  refusals.refused.add(dave.address);
  await world.openAccount({ ...carol, address: order.address as Wallet["address"] }, "USDC");
  await world.payTokens(dave, order.address, "USDC", 500n);
  await world.payTokens(dave, order.address, "USDC", 500n);
  await world.payTokens(carol, order.address, "USDC", order.due);
  await expectHeld(world, order, order.due + 1_000n);
});

test("a node that does not list a deposit yet is waited for: no operator is needed", async ({ world }) => {
  const { carol } = world;
  const order = await world.sendTo();
  const list = world.chain.faults.add(LISTS_NOTHING);
  await payIn(world, carol, order);
  await world.pass(MINUTE);
  expect(await heldFor(world, order)).toBeNull();
  expect(await world.shown(order)).toMatchObject({ status: "processing", signatures: [] });
  list();
  await world.pass(MINUTE);
  await expectCompletedAfter(world, carol, order);
});

test("a deposit that a node lists late is waited for, also where an earlier one was", async ({ world }) => {
  const { carol } = world;
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  const refunds = async (): Promise<number> => (await world.shown(order)).refunds.length;
  for (const count of [1, 2]) {
    const unlisted = world.chain.faults.add(LISTS_NOTHING);
    await payIn(world, carol, order);
    await world.settle(8);
    expect(await world.stateOf(order)).toBe("resting");
    expect(await refunds()).toBe(count - 1);
    unlisted();
    await world.pass(MINUTE);
    await world.settle(4);
    expect(await refunds()).toBe(count);
    await world.pass(11 * MINUTE);
    await world.settle(4);
  }
});

for (const slots of [35, 400]) {
  test(`C46: of a deposit in two parts a node lists the later one first, ${slots} slots apart: nobody is needed`, async ({
    open,
  }) => {
    const nodes: LyingNode[] = [];
    const refusals = new Refusals();
    const world = await open({}, { screen: refusals.screen }, ({ chain, ledgerOf }) => {
      nodes.push(lyingNode(chain, "node"));
      return ledgerOf(nodes.map(({ endpoint }) => endpoint));
    });
    const carol = world.wallet("carol", { lamports: 5n * SOL, usdc: 50_000_000n });
    const order = await world.sendTo();
    await world.openAccount(order as never, "USDC");
    const hidden = { from: world.chain.slot(), to: Infinity };
    const ends = nodes.map((node) => node.tell(listsOutside(hidden)));
    await world.payTokens(carol, order.address, "USDC", 1_000_000n);
    world.chain.advance(slots);
    await world.settle(2);
    hidden.to = world.chain.slot();
    await world.payTokens(carol, order.address, "USDC", order.due - 1_000_000n);
    world.chain.advance(35);
    await world.pass(MINUTE);
    expect(await world.shown(order)).toMatchObject({ status: "processing" });
    for (const end of ends) end();
    for (let look = 0; look < 7; look++) await world.passAndSettle(10 * MINUTE, 2);
    expect(await holdsOf(world, order)).toEqual([]);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.judge();
  });
}

test("M8, C46: money that no transaction explains is held after an hour, which is a matter, and the payee gets nothing", async ({
  world,
}) => {
  const { carol } = world;
  const order = await world.sendTo();
  world.chain.faults.add(LISTS_NOTHING);
  await payIn(world, carol, order);
  await expectHeld(world, order);
  expect(await mattersOf(world)).toEqual(["held"]);
});

test("C46: a refused wallet that pays too little is held and not refunded to a clean sender; once released its payer stays released", async ({
  world,
}) => {
  const { refusals, alice, carol, dave } = world;
  const order = await world.sendTo();
  refusals.refused.add(dave.address);
  await payIn(world, dave, order, 2_000_000n);
  for (const minutes of [31, 11, 61]) await world.passAndSettle(minutes * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "INCOMPLETE_DEPOSIT",
    refunds: [],
    unreturned: [{ amount: "2", reason: "held" }],
  });
  expect([await heldFor(world, order), await mattersOf(world)]).toEqual(["screening", ["held"]]);
  await release(world, order);
  await world.passAndSettle(MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ amount: "2", status: "paid" }] });
  await payIn(world, carol, order, 3_000_000n);
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect([await heldFor(world, order), await mattersOf(world)]).toEqual([null, []]);
  expect((await world.held(alice.address))[1]).toBe(5_000_001n);
  await world.judge();
});

test("C32: an order that is declined under a hold is refused at once, and returned once it is released", async ({
  world,
}) => {
  const { refusals, alice, bob, dave } = world;
  const order = await world.sendTo();
  refusals.refused.add(dave.address);
  await payIn(world, dave, order);
  await world.passAndSettle(MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({ status: "processing", attention: "held" });
  await world.service.operator.resolve(order.id, { action: "decline" }, BY);
  await world.passAndSettle(11 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "DECLINED", refunds: [] });
  expect(await heldFor(world, order)).toBe("screening");
  await release(world, order);
  await world.passAndSettle(MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  expect((await world.held(alice.address))[1]).toBe(order.due + 1n);
  expect((await world.held(bob.address))[1]).toBe(0n);
  await world.judge();
});

test.for([
  [1_000n, "screening"],
  [999n, null],
] as const)(
  "C32: %s units of a refused wallet between two chunks keep no recipient from being paid, and the rest is held: %s",
  async ([amount, hold], { world }) => {
    const { refusals, carol, dave } = world;
    const payees = Array.from({ length: 8 }, (_, index) => world.wallet(`payee ${index}`, { usdc: 1n }));
    const to = payees.map(({ address }) => ({ address, amount: "0.5" }));
    const order = orderedAs((await world.order(world.customer, { sender: world.alice, to })).body);
    refusals.refused.add(dave.address);
    await payIn(world, carol, order, order.due + 2_000_000n);
    // The go is final with what comes now.
    expect(await transfersOf(world, order, "chunk")).toMatchObject([{ n: 0, state: "out" }]);
    await world.payTokens(dave, order.address, "USDC", amount);
    for (let look = 0; look < 3; look++) await world.passAndSettle(MINUTE, 6);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    for (const { address } of payees) expect((await world.held(address))[1]).toBe(500_001n);
    expect(await heldFor(world, order)).toBe(hold);
    expect((await world.shown(order)).refunds).toHaveLength(hold === null ? 1 : 0);
    await world.judge();
  },
);

test("M8: late money that no transaction explains is not refunded, though nothing of it was written down before", async ({
  world,
}) => {
  const { carol } = world;
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  world.chain.faults.add(LISTS_NOTHING);
  await payIn(world, carol, order);
  await world.passAndSettle(61 * MINUTE, 6);
  expect(await heldFor(world, order)).toBe("screening");
  expect(await world.shown(order)).toMatchObject({ status: "cancelled", refunds: [] });
});

describe("M25: transactions that only name a deposit address", () => {
  async function flooded(world: Screened, order: Ordered, count: number): Promise<void> {
    await flood(world, world.mallory, { address: order.address, count: count / 2 });
    await flood(world, world.mallory, { address: depositAccount(world, order), count: count / 2 });
  }

  test.for([100, 1_000])("hold no clean order: %i of them", async (count, { world }) => {
    const { carol } = world;
    const order = await world.sendTo();
    await flooded(world, order, count / 2);
    await payIn(world, carol, order);
    await flooded(world, order, count / 2);
    await world.pass(MINUTE);
    await expectCompletedAfter(world, carol, order);
  });

  test("hide no refused depositor", async ({ world }) => {
    const { refusals, dave } = world;
    const order = await world.sendTo();
    refusals.refused.add(dave.address);
    await payIn(world, dave, order);
    await flooded(world, order, 200);
    await expectHeld(world, order);
  });

  test("cost a bounded number of calls a look, and hold nothing before the search is at its end", async ({
    world,
  }) => {
    const { carol, chain } = world;
    const order = await world.sendTo();
    const account = depositAccount(world, order);
    await flood(world, world.mallory, { address: account, count: 100 });
    const page = await listed(world, account);
    // How many pages each look asks for: the list of the account never ends, each page is the same.
    const looks: number[] = [];
    const endless: FaultRule = ({ method, params }) => {
      const { before } = (params[1] ?? {}) as { before?: string };
      if (method !== "getSignaturesForAddress" || params[0] !== account) return undefined;
      if (before === undefined) looks.push(0);
      looks.push((looks.pop() ?? 0) + 1);
      return { kind: "lie", answer: () => page };
    };
    const lift = chain.faults.add(endless);
    await payIn(world, carol, order);
    for (let time = 0; time < 3; time += 1) {
      world.clock.advance(3 * MINUTE);
      await world.service.settled();
    }
    expect(looks.length).toBeGreaterThan(1);
    expect(Math.max(...looks)).toBeLessThanOrEqual(1_000);
    expect(await heldFor(world, order)).toBeNull();
    expect(await world.shown(order)).toMatchObject({ status: "processing", signatures: [] });
    lift();
    await world.pass(2 * MINUTE);
    await expectCompletedAfter(world, carol, order);
  });
});

test("M25: many token accounts that strangers opened in the name of an address hold no clean order", async ({
  world,
}) => {
  const { carol, dave } = world;
  const order = await world.sendTo();
  for (let account = 0; account < 51; account += 1) await payBeside(world, dave, order, 1_000n);
  await payIn(world, carol, order);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
});

test("many gifts of dust hold nobody's order", async ({ world }) => {
  const { carol } = world;
  const order = await world.sendTo();
  for (let index = 0; index < 100; index++) world.chain.fund(order.address, { usdc: 1n });
  world.chain.advance(35);
  await world.payTokens(carol, order.address, "USDC", order.due);
  await expectCompletedAfter(world, carol, order);
});

test("the sender, who gets what is refunded, is asked about again when money moves", async ({ world }) => {
  const { refusals, carol } = world;
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  refusals.refused.add(world.alice.address);
  await payIn(world, carol, order);
  await world.passAndSettle(MINUTE, 6);
  expect(refusals.asked).toContain(`sender ${world.alice.address} after`);
  expect(await heldFor(world, order)).toBe("screening");
  expect(await world.shown(order)).toMatchObject({ status: "cancelled", refunds: [] });
  await release(world, order);
  await world.settle(8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  await world.passAndSettle(11 * MINUTE, 6);
  await world.judge();
});

test("a recipient who is refused when it is to be paid gets nothing until the operator releases it", async ({
  world,
}) => {
  const { refusals, carol } = world;
  const order = await world.sendTo();
  refusals.refused.add(world.bob.address);
  await payIn(world, carol, order);
  await expectHeld(world, order);
  expect(refusals.asked).toContain(`recipient ${world.bob.address} after`);
  expect((await world.shown(order)).signatures).toEqual([]);
  await release(world, order);
  await world.passAndSettle(10 * MINUTE, 4);
  await expectCompleted(world, order);
});

test("an operator's release of one refused recipient is no word on another who is refused later", async ({
  world,
}) => {
  const { refusals, carol } = world;
  const [erin, frank] = [world.wallet("erin", { lamports: SOL }), world.wallet("frank", { lamports: SOL })];
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: [
      { address: erin.address, amount: "2" },
      { address: frank.address, amount: "3" },
    ],
  });
  const order = orderedAs(body);
  refusals.refused.add(erin.address);
  await payIn(world, carol, order);
  await world.passAndSettle(MINUTE, 4);
  expect(await heldFor(world, order)).toBe("screening");
  refusals.refused.add(frank.address);
  await release(world, order);
  await world.passAndSettle(20 * MINUTE, 6);
  expect(await heldFor(world, order)).toBe("screening");
  expect((await world.shown(order)).signatures).toEqual([]);
  await release(world, order);
  await world.passAndSettle(30 * MINUTE, 12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});
