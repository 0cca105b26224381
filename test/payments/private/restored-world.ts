/** A world of two nodes in which a copy of the database goes on: from before the payout, which another copy has made. */
// modules: private
import { expect, onTestFinished } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { passTime } from "../../kit/pass-time.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { VirtualClock } from "../../kit/virtual-clock.ts";
import { keepCopies, restore } from "./kept-copies.ts";
import { lyingNode, withoutHistoryBefore, type LyingNode } from "./lying-nodes.ts";

/** A world of two nodes, whose database is kept at each commit. */
export interface World extends PrivateFixture {
  readonly nodes: readonly [LyingNode, LyingNode];
  readonly copies: readonly Uint8Array[];
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
}

export async function open(
  options: Partial<PaymentServiceOptions> = {},
  routing: Parameters<typeof privateFixture>[1] = {},
): Promise<World> {
  const { storage, copies } = await keepCopies();
  let nodes: World["nodes"] | undefined;
  const fixture = await privateFixture({ storage, ...options }, routing, (chain) => {
    nodes = [lyingNode(chain.chain, "one"), lyingNode(chain.chain, "two")];
    return chain.ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  onTestFinished(() => fixture.close());
  if (nodes === undefined) throw new Error("the nodes are made before the service");
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = fixture.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  return { ...fixture, nodes, copies, alice, bob, customer: await fixture.caller() };
}

/** An order of 3 USDC to bob, and the copy of the database that has it and nothing that came of it. */
export interface Ordered {
  readonly id: string;
  readonly address: string;
  readonly due: bigint;
  readonly copy: Uint8Array;
  /** What the clock showed when the copy was made. */
  readonly copiedAt: number;
}

export async function ordered(world: World): Promise<Ordered> {
  const { customer, alice, bob, copies } = world;
  const { body } = await world.order(customer, {
    sender: alice,
    to: [{ address: bob.address, amount: "3" }],
  });
  return {
    id: body.transactionId,
    address: body.ephemeralAddress,
    due: units(body.depositAmount, 6),
    copy: copies.at(-1) ?? new Uint8Array(),
    copiedAt: world.clock.now(),
  };
}

/** The order is paid out of a deposit of so much more than it asks for, and its address empty; then the service ends. */
export async function served(world: World, excess = 0n): Promise<Ordered> {
  const order = await ordered(world);
  await world.deposit(order.address, { usdc: order.due + excess });
  await world.settle();
  expect(await world.service.transaction(world.customer, order.id)).toMatchObject({ status: "completed" });
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.service.stop();
  return order;
}

/** Of the nodes given, all history up to now is gone. */
export function forget({ chain }: World, nodes: readonly LyingNode[]): void {
  for (const node of nodes) node.tell(withoutHistoryBefore(chain.slot()));
  chain.advance(40);
}

/** A service on a copy, and time that passes for it. */
export interface Restored {
  readonly service: PaymentService;
  readonly storage: PaymentStorage;
  readonly pass: (ms: number) => Promise<void>;
}

/** The clock of a machine that is so many milliseconds behind. */
function behind(clock: VirtualClock, ms: number): VirtualClock {
  return { ...clock, now: () => clock.now() - ms, set: (time) => clock.set(time + ms) };
}

/** A service that starts on the copy, in a process that has asked the nodes nothing yet, on a machine that may be behind. */
export async function startOn(world: World, copy: Uint8Array, behindMs = 0): Promise<Restored> {
  const storage = await restore(copy);
  const ledger = world.ledgerOf(world.nodes.map(({ endpoint }) => endpoint));
  const clock = behind(world.clock, behindMs);
  const service = world.another({ storage, ledger, clock });
  await service.start();
  onTestFinished(async () => {
    await service.stop();
    await storage.close();
  });
  const pass = async (ms: number): Promise<void> => {
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + ms);
    for (let round = 0; round < 4; round++) {
      world.chain.advance(35);
      await service.settled();
    }
  };
  await pass(20_000);
  return { service, storage, pass };
}

/** What a wallet holds in USDC. */
export const owned = async (world: World, { address }: Pick<Wallet, "address">): Promise<bigint> =>
  (await world.held(address))[1];

/** The order as its customer sees it on the restored copy. */
export const shown = (
  { service }: Pick<Restored, "service">,
  { customer }: World,
  { id }: Ordered,
): ReturnType<PaymentService["transaction"]> => service.transaction(customer, id);

/** The kinds of what waits for the operator. */
export async function mattersOf({ service }: Pick<Restored, "service">): Promise<readonly string[]> {
  return (await service.operator.attention()).map(({ kind }) => kind);
}
