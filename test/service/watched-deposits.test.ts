/** Health tells how many deposits the endpoints permit to be waited for. */
import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { privateTest as test } from "../kit/private-test.ts";

test("L5: health tells how many deposits the endpoints permit, attention before it is too many, and beyond it is degraded", async ({
  open,
}) => {
  const limit = { perSecond: 10, accounts: 100, witnesses: 1 };
  const world = await open({}, {}, ({ ledger }): Ledger => ({ ...ledger, readLimit: limit }));
  const { service } = world;
  const caller = await world.caller("pro");
  const sender = world.wallet("sender");
  const { address } = world.wallet("bob", { usdc: 1n });
  const order = (): Promise<unknown> => world.order(caller, { sender, to: [{ address, amount: "2" }] });
  const crowded = async (): Promise<number> =>
    (await service.operator.attention()).filter(({ kind }) => kind === "crowded_watch").length;
  await service.settled();
  expect(await service.health()).toMatchObject({ status: "ok", deposits: { watched: 0, permitted: 4_500 } });

  limit.accounts = 0.05;
  await order();
  await service.settled();
  const { attention, ...calm } = await service.health();
  expect(calm).toMatchObject({ status: "ok", deposits: { watched: 1, permitted: 2.25 } });
  expect(await crowded()).toBe(0);
  await order();
  await service.settled();
  expect(await service.health()).toMatchObject({
    status: "ok",
    deposits: { watched: 2 },
    attention: attention + 1,
  });
  expect(await crowded()).toBe(1);
  await order();
  await service.settled();
  expect(await service.health()).toMatchObject({ status: "degraded", deposits: { watched: 3 } });
});
