/** A world of two nodes in which a copy of the database goes on: from before the payout, which another copy has made. */
import { expect, onTestFinished } from "vitest";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { passTime } from "../../kit/pass-time.ts";
import { privateFixture, units, type PrivateFixture } from "../../kit/private-fixture.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { copyWith, isPlanned, keepCopies, restore } from "./kept-copies.ts";
import { lyingNode, withoutHistoryBefore, type LyingNode } from "./lying-nodes.ts";

/** A world of two nodes, whose database is kept at each commit. */
export interface World extends PrivateFixture {
  readonly nodes: readonly [LyingNode, LyingNode];
  readonly copies: readonly Uint8Array[];
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
}

export async function open(): Promise<World> {
  const { storage, copies } = await keepCopies();
  let nodes: World["nodes"] | undefined;
  const fixture = await privateFixture({ storage }, {}, (chain) => {
    nodes = [lyingNode(chain.chain, "one"), lyingNode(chain.chain, "two")];
    return chain.ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  onTestFinished(() => fixture.close());
  if (nodes === undefined) throw new Error("the nodes are made before the service");
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = fixture.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  return { ...fixture, nodes, copies, alice, bob, customer: await fixture.caller() };
}

/** An order, and the copy of the database that has it and nothing that came of it. */
export interface Ordered {
  readonly id: string;
  readonly address: string;
  readonly due: bigint;
  readonly copy: Uint8Array;
}

export async function ordered(world: World): Promise<Ordered> {
  const { customer, alice, bob, copies } = world;
  const { body } = await world.order(customer, {
    sender: alice,
    to: [{ address: bob.address, amount: "3" }],
  });
  const copy = copies.at(-1) ?? new Uint8Array();
  return {
    id: body.transactionId,
    address: body.ephemeralAddress,
    due: units(body.depositAmount, 6),
    copy,
  };
}

/** The order is paid, and its marker stands. */
export async function paid(world: World): Promise<Ordered> {
  const order = await ordered(world);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle();
  expect(await world.service.transaction(world.customer, order.id)).toMatchObject({ status: "completed" });
  return order;
}

/** The order is paid and its address swept; then the service ends. */
export async function served(world: World): Promise<Ordered> {
  const order = await paid(world);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.service.stop();
  return order;
}

/** The copy in which the payout is planned and not signed. */
export function beforeThePayout({ copies }: World, { id }: Ordered): Uint8Array {
  return copyWith(copies, id, isPlanned("payout"));
}

/** Of the nodes given, all history up to now is gone. */
export function forget({ chain }: World, nodes: readonly LyingNode[]): void {
  for (const node of nodes) node.tell(withoutHistoryBefore(chain.slot()));
  chain.advance(40);
}

export interface Restored {
  readonly service: PaymentService;
  readonly storage: PaymentStorage;
  readonly pass: (ms: number) => Promise<void>;
  readonly heldReason: () => Promise<string | null>;
}

/** A service that starts on the copy, in a process that has asked the nodes nothing yet. */
export async function startOn(world: World, { copy, address }: Ordered): Promise<Restored> {
  const storage = await restore(copy, "nothing");
  const ledger = world.ledgerOf(world.nodes.map(({ endpoint }) => endpoint));
  const service = world.another({ storage, ledger });
  await service.start();
  onTestFinished(async () => {
    await service.stop();
    await storage.close();
  });
  const pass = async (ms: number): Promise<void> => {
    const { clock, chain } = world;
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + ms);
    for (let round = 0; round < 4; round++) {
      chain.advance(35);
      await service.settled();
    }
  };
  await pass(20_000);
  return {
    service,
    storage,
    pass,
    heldReason: async () => (await storage.deposits([address]))[0]?.heldReason ?? null,
  };
}

/** What a wallet holds in USDC. */
export const owned = async (world: World, { address }: Wallet): Promise<bigint> =>
  (await world.held(address))[1];

/** The order as its customer sees it on the restored copy. */
export const shown = (
  { service }: Restored,
  { customer }: World,
  { id }: Ordered,
): ReturnType<PaymentService["transaction"]> => service.transaction(customer, id);

/** The kinds of what waits for the operator. */
export async function mattersOf({ service }: Restored): Promise<readonly string[]> {
  return (await service.operator.attention()).map(({ kind }) => kind);
}
