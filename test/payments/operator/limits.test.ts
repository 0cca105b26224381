/** Limits on amounts: per transaction, and per account within a sliding day, exact however many race. */
import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { adapters } from "../../kit/adapters.ts";
import { drawn } from "../../kit/thorough.ts";
import { closeWorlds, intakeWorld, type IntakeWorld } from "./intake-world.ts";
import { BY } from "../../kit/by.ts";

closeWorlds();

const DAY = 86_400_000;

/** Quotes and posts a send of USDC; a new blockhash makes each one's bytes its own. */
async function send(world: IntakeWorld, caller: Caller, amount: string): Promise<unknown> {
  const { body } = await prepared(world, caller, amount);
  return world.service.createTransaction(caller, body);
}

async function prepared({ chain, alice, bob, prepareSend }: IntakeWorld, caller: Caller, amount: string) {
  chain.advance(2);
  const { body } = await prepareSend(caller, { from: alice, to: bob.address, amount });
  return { body: { ...body, recipients: [...body.recipients] } };
}

// modules: private
const order = (world: IntakeWorld, caller: Caller, amount: string) =>
  world.order(caller, { sender: world.alice, to: [{ address: world.bob.address, amount }] });

describe.each(drawn(adapters, "limits"))("on $name", (adapter) => {
  test("above the limit per transaction nothing is quoted or taken, in either mode, also when it was quoted before", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    const caller = await world.caller();
    const quoted = await prepared(world, caller, "10.000001");
    await operator.setLimits({ asset: "USDC", perTransaction: "10" }, BY);
    const tooLarge = { code: "AMOUNT_TOO_LARGE", details: { maximum: "10" } };
    await expect(world.service.createTransaction(caller, quoted.body)).rejects.toMatchObject(tooLarge);
    await expect(world.service.refreshQuote(caller, quoted.body.quoteId)).rejects.toMatchObject(tooLarge);
    await expect(send(world, caller, "10.000001")).rejects.toMatchObject(tooLarge);
    await expect(order(world, caller, "10.000001")).rejects.toMatchObject(tooLarge); // modules: private
    // The fee of private mode is not part of the amount.
    await order(world, caller, "10"); // modules: private
    await send(world, caller, "10");
    await operator.setLimits({ asset: "USDC" }, BY);
    expect(await operator.limits()).toEqual([]);
    await send(world, caller, "10.000001");
  });

  // modules: private
  test("a day is a sliding 24 hours, of each account by itself, in both modes together, from before the limit was set", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    const [caller, another] = [await world.caller(), await world.caller()];
    await send(world, caller, "60");
    await operator.setLimits({ asset: "USDC", perDay: "100" }, BY);
    const full = (used: string) => ({
      code: "VOLUME_LIMIT_EXCEEDED",
      details: { asset: "USDC", limit: "100", used, windowSeconds: 86_400 },
    });
    await expect(send(world, caller, "40.000001")).rejects.toMatchObject(full("60"));
    world.clock.advance(1_000);
    await order(world, caller, "40");
    await expect(send(world, caller, "0.001")).rejects.toMatchObject(full("100"));
    await expect(order(world, caller, "0.001")).rejects.toMatchObject(full("100"));
    await send(world, another, "100");
    world.clock.advance(DAY - 1_001);
    await expect(send(world, caller, "60")).rejects.toMatchObject(full("100"));
    world.clock.advance(1);
    await send(world, caller, "60");
    await expect(send(world, caller, "1")).rejects.toMatchObject(full("100"));
  });

  // modules: private
  test("Q23: what was cancelled gives its share of the day back", async () => {
    const world = await intakeWorld(adapter);
    const { service } = world;
    const caller = await world.caller();
    await service.operator.setLimits({ asset: "USDC", perDay: "10" }, BY);
    const { body } = await order(world, caller, "10");
    await expect(send(world, caller, "1")).rejects.toMatchObject({
      code: "VOLUME_LIMIT_EXCEEDED",
      details: { used: "10" },
    });
    await service.cancelTransaction(caller, body.transactionId);
    await send(world, caller, "10");
    await expect(send(world, caller, "0.001")).rejects.toMatchObject({ code: "VOLUME_LIMIT_EXCEEDED" });
  });

  test("D35: a clock that was put on by days begins no new day for an hour", async () => {
    const world = await intakeWorld(adapter);
    const caller = await world.caller();
    await world.service.operator.setLimits({ asset: "USDC", perDay: "10" }, BY);
    // On a chain that does not tell its time: only the jump itself is seen.
    const service = world.another({ ledger: { ...world.ledger, time: async () => null } });
    const post = async (): Promise<unknown> => {
      world.chain.advance(2);
      const recipients = [{ address: world.bob.address, amount: "6" }];
      const wish = {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: "6",
        sender: world.alice.address,
        recipients,
      };
      const { body: quote } = await service.createQuote(caller, wish);
      const signedTransaction = world.sign(quote.transaction ?? "", world.alice);
      const { quoteId } = quote;
      return service.createTransaction(caller, {
        type: "send",
        quoteId,
        sender: world.alice.address,
        recipients,
        signedTransaction,
      });
    };
    await post();
    world.clock.put(3 * DAY);
    await expect(post()).rejects.toMatchObject({ code: "VOLUME_LIMIT_EXCEEDED" });
    world.clock.advance(3_600_000);
    await post();
  });

  test("of two POSTs at the limit exactly one is taken, whichever process takes it, and the other keeps nothing", async () => {
    const world = await intakeWorld(adapter);
    const caller = await world.caller();
    const second = world.another();
    await world.service.operator.setLimits({ accountId: caller.accountId, asset: "USDC", perDay: "15" }, BY);
    for (const amount of ["6", "7"]) await send(world, caller, amount).catch(() => {});
    const both = [await prepared(world, caller, "2"), await prepared(world, caller, "1.5")];
    const settled = await Promise.allSettled(
      both.map(({ body }, index) => (index === 0 ? world.service : second).createTransaction(caller, body)),
    );
    expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const refused = settled.find((each) => each.status === "rejected");
    expect(refused?.reason).toMatchObject({ code: "VOLUME_LIMIT_EXCEEDED", details: { limit: "15" } });
    const used = await Promise.all(both.map(({ body }) => world.storage.quote(body.quoteId)));
    expect(used.filter((quote) => quote?.usedBy !== null)).toHaveLength(1);
  });

  test("a limit that is set before a POST's commit holds in it", async () => {
    const world = await intakeWorld(adapter);
    const caller = await world.caller();
    const { body } = await prepared(world, caller, "5");
    world.before("transactions", () =>
      world.another().operator.setLimits({ asset: "USDC", perTransaction: "4" }, BY),
    );
    await expect(world.service.createTransaction(caller, body)).rejects.toMatchObject({
      code: "AMOUNT_TOO_LARGE",
      details: { maximum: "4" },
    });
  });

  test("a replayed request counts once, and one that is refused counts nothing", async () => {
    const world = await intakeWorld(adapter);
    const caller = await world.caller();
    await world.service.operator.setLimits({ asset: "USDC", perDay: "10" }, BY);
    const { body } = await prepared(world, caller, "5");
    const twice = [1, 2].map(() => world.service.createTransaction(caller, body, { idempotencyKey: "k" }));
    const [one, other] = await Promise.all(twice);
    expect(one?.text).toBe(other?.text);
    await world.service.createTransaction(caller, body);
    await expect(
      world.service.createTransaction(caller, { ...body, sender: world.bob.address }),
    ).rejects.toMatchObject({ code: "DUPLICATE_TRANSACTION" });
    await send(world, caller, "5");
    await expect(send(world, caller, "0.001")).rejects.toMatchObject({ details: { used: "10" } });
  });

  test("an account's own limit goes before that of all accounts, field by field, and each direction is its own", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    const [caller, another] = [await world.caller(), await world.caller()];
    const { accountId } = caller;
    await operator.setLimits({ asset: "USDC", perTransaction: "5", perDay: "8" }, BY);
    await operator.setLimits({ accountId, asset: "USDC", perTransaction: "7", direction: "out" }, BY);
    await operator.setLimits(
      { accountId, asset: world.mints.USDC, perTransaction: "6", direction: "in" },
      BY,
    );
    await expect(send(world, caller, "6.5")).rejects.toMatchObject({ details: { maximum: "6" } });
    await expect(send(world, caller, "7.5")).rejects.toMatchObject({ details: { maximum: "6" } });
    await operator.setLimits({ accountId, asset: "USDC", perTransaction: "9", direction: "in" }, BY);
    await expect(send(world, caller, "7.5")).rejects.toMatchObject({ details: { maximum: "7" } });
    await send(world, caller, "7");
    await expect(send(world, caller, "2")).rejects.toMatchObject({ details: { limit: "8", used: "7" } });
    await expect(send(world, another, "6")).rejects.toMatchObject({ details: { maximum: "5" } });
    expect(await operator.limits()).toMatchObject([
      { asset: "USDC", direction: "in", perTransaction: "5", perDay: "8", ...BY },
      { asset: "USDC", direction: "out", perTransaction: "5", perDay: "8" },
      { accountId, asset: "USDC", direction: "out", perTransaction: "7", perDay: null },
      { accountId, asset: "USDC", direction: "in", perTransaction: "9", perDay: null },
    ]);
  });

  test("limits that cannot be are refused by name, and nothing is set", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    const refused = (limits: object, message: string | RegExp) =>
      expect(operator.setLimits(limits as never, BY)).rejects.toThrow(message);
    await refused({ asset: "USDC", perTransaction: "2", perDay: "1" }, /^perTransaction is more than perDay/);
    await refused({ asset: "USDC", perDay: "1.0000001" }, /^perDay: 1\.0000001 is no amount of USDC/);
    await refused({ asset: "USDC", perDay: "0" }, /^perDay: 0 is no amount/);
    await refused({ asset: "USDC", perDay: 5 }, /^perDay: /);
    await refused({ asset: "EUR", perDay: "1" }, "asset: EUR is none of SOL, USDC, USDT");
    await refused({ perDay: "1" }, /^asset: /);
    await refused({ asset: "USDC", perDay: "1", direction: "up" }, /^direction: /);
    await refused({ asset: "USDC" }, "there is no limit on USDC to end: give perTransaction or perDay");
    expect(await operator.limits()).toEqual([]);
    expect(await operator.auditLog()).toEqual([]);
  });
});
