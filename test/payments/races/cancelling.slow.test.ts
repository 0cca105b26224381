/** DELETE of a private order against the deposit that lands at that moment: routed or refunded, wherever they meet. */
// modules: private
import { expect } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { meetAtEveryCommit, type Ending, type Through } from "../../kit/meet-at-every-commit.ts";
import { EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { MINUTE, type Ordered, type Scene } from "../private/scene.ts";
import { sceneTest as test } from "../private/scene-test.ts";

/** A process of its own that works; what it calls can be stopped once it has started. */
async function started(world: Scene, through: Through): Promise<PaymentService> {
  let isOpen = false;
  const within = <T extends object>(outside: T): T => {
    const stopped = through(outside);
    return new Proxy(outside, {
      get: (target, property): unknown => Reflect.get(isOpen ? stopped : target, property),
    });
  };
  const service = world.another({ storage: within(world.storage), ledger: within(world.ledger) });
  await service.start();
  await service.settled();
  isOpen = true;
  return service;
}

/** An order that no deposit has reached. From here on only those that meet work on it. */
async function ordered(world: Scene): Promise<Ordered> {
  const order = await world.sendTo();
  await world.service.settled();
  await world.service.stop();
  return order;
}

async function cancelling(world: Scene, { id }: Ordered, through: Through): Promise<string> {
  const service = world.another({ storage: through(world.storage), ledger: through(world.ledger) });
  return (await service.cancelTransaction(world.customer, id)).status;
}

/** The money becomes final, and is seen and routed as far as it goes at once. */
async function depositing(world: Scene, { address, due }: Ordered, through: Through): Promise<void> {
  const service = await started(world, through);
  world.chain.fund(address, { usdc: due });
  world.chain.advance(35);
  for (let look = 0; look < 2; look++) await service.settled();
  await service.stop();
}

async function landing(world: Scene, { address, due }: Ordered): Promise<void> {
  world.chain.fund(address, { usdc: due });
  world.chain.advance(1);
}

/** What lies between two calls is met twice, after the first and before the second. */
const moments = THOROUGH ? (["before", "after"] as const) : (["before"] as const);

/** How many orders were paid, and how many were refunded. */
interface Ends {
  paid: bigint;
  refunded: bigint;
}

async function expectOneEnd(
  world: Scene,
  order: Ordered,
  cancelled: Ending<string>,
  ends: Ends,
): Promise<void> {
  await world.service.start();
  await world.passAndSettle(MINUTE, 8);
  const { status, refunds } = await world.shown(order);
  const isCancelled = cancelled.status === "fulfilled";
  expect([status, refunds.map((each) => each.status)]).toEqual(
    isCancelled ? ["cancelled", ["paid"]] : ["completed", []],
  );
  if (isCancelled) ends.refunded += 1n;
  else ends.paid += 1n;
}

const refusalOf = (ending: Ending<unknown>): unknown =>
  ending.status === "rejected" ? (ending.reason as { readonly code: unknown }).code : null;

async function expectBooks(world: Scene, { paid, refunded }: Ends): Promise<void> {
  expect(paid).toBeGreaterThan(0n);
  expect(refunded).toBeGreaterThan(0n);
  expect((await world.held(world.bob.address))[1]).toBe(paid * 5_000_000n);
  await world.judge();
}

test(
  "P28: at every read and every commit of DELETE the deposit lands, and the order is either routed or refunded",
  async ({ open }) => {
    const world = await open();
    const ends: Ends = { paid: 0n, refunded: 0n };
    const codes = new Set<unknown>();
    await meetAtEveryCommit({
      at: ["commit", "readOrder", "changesOfOrder"],
      moments,
      arrange: () => ordered(world),
      one: (order, through) => cancelling(world, order, through),
      other: (order) => landing(world, order),
      judge: async (order, cancelled) => {
        codes.add(refusalOf(cancelled));
        await expectOneEnd(world, order, cancelled, ends);
      },
      inBothOrders: false,
    });
    expect(codes).toEqual(new Set([null, "ALREADY_PROCESSED"]));
    await expectBooks(world, ends);
  },
  EXPLORING_MS,
);

test(
  "P28: at every commit of DELETE the deposit is seen and routed whole, and the order is either routed or refunded",
  async ({ open }) => {
    const world = await open();
    const ends: Ends = { paid: 0n, refunded: 0n };
    await meetAtEveryCommit({
      arrange: () => ordered(world),
      one: (order, through) => cancelling(world, order, through),
      other: (order, through) => depositing(world, order, through),
      judge: (order, cancelled) => expectOneEnd(world, order, cancelled, ends),
      inBothOrders: false,
    });
    await expectBooks(world, ends);
  },
  EXPLORING_MS,
);

test(
  "P28: at every commit of the deposit's routing DELETE runs whole, and the order is either routed or refunded",
  async ({ open }) => {
    const world = await open();
    const ends: Ends = { paid: 0n, refunded: 0n };
    const codes = new Set<unknown>();
    await meetAtEveryCommit({
      moments,
      arrange: () => ordered(world),
      one: (order, through) => depositing(world, order, through),
      other: (order, through) => cancelling(world, order, through),
      judge: async (order, routed, cancelled) => {
        expect(routed).toMatchObject({ status: "fulfilled" });
        codes.add(refusalOf(cancelled));
        await expectOneEnd(world, order, cancelled, ends);
      },
      inBothOrders: false,
    });
    expect(ends.refunded).toBe(0n);
    expect(codes).toEqual(new Set(["ALREADY_PROCESSED", "CANNOT_CANCEL"]));
    expect(ends.paid).toBeGreaterThan(0n);
    await world.judge();
  },
  EXPLORING_MS,
);
