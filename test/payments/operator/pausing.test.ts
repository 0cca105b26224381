/** Pauses and suspensions: nothing new is taken, for all processes at once, and everything under way ends. */
import { describe, expect, test } from "vitest";
import { adapters } from "../../kit/adapters.ts";
import { drawn } from "../../kit/thorough.ts";
import { closeWorlds, intakeWorld } from "./intake-world.ts";
import { BY } from "../../kit/by.ts";

closeWorlds();

describe.each(drawn(adapters, "pausing"))("on $name", (adapter) => {
  // modules: private
  const PAUSED = { code: "SERVICE_PAUSED", details: { scope: "wallet", retryAfter: 60 } };
  // modules: private
  const PRIVATE_PAUSED = { code: "ROUTING_UNAVAILABLE", details: { reason: "paused", retryAfter: 60 } };

  // modules: private
  test("M14: paused, nothing new is taken in either mode; what is under way ends, reads and cancels work", async () => {
    const world = await intakeWorld(adapter);
    const { service, alice, bob } = world;
    const caller = await world.caller();
    const send = { from: alice, to: bob.address, amount: "5" };
    const underWay = await world.send(caller, send);
    const order = await world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "3" }] });
    const idle = await world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "4" }] });
    const { body } = await world.prepareSend(caller, send);
    const { body: quote } = await service.createQuote(caller, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "5",
      mode: "private",
    });

    await service.operator.pause({}, BY);

    await expect(
      service.createTransaction(caller, { ...body, recipients: [...body.recipients] }),
    ).rejects.toMatchObject(PAUSED);
    await expect(world.prepareSend(caller, send)).rejects.toMatchObject(PAUSED);
    await expect(service.refreshQuote(caller, body.quoteId)).rejects.toMatchObject(PAUSED);
    await expect(service.refreshQuote(caller, quote.quoteId)).rejects.toMatchObject(PRIVATE_PAUSED);
    await expect(
      world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "3" }] }),
    ).rejects.toMatchObject(PRIVATE_PAUSED);
    await expect(
      service.createTransaction(caller, {
        type: "send",
        mode: "private",
        quoteId: quote.quoteId,
        sender: alice.address,
        recipients: [{ address: bob.address, amount: "5" }],
      }),
    ).rejects.toMatchObject(PRIVATE_PAUSED);

    expect(await service.cancelTransaction(caller, idle.body.transactionId)).toMatchObject({
      status: "cancelled",
    });
    await world.deposit(order.body.ephemeralAddress, { usdc: 900_000_000n });
    await world.settle(10);
    expect(await service.transaction(caller, underWay.transactionId)).toMatchObject({ status: "completed" });
    expect(await service.transaction(caller, order.body.transactionId)).toMatchObject({
      status: "completed",
    });
    expect((await service.balances(bob.address)).tokens).toMatchObject([{ symbol: "USDC", balance: "8" }]);

    await service.operator.resume({}, BY);
    expect(await world.send(caller, send)).toMatchObject({ status: "pending" });
  });

  test("M14: an answer that was given before a pause is given again", async () => {
    const world = await intakeWorld(adapter);
    const { service, alice, bob } = world;
    const caller = await world.caller();
    const { body } = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "5" });
    const request = { ...body, recipients: [...body.recipients] };
    const first = await service.createTransaction(caller, request, { idempotencyKey: "k" });
    await service.operator.pause({}, BY);
    await service.operator.suspendAccount(caller.accountId, BY);
    const again = await service.createTransaction(caller, request, { idempotencyKey: "k" });
    expect(again).toEqual({ ...first, replayed: true });
  });

  test("M14, R13: a pause that is committed before the commit of a POST or of a refresh stops it, and nothing of it is kept", async () => {
    const world = await intakeWorld(adapter);
    const { service, alice, bob } = world;
    const caller = await world.caller();
    const other = world.another();
    const { body } = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "5" });
    const request = { ...body, recipients: [...body.recipients] };
    world.before("transactions", () => other.operator.pause({ asset: "USDC" }, BY));
    await expect(service.createTransaction(caller, request)).rejects.toMatchObject({
      code: "SERVICE_PAUSED",
      details: { scope: "USDC" },
    });
    expect((await world.storage.quote(body.quoteId))?.usedBy).toBeNull();
    await other.operator.resume({ asset: "USDC" }, BY);
    world.before("quotes", () => other.operator.pause({ asset: "USDC" }, BY));
    await expect(service.refreshQuote(caller, body.quoteId)).rejects.toMatchObject({
      code: "SERVICE_PAUSED",
    });
    expect((await world.storage.quote(body.quoteId))?.version).toBe(1);
    world.before("quotes", () => other.operator.suspendAccount(caller.accountId, BY));
    await expect(
      world.prepareSend(caller, { from: alice, to: bob.address, amount: "1", asset: "SOL" }),
    ).rejects.toMatchObject({ code: "ACCOUNT_SUSPENDED" });
    await other.operator.restoreAccount(caller.accountId, BY);
    await other.operator.resume({ asset: "USDC" }, BY);
    expect((await service.createTransaction(caller, request)).body).toMatchObject({ status: "pending" });
  });

  // modules: private
  test("a pause keeps out what fits all that it names: mode, asset, type, account; and says which", async () => {
    const world = await intakeWorld(adapter);
    const { service, alice, bob } = world;
    const [caller, another] = [await world.caller(), await world.caller()];
    const { operator } = world.another();
    const wallet = (asset: string, who = caller) =>
      world.prepareSend(who, { from: alice, to: bob.address, amount: "1", asset });
    const routed = (asset: string) =>
      world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "1" }], asset });

    await operator.pause({ mode: "private" }, BY);
    await expect(routed("USDC")).rejects.toMatchObject(PRIVATE_PAUSED);
    await wallet("USDC");
    await operator.resume({ mode: "private" }, BY);

    await operator.pause({ asset: world.mints.USDC, mode: "wallet" }, BY);
    await expect(wallet("USDC")).rejects.toMatchObject({
      code: "SERVICE_PAUSED",
      details: { scope: "USDC" },
    });
    await wallet("USDT");
    await routed("USDC");
    await operator.resume({ asset: "USDC", mode: "wallet" }, BY);

    await operator.pause({ type: "send" }, BY);
    await expect(wallet("SOL")).rejects.toMatchObject({ code: "SERVICE_PAUSED", details: { scope: "send" } });
    const recipients = [alice, bob].map(({ address }) => ({ address, amount: "1" }));
    const payroll = { inputAsset: "SOL", outputAsset: "SOL", amount: "2", sender: alice.address, recipients };
    expect((await service.createQuote(caller, payroll)).body).toMatchObject({ outputAmount: "2" });
    // A quote that leaves its use open is given; its use is refused.
    const open = { inputAsset: "USDC", outputAsset: "USDC", amount: "1", mode: "private" } as const;
    const { body: quote } = await service.createQuote(caller, open);
    await expect(
      service.createTransaction(caller, {
        type: "send",
        mode: "private",
        quoteId: quote.quoteId,
        sender: alice.address,
        recipients: [{ address: bob.address, amount: "1" }],
      }),
    ).rejects.toMatchObject(PRIVATE_PAUSED);
    await operator.resume({ type: "send" }, BY);

    await operator.pause({ accountId: caller.accountId }, BY);
    await expect(wallet("SOL")).rejects.toMatchObject(PAUSED);
    await wallet("SOL", another);
    await operator.resume({ accountId: caller.accountId }, BY);
    expect(await operator.paused()).toEqual([]);
    await wallet("SOL");
  });

  // modules: private
  test("a suspended account gets nothing new taken, and keeps its reads, cancels and work under way", async () => {
    const world = await intakeWorld(adapter);
    const { service, alice, bob } = world;
    const [caller, another] = [await world.caller(), await world.caller()];
    const send = { from: alice, to: bob.address, amount: "5" };
    const underWay = await world.send(caller, send);
    const order = await world.order(caller, { sender: alice, to: [{ address: bob.address, amount: "3" }] });
    const { body } = await world.prepareSend(caller, send);

    await service.operator.suspendAccount(caller.accountId, BY);

    // Before the body is looked at: a suspended account learns nothing from it.
    await expect(service.createTransaction(caller, {} as never)).rejects.toMatchObject({
      code: "ACCOUNT_SUSPENDED",
      details: {},
    });
    await expect(
      service.createTransaction(caller, { ...body, recipients: [...body.recipients] }),
    ).rejects.toMatchObject({ code: "ACCOUNT_SUSPENDED" });
    await expect(service.refreshQuote(caller, body.quoteId)).rejects.toMatchObject({
      code: "ACCOUNT_SUSPENDED",
    });
    await expect(world.prepareSend(caller, send)).rejects.toMatchObject({ code: "ACCOUNT_SUSPENDED" });
    await world.prepareSend(another, send);
    expect(await service.cancelTransaction(caller, order.body.transactionId)).toMatchObject({
      status: "cancelled",
    });
    await world.finalize();
    expect(await service.transaction(caller, underWay.transactionId)).toMatchObject({ status: "completed" });
    expect(await service.operator.suspendedAccounts()).toMatchObject([
      { accountId: caller.accountId, ...BY },
    ]);
    await service.operator.restoreAccount(caller.accountId, BY);
    expect(await service.operator.suspendedAccounts()).toEqual([]);
    await world.send(caller, send);
  });

  test("pauses are listed with who, why and since when, and what is refused is named and kept out of the log", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    const since = new Date(world.clock.now()).toISOString();
    const bea = { actor: "bea", reason: "maintenance" };
    expect(await operator.pause({ asset: "SOL", type: "swap" }, BY)).toEqual({
      asset: "SOL",
      type: "swap",
      ...BY,
      since,
    });
    world.clock.advance(1);
    await operator.pause({ accountId: "service" }, bea);
    expect(await operator.paused()).toMatchObject([
      { asset: "SOL", type: "swap", ...BY, since },
      { accountId: "service", ...bea },
    ]);
    await operator.suspendAccount("acct_x", BY);

    const refused = (act: Promise<unknown>, message: string) =>
      expect(act).rejects.toMatchObject({ name: "OperatorRefused", message });
    await refused(
      operator.pause({ type: "swap", asset: "SOL" }, BY),
      "asset SOL, type swap is paused already",
    );
    await refused(
      operator.resume({ asset: "SOL" }, BY),
      "asset SOL is not paused: name exactly what was paused",
    );
    await refused(operator.resume({}, BY), "the service is not paused: name exactly what was paused");
    await refused(operator.pause({ asset: "DOGE" }, BY), "asset: DOGE is none of SOL, USDC, USDT");
    await refused(operator.suspendAccount("acct_x", BY), "account acct_x is suspended already");
    await refused(operator.restoreAccount("acct_y", BY), "account acct_y is not suspended");
    await expect(operator.pause({ mode: "both" } as never, BY)).rejects.toThrow(/^mode: /);
    await expect(operator.pause({ amount: "1" } as never, BY)).rejects.toThrow(/amount/);
    await expect(operator.pause({}, { actor: " ", reason: "x" })).rejects.toThrow(/^actor: /);
    await expect(operator.pause({}, { actor: "ann", reason: "x".repeat(201) })).rejects.toThrow(/^reason: /);
    await expect(operator.pause({}, undefined as never)).rejects.toThrow("expected object");
    expect((await operator.auditLog()).map(({ actor, act, what }) => ({ actor, act, what }))).toEqual([
      { actor: "ann", act: "pause", what: { asset: "SOL", type: "swap" } },
      { actor: "bea", act: "pause", what: { accountId: "service" } },
      { actor: "ann", act: "suspend", what: { accountId: "acct_x" } },
    ]);
  });

  test("of operators who change the rules at once none is lost, and each act is one commit with its row in the log", async () => {
    const world = await intakeWorld(adapter);
    const [one, other] = [world.service.operator, world.another().operator];
    const scopes = (["wallet", "private"] as const).flatMap((mode) =>
      (["send", "payroll", "swap"] as const).map((type) => ({ mode, type })),
    );
    await Promise.all(scopes.map((scope, index) => (index % 2 === 0 ? one : other).pause(scope, BY)));
    expect(await one.paused()).toHaveLength(6);
    // Two who pause the same: one does, the other is told.
    const both = await Promise.allSettled([one, other].map((each) => each.pause({ asset: "USDT" }, BY)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await world.service.operator.auditLog({ limit: 1_000 })).toHaveLength(7);
  });

  test("the audit log is read page by page, and an entry that is not there is refused", async () => {
    const world = await intakeWorld(adapter);
    const { operator } = world.service;
    for (const accountId of ["a", "b", "c"]) await operator.suspendAccount(accountId, BY);
    const first = await operator.auditLog({ limit: 2 });
    expect(first.map(({ what }) => what)).toEqual([{ accountId: "a" }, { accountId: "b" }]);
    const rest = await operator.auditLog({ after: first[1]?.id ?? "" });
    expect(rest.map(({ what }) => what)).toEqual([{ accountId: "c" }]);
    await expect(operator.auditLog({ after: "audit_0" })).rejects.toThrow(
      "after: the audit log has no entry audit_0",
    );
    await expect(operator.auditLog({ limit: 0 })).rejects.toThrow(/^limit: /);
  });
});
