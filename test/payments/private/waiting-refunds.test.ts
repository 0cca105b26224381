/** What is to go back and cannot now: a person is told why, the books say that it waits, and it goes once it can. */
// modules: private
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { solAt150 } from "../../kit/money.ts";
import { MINUTE, orderedAs, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

const EMPTY = [0n, 0n, 0n] as const;

const mattersOf = async ({ service }: Scene, { id }: Ordered): Promise<readonly string[]> =>
  (await service.operator.attention())
    .filter(({ transactionId }) => transactionId === id)
    .map(({ kind }) => kind);

/** An order of somebody without a token account: what goes back has to bear the making of one. */
async function newcomers(world: Scene): Promise<Ordered> {
  const sender = world.wallet("newcomer", { lamports: SOL });
  const to = [{ address: world.bob.address, amount: "5" }];
  return orderedAs((await world.order(world.customer, { sender, to })).body);
}

/** SOL at 150 dollars, as long as the source answers. */
class Prices {
  isDown = false;
  world: Scene | null = null;

  readonly rate: ReturnType<typeof solAt150>["rate"] = async (give, get) => {
    if (this.isDown || this.world === null) throw new Error("no price");
    return solAt150(this.world).rate(give, get);
  };
}

test("K16: a refund that bears its cost in tokens waits for a price as a matter, and goes once there is one", async ({
  open,
}) => {
  const source = new Prices();
  const world = await open({}, { prices: source });
  source.world = world;
  const order = await newcomers(world);
  await world.deposit(order.address, { usdc: order.due - 1_000_000n });
  source.isDown = true;
  await world.passAndSettle(31 * MINUTE, 8);
  await world.passAndSettle(11 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({
    status: "processing",
    reason: "INCOMPLETE_DEPOSIT",
    attention: "waiting_for_price",
    unreturned: [{ asset: "USDC", reason: "under_way" }],
  });
  expect(await mattersOf(world, order)).toEqual(["waiting_for_price"]);
  source.isDown = false;
  await world.passAndSettle(2 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    refunds: [{ status: "paid" }],
    attention: null,
  });
  expect(await mattersOf(world, order)).toEqual([]);
  expect(await world.held(order.address)).toEqual(EMPTY);
  await world.judge();
});

test("K16: late money of an order that is decided waits for a price as a matter, and is no dust", async ({
  open,
}) => {
  const source = new Prices();
  const world = await open({}, { prices: source });
  source.world = world;
  const order = await newcomers(world);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", unreturned: [] });
  source.isDown = true;
  await world.deposit(order.address, { usdc: 9_000_000n });
  await world.passAndSettle(11 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({
    attention: "waiting_for_price",
    unreturned: [{ asset: "USDC", amount: "9", reason: "under_way" }],
  });
  expect(await mattersOf(world, order)).toEqual(["waiting_for_price"]);
  source.isDown = false;
  await world.passAndSettle(2 * MINUTE, 8);
  expect(await world.held(order.address)).toEqual(EMPTY);
  await world.judge();
});

test("K16: what is not worth its return any more is dust, and nobody looks at it each minute", async ({
  open,
}) => {
  const source = new Prices();
  const world = await open({}, { prices: source });
  source.world = world;
  const order = await newcomers(world);
  await world.deposit(order.address, { usdc: 50_000n });
  source.isDown = true;
  await world.passAndSettle(42 * MINUTE, 8);
  source.isDown = false;
  for (let look = 0; look < 4; look++) await world.passAndSettle(2 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT" });
  const [chunk] = await transfersOf(world, order, "chunk");
  const stepsOf = async (): Promise<number> => (await world.storage.load(chunk?.id ?? ""))?.version ?? 0;
  const before = await stepsOf();
  for (let look = 0; look < 10; look++) await world.passAndSettle(6 * MINUTE, 2);
  expect((await stepsOf()) - before).toBeLessThan(3);
  // Once more is there it goes at once.
  await world.deposit(order.address, { usdc: 9_000_000n });
  for (let look = 0; look < 3; look++) await world.passAndSettle(6 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }], unreturned: [] });
  expect(await world.held(order.address)).toEqual(EMPTY);
  await world.judge();
});

test("K13: late money of an order that has ended undecided, whose cost the frozen account cannot take, is a matter", async ({
  open,
}) => {
  const world = await open();
  const order = await newcomers(world);
  await world.passAndSettle(31 * MINUTE, 8);
  await world.freeze(world.sponsor, "USDC");
  await world.deposit(order.address, { usdc: 9_000_000n });
  await world.passAndSettle(11 * MINUTE, 8);
  expect(await mattersOf(world, order)).toEqual(["purse_frozen"]);
  await world.thaw(world.sponsor, "USDC");
  await world.passAndSettle(2 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  expect(await world.held(order.address)).toEqual(EMPTY);
});

test("K11: money in an account that its issuer has frozen is held for the operator, and no dust", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const address = { address: order.address, secretKey: new Uint8Array() } as never;
  await world.deposit(order.address, { usdc: order.due - 1_000_000n });
  await world.freeze(address, "USDC");
  await world.passAndSettle(31 * MINUTE, 8);
  await world.passAndSettle(20 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    attention: "held",
    unreturned: [{ asset: "USDC", reason: "held" }],
  });
  expect(await mattersOf(world, order)).toEqual(["held"]);
  await world.thaw(address, "USDC");
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }], unreturned: [] });
  expect(await world.held(order.address)).toEqual(EMPTY);
});
