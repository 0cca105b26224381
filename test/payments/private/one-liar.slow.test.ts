/** One of two nodes tells something else of the newest block than of the finalized one: what goes back waits, and is not planned anew each time. */
// modules: private
import { expect } from "vitest";
import type { Lie } from "./lying-nodes.ts";
import { MINUTE, SOL, transfersOf } from "./scene.ts";
import { twoNodesTest as test, type TwoNodes } from "./two-nodes.ts";

interface Told {
  readonly context: object;
  readonly value: readonly (object | null)[];
}

/** Tells something else of these accounts, of all that it is asked or of the newest block alone. */
const retold =
  (
    isMeant: (account: string) => boolean,
    tell: (account: object) => object | null,
    of: "all" | "newest" = "newest",
  ): Lie =>
  ({ method, params, truth }) => {
    const [accounts, query] = params as [readonly string[], { readonly commitment?: string }];
    if (method !== "getMultipleAccounts") return undefined;
    if (of === "newest" && query.commitment !== "confirmed") return undefined;
    return truth().then((honest) => {
      const { context, value } = honest as Told;
      const told = value.map((each, index) =>
        each !== null && isMeant(accounts[index] ?? "") ? tell(each) : each,
      );
      return { context, value: told };
    });
  };

for (const liar of [0, 1] as const) {
  test(`K10: node ${liar} says that nothing is left at the address: the refund waits, as one transfer`, async ({
    world,
  }) => {
    const order = await world.sendTo();
    const account = world.tokenAccountOf({ address: order.address } as never, "USDC");
    const end = world.nodes[liar].tell(
      retold(
        (each) => each === account || each === order.address,
        () => null,
      ),
    );
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

/** An account with so many lamports more. */
const shifted =
  (by: bigint) =>
  (account: object): object => {
    const lamports = BigInt((account as { readonly lamports: number }).lamports) + by;
    return { ...account, lamports: Number(lamports > 0n ? lamports : 0n) };
  };

test.for([
  [0, 1n],
  [1, -1n],
  [1, SOL],
  [0, -SOL],
] as const)(
  "C38: node %s shows %s lamports more than the other: nothing is missing, and the order ends",
  async ([liar, by], { world }) => {
    const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
    await world.deposit(order.address, { lamports: order.due + SOL / 10n });
    const end = world.nodes[liar].tell(retold((each) => each === order.address, shifted(by), "all"));
    for (let look = 0; look < 8; look++) await world.passAndSettle(4 * MINUTE, 4);
    const matters = async () => (await world.service.operator.attention()).map(({ kind }) => kind);
    expect(await matters()).not.toContain("missing");
    // A lamport disturbs nobody; what is hidden whole has to be agreed about.
    if (by < -1n) end();
    for (let look = 0; look < 4; look++) await world.passAndSettle(11 * MINUTE, 4);
    expect(await matters()).toEqual([]);
    expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
    expect((await world.held(world.bob.address))[0]).toBe(SOL + SOL / 2n);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

const AMOUNT_AT = 64;

/** A token account with a million units less. */
function less(account: object): object {
  const { data } = account as { readonly data: readonly [string, string] };
  const bytes = Buffer.from(data[0], "base64");
  if (bytes.length < AMOUNT_AT + 8) return account;
  const amount = bytes.readBigUInt64LE(AMOUNT_AT);
  bytes.writeBigUInt64LE(amount > 1_000_000n ? amount - 1_000_000n : 0n, AMOUNT_AT);
  return { ...account, data: [bytes.toString("base64"), data[1]] };
}

for (const liar of [0, 1] as const) {
  test(`K10: node ${liar} shows less than what lies there: within an hour the refund goes, or a person is told`, async ({
    world,
  }) => {
    const order = await world.sendTo();
    const account = world.tokenAccountOf({ address: order.address } as never, "USDC");
    world.nodes[liar].tell(retold((each) => each === account, less));
    await world.deposit(order.address, { usdc: order.due + 3_000_000n });
    await world.settle(10);
    for (let look = 0; look < 30; look++) await world.passAndSettle(3 * MINUTE, 2);
    const matters = (await world.service.operator.attention()).map(({ kind }) => kind);
    expect(matters.length > 0 || (await world.held(order.address))[1] === 0n).toBe(true);
  });
}

for (const liar of [0, 1] as const) {
  test(`C61: node ${liar} shows the sender's account, which is closed: within an hour the refund goes, or a person is told`, async ({
    world,
  }) => {
    const order = await world.sendTo();
    const account = world.tokenAccountOf(world.alice, "USDC");
    await world.deposit(order.address, { usdc: 3_000_000n });
    const end = world.nodes[liar].tell(await keepsShowing(world, account));
    await world.payTokens(world.alice, world.treasury.address, "USDC", 1n);
    await world.closeAccount(world.alice, "USDC");
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    for (let look = 0; look < 25; look++) await world.passAndSettle(3 * MINUTE, 2);
    const matters = async () => (await world.service.operator.attention()).map(({ kind }) => kind);
    expect(await matters()).toEqual(["stuck_payment"]);
    end();
    for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 4);
    expect(await matters()).toEqual([]);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  });
}

/** It shows this account for ever as it is now. */
async function keepsShowing(world: TwoNodes, account: string): Promise<Lie> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "getMultipleAccounts",
    params: [[account], { encoding: "base64" }],
  });
  const answer = (await (await world.chain.fetch("http://honest.example", { body })).json()) as {
    readonly result: Told;
  };
  const [kept = null] = answer.result.value;
  return ({ method, params: [accounts], truth }) => {
    if (method !== "getMultipleAccounts") return undefined;
    const asked = accounts as readonly string[];
    return truth().then((honest) => {
      const { context, value } = honest as Told;
      return { context, value: value.map((each, index) => (asked[index] === account ? kept : each)) };
    });
  };
}
