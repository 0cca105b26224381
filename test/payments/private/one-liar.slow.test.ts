/** One of two nodes tells something else of the newest block than of the finalized one: what goes back waits, and is not planned anew each time. */
import { expect } from "vitest";
import type { Lie } from "./lying-nodes.ts";
import { MINUTE, transfersOf } from "./scene.ts";
import { twoNodesTest as test } from "./two-nodes.ts";

interface Told {
  readonly context: object;
  readonly value: readonly unknown[];
}

/** At confirmed it says that this account does not exist. */
const hidesNewest =
  (isHidden: (account: string) => boolean): Lie =>
  ({ method, params, truth }) => {
    const [accounts, query] = params as [readonly string[], { readonly commitment?: string }];
    if (method !== "getMultipleAccounts" || query.commitment !== "confirmed") return undefined;
    return truth().then((honest) => {
      const { context, value } = honest as Told;
      return { context, value: value.map((each, index) => (isHidden(accounts[index] ?? "") ? null : each)) };
    });
  };

for (const liar of [0, 1] as const) {
  test(`K10: node ${liar} says that nothing is left at the address: the refund waits, as one transfer`, async ({
    world,
  }) => {
    const order = await world.sendTo();
    const account = world.tokenAccountOf({ address: order.address } as never, "USDC");
    const end = world.nodes[liar].tell(hidesNewest((each) => each === account || each === order.address));
    await world.deposit(order.address, { usdc: order.due + 3_000_000n });
    await world.settle(10);
    for (let look = 0; look < 5; look++) await world.passAndSettle(2 * MINUTE, 2);
    const rests = await transfersOf(world, order, "rest");
    expect(rests.length).toBeLessThanOrEqual(2);
    end();
    for (let look = 0; look < 5; look++) await world.passAndSettle(11 * MINUTE, 6);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  });
}

const AMOUNT_AT = 64;

/** At confirmed it shows a million units less in this account. */
const showsLess =
  (isMeant: (account: string) => boolean): Lie =>
  ({ method, params, truth }) => {
    const [accounts, query] = params as [readonly string[], { readonly commitment?: string }];
    if (method !== "getMultipleAccounts" || query.commitment !== "confirmed") return undefined;
    return truth().then((honest) => {
      const { context, value } = honest as Told;
      return {
        context,
        value: value.map((each, index) => {
          if (each === null || !isMeant(accounts[index] ?? "")) return each;
          const { data, ...rest } = each as { readonly data: readonly [string, string] };
          const bytes = Buffer.from(data[0], "base64");
          if (bytes.length < AMOUNT_AT + 8) return each;
          const amount = bytes.readBigUInt64LE(AMOUNT_AT);
          bytes.writeBigUInt64LE(amount > 1_000_000n ? amount - 1_000_000n : 0n, AMOUNT_AT);
          return { ...rest, data: [bytes.toString("base64"), data[1]] };
        }),
      };
    });
  };

for (const liar of [0, 1] as const) {
  test(`K10: node ${liar} shows less than what lies there: within an hour the refund goes, or a person is told`, async ({
    world,
  }) => {
    const order = await world.sendTo();
    const account = world.tokenAccountOf({ address: order.address } as never, "USDC");
    world.nodes[liar].tell(showsLess((each) => each === account));
    await world.deposit(order.address, { usdc: order.due + 3_000_000n });
    await world.settle(10);
    for (let look = 0; look < 30; look++) await world.passAndSettle(3 * MINUTE, 2);
    const matters = (await world.service.operator.attention()).map(({ kind }) => kind);
    expect(matters.length > 0 || (await world.held(order.address))[1] === 0n).toBe(true);
  });
}
