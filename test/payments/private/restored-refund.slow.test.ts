/** M28: a refund that another copy of the database made, and that no node lists, is settled by the transaction that an operator names. */
import { expect, onTestFinished, test } from "vitest";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { passTime } from "../../kit/pass-time.ts";
import { privateFixture, units, type PrivateFixture } from "../../kit/private-fixture.ts";
import { keepCopies, restore } from "./kept-copies.ts";
import { lyingNode, type LyingNode } from "./lying-nodes.ts";
import { photograph } from "./photograph.ts";

const MINUTE = 60_000;
/** Base units that come before the copy, and after it. */
const FIRST = 1_000_000n;
const LATER = 700_000n;

type Asset = "USDC" | "SOL";

/** An order whose deposit was too little and has gone back, and the copy that knows nothing of it. */
interface Refunded {
  readonly world: PrivateFixture;
  readonly nodes: readonly [LyingNode, LyingNode];
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly id: string;
  readonly address: string;
  readonly copy: Uint8Array;
  /** The transaction of the refund, and what it paid. */
  readonly signature: string;
  readonly refunded: bigint;
}

const fundsOf = (asset: Asset, amount: bigint) =>
  asset === "SOL" ? { lamports: amount * 1_000n } : { usdc: amount };
const holding = async (world: PrivateFixture, { address }: Wallet, asset: Asset): Promise<bigint> =>
  (await world.held(address))[asset === "SOL" ? 0 : 1];

/** `paysMore`: the order was paid, and what came beside it went back: a refund of excess, whose words carry no amount. */
async function refunded(asset: Asset, paysMore: boolean): Promise<Refunded> {
  const { storage, copies } = await keepCopies();
  let nodes: Refunded["nodes"] | undefined;
  const world = await privateFixture({ storage }, {}, (chain) => {
    nodes = [lyingNode(chain.chain, "one"), lyingNode(chain.chain, "two")];
    return chain.ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  onTestFinished(() => world.close());
  if (nodes === undefined) throw new Error("the nodes are made before the service");
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  world.chain.advance(35);
  const amount = asset === "SOL" ? "0.02" : "3";
  const { body } = await world.order(caller, {
    sender: alice,
    asset,
    to: [{ address: bob.address, amount }],
  });
  const { transactionId: id, ephemeralAddress: address } = body;
  const due = units(body.depositAmount, asset === "SOL" ? 9 : 6);
  if (paysMore) {
    await world.deposit(address, asset === "SOL" ? { lamports: due } : { usdc: due });
    await world.settle(8);
  }
  const copy = copies.at(-1) ?? new Uint8Array();
  const before = await holding(world, alice, asset);
  await world.deposit(address, fundsOf(asset, FIRST));
  for (let look = 0; look < 3; look++) {
    await world.pass(31 * MINUTE);
    await world.settle(3);
  }
  await world.service.stop();
  const { payments = [] } = (await storage.transaction(id)) ?? {};
  const { signature } = payments.find(({ kind }) => kind === "refund") ?? {};
  const back = (await holding(world, alice, asset)) - before;
  expect(back).toBeGreaterThan(0n);
  return { world, nodes, caller, alice, id, address, copy, signature: signature ?? "", refunded: back };
}

interface Restored {
  readonly service: PaymentService;
  readonly storage: PaymentStorage;
  readonly pass: (minutes: number) => Promise<void>;
  readonly heldReason: () => Promise<string | null>;
}

/** A service on the copy, whose nodes list nothing that names any account, after more money has come. */
async function startOn({ world, nodes, copy, address }: Refunded, asset: Asset): Promise<Restored> {
  for (const node of nodes) {
    node.tell(({ method }) => (method === "getSignaturesForAddress" ? Promise.resolve([]) : undefined));
  }
  world.chain.fund(address, fundsOf(asset, LATER));
  world.chain.advance(40);
  const storage = await restore(copy, "nothing");
  const service = world.another({ storage });
  await service.start();
  onTestFinished(async () => {
    await service.stop();
    await storage.close();
  });
  const pass = async (minutes: number): Promise<void> => {
    const { clock, chain } = world;
    await passTime(
      { clock, engine: service, storage, workflows: service.workflows },
      clock.now() + minutes * MINUTE,
    );
    for (let round = 0; round < 4; round++) {
      chain.advance(35);
      await service.settled();
    }
  };
  const heldReason = async (): Promise<string | null> =>
    (await storage.deposits([address]))[0]?.heldReason ?? null;
  for (let look = 0; look < 3; look++) await pass(31);
  return { service, storage, pass, heldReason };
}

test.each([
  ["USDC", false],
  ["SOL", false],
  ["USDC", true],
  ["SOL", true],
] as const)(
  "M28: a refund of %s (of excess: %s) that another copy made is booked with what it paid, and later money goes back once",
  async (asset, paysMore) => {
    const order = await refunded(asset, paysMore);
    const { world, alice, id, address, signature } = order;
    const before = await holding(world, alice, asset);
    const { service, storage, pass, heldReason } = await startOn(order, asset);
    expect(await heldReason()).toBe("unknown_spending");
    await service.operator.releaseDeposit(id, BY);
    await pass(5);
    expect(await heldReason()).toBe("unknown_spending");
    expect(await holding(world, alice, asset)).toBe(before);

    const paid = await storage.transaction(id);
    expect(paid?.payments.filter(({ kind }) => kind === "refund")).toMatchObject([{ status: "planned" }]);
    const settled = await service.operator.settleTransaction({ transactionId: id, signature }, BY);
    expect(settled).toMatchObject({ signature, kind: "refund", paid: [{ address: alice.address }] });
    await pass(5);
    await service.operator.releaseDeposit(id, BY);
    for (let look = 0; look < 3; look++) await pass(31);
    expect(await heldReason()).toBeNull();
    const refunds = (await storage.entries(address)).filter(({ kind }) => kind === "refund");
    expect(refunds).toMatchObject([{ signature, amount: order.refunded }, {}]);
    const back = (await holding(world, alice, asset)) - before;
    expect(back).toBeGreaterThan(0n);
    expect(refunds[1]?.amount).toBe(back);
    expect((await service.reconcile()).findings).toEqual([]);
    for (const minutes of [15, 15, 61, 61]) {
      world.chain.advance(200);
      await pass(minutes);
    }
    const { accounts } = await photograph(world.chain);
    expect(accounts.filter(({ owner }) => owner === address)).toEqual([]);
    expect(await service.operator.auditLog()).toMatchObject([
      { act: "release" },
      { act: "settle" },
      { act: "release" },
    ]);
  },
);

test("M28: a refund is settled by no other transaction, by none that nodes tell differently, and by one decision alone", async () => {
  const order = await refunded("USDC", false);
  const { world, nodes, id, address, signature } = order;
  const { service, storage, pass } = await startOn(order, "USDC");
  const settle = (name: string) =>
    service.operator.settleTransaction({ transactionId: id, signature: name }, BY);
  const funding = world.chain.fund(address, { usdc: 500_000n });
  world.chain.advance(40);
  await expect(settle(funding)).rejects.toThrow("it has made no marker of a payment that waits");
  await expect(settle("5".repeat(87))).rejects.toThrow("fewer endpoints than must agree have it");
  const endLie = nodes[1].tell(({ method, truth }) =>
    method === "getTransaction"
      ? truth().then((honest) => {
          const { meta, ...rest } = honest as { readonly meta: { readonly preTokenBalances: unknown } };
          return { ...rest, meta: { ...meta, postTokenBalances: meta.preTokenBalances } };
        })
      : undefined,
  );
  await expect(settle(signature)).rejects.toThrow("nodes differ");
  endLie();
  const { payments = [] } = (await storage.transaction(id)) ?? {};
  expect(payments.some(({ status }) => status === "finalized")).toBe(false);
  expect(await service.operator.auditLog()).toEqual([]);
  await settle(signature);
  await pass(5);
  await expect(settle(signature)).rejects.toThrow("no payment of it waits");
});
