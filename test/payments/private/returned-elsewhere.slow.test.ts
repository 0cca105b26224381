/** Tokens that another copy of the database has returned: a restored one returns what came since. */
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { passTime } from "../../kit/pass-time.ts";
import { foreignMint } from "./foreign-mint.ts";
import { keepCopies, restore } from "./kept-copies.ts";
import { sceneTest as test } from "./scene-test.ts";
import { MINUTE } from "./scene.ts";

test("R4: a restored copy returns what came since under words that no marker stands under, once an operator has vouched for the other copy's return", async ({
  open,
}) => {
  const { storage, copies } = await keepCopies();
  const world = await open({ storage });
  const order = await world.sendTo();
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 7_000_000n);
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  const copy = copies.at(-1) ?? new Uint8Array();
  await world.service.operator.returnTokens(order.id, { mint: foreign.mint }, BY);
  await world.settle(8);
  expect(await foreign.heldBy(world.alice.address)).toBe(7_000_000n);
  await world.service.stop();
  await foreign.give(order.address, 2_000_000n);
  world.chain.advance(40);
  const restored = await restore(copy, "nothing");
  const service = world.another({ storage: restored });
  await service.start();
  const pass = async (ms: number): Promise<void> => {
    const { clock } = world;
    const until = clock.now() + ms;
    await passTime({ clock, engine: service, storage: restored, workflows: service.workflows }, until);
    for (let round = 0; round < 3; round++) {
      world.chain.advance(35);
      await service.settled();
    }
  };
  await pass(MINUTE);
  const { operator } = service;
  expect((await operator.releaseDeposit(order.id, BY)).explained).toHaveLength(1);
  await pass(MINUTE);
  expect(await operator.returnTokens(order.id, { mint: foreign.mint }, BY)).toMatchObject({ amount: "2" });
  await pass(2 * MINUTE);
  expect(await foreign.heldBy(world.alice.address)).toBe(9_000_000n);
  const { payments = [] } = (await restored.transaction(order.id)) ?? {};
  expect(payments.map(({ mark, status }) => [mark, status])).toEqual([["return 2", "finalized"]]);
  await service.stop();
});
