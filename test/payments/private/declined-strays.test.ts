/** Money where it does not count, at the address of an order that is refused: a person is told of it as of any other. */
// modules: private
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { MINUTE } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

test("P13: an asset in another account of an order that a person has declined is a matter", async ({
  world,
}) => {
  const order = await world.sendTo();
  const { operator } = world.service;
  await world.strayAccount(order.address, "USDC", 7_000_000n);
  await operator.resolve(order.id, { action: "hold" }, BY);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(6);
  await operator.resolve(order.id, { action: "decline" }, BY);
  await world.settle(8);
  await operator.resolve(order.id, { action: "release" }, BY);
  for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "DECLINED" });
  expect(await operator.attention()).toMatchObject([{ transactionId: order.id, kind: "unexplained" }]);
});
