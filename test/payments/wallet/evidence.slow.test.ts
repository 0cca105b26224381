/** Caller-signed payments over endpoints that lie, differ, or have forgotten: what they become, and what is said of them. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorRefused } from "../../../src/payments/frame/acts/act.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { silentLogger, type Logger } from "../../../src/core/runtime.ts";
import type { EndpointOptions } from "../../../src/solana/index.ts";
import type { Notice } from "../../../src/payments/frame/notices/notice-body.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import {
  allOf,
  callingAllFinal,
  gone,
  lyingAbout,
  noLists,
  noStatuses,
  oddEndpoint,
  restoredAt,
  type OddEndpoint,
  dropping,
} from "../../kit/odd-endpoints.ts";
import { privateFixture } from "../../kit/private-fixture.ts";
import { serviceFixture, type ServiceFixture } from "../../kit/service-fixture.ts";
import { signAgain } from "../../kit/sign-again.ts";
import { BY } from "../../kit/by.ts";
import { signed as ownTransaction } from "../../solana/signed-transaction.ts";
import { signatureOf } from "./wallet-world.ts";

type SendRequest = Parameters<PaymentService["createTransaction"]>[1] & object;

interface World {
  readonly fixture: ServiceFixture;
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  /** What was warned of, without its facts. */
  readonly warnings: readonly string[];
  /** A payment of 1 USDC to Bob, taken. */
  pay(): Promise<{ readonly id: string; readonly signature: string; readonly signed: string }>;
  shown(id: string): ReturnType<PaymentService["transaction"]>;
}

/** Keeps what is warned of, without its facts. */
const warningsInto = (warnings: string[]): Logger => ({
  ...silentLogger,
  warn: (_facts: unknown, words?: string) => void warnings.push(words ?? ""),
});

const ended: (() => Promise<void>)[] = [];
/** The one service at work. */
let atWork: PaymentService;
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function world(options: Partial<PaymentServiceOptions> = {}): Promise<World> {
  const warnings: string[] = [];
  const odd: OddEndpoint[] = [];
  const fixture = await serviceFixture(
    {
      logger: warningsInto(warnings),
      ...options,
    },
    ({ chain, ledgerOf }) => {
      odd.push(oddEndpoint(chain, "one"), oddEndpoint(chain, "two"));
      return { ledger: ledgerOf(odd.map(({ option }) => option)) };
    },
  );
  const [one, two] = odd;
  if (one === undefined || two === undefined) throw new Error("there are two endpoints");
  ended.push(() => fixture.close());
  atWork = fixture.service;
  const caller = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = fixture.wallet("bob");
  return {
    fixture,
    one,
    two,
    caller,
    alice,
    bob,
    warnings,
    async pay() {
      const { body } = await fixture.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
      const request = { ...body, recipients: [...body.recipients] };
      const { body: created } = await fixture.service.createTransaction(caller, request);
      const signed = body.signedTransaction;
      return { id: created.transactionId, signature: signatureOf(signed), signed };
    },
    shown: (id) => fixture.service.transaction(caller, id),
  };
}

/** It has the history, and knows of no transaction. */
const denying = allOf(noStatuses, noLists);

/** Goes on with a service over other endpoints, as after a restart with another configuration. */
async function goOnOver(
  { fixture }: Pick<World, "fixture">,
  endpoints: readonly EndpointOptions[],
  options: Partial<PaymentServiceOptions> = {},
): Promise<PaymentService> {
  await atWork.stop();
  const service = fixture.another({ ledger: fixture.ledgerOf(endpoints), ...options });
  atWork = service;
  ended.unshift(() => service.stop());
  await service.start();
  await service.settled();
  return service;
}

/** So many looks at everything. */
/** What could not be had is asked for again after so long at the latest. */
const AFTER_A_PAUSE_MS = 8_000;

async function look(service: PaymentService, times = 40): Promise<void> {
  for (let time = 0; time < times; time += 1) await service.settled();
}

/** A payment that landed while the service was down, whose nodes come back without the history of that time. */
async function landedUnseen({ isConfirmed = false } = {}): Promise<
  World & { readonly id: string; readonly signature: string; readonly slot: number }
> {
  const scene = await world();
  const { fixture, one, two } = scene;
  const { id, signature } = await scene.pay();
  const slot = fixture.chain.slot();
  await fixture.service.settled();
  if (isConfirmed) {
    fixture.chain.advance(2);
    await fixture.service.settled();
    const { status } = await scene.shown(id);
    if (status !== "confirmed") throw new Error(`it is ${status}, and should be confirmed`);
  }
  await fixture.service.stop();
  fixture.chain.advance(700);
  one.rule = restoredAt(fixture.chain.slot() - 100);
  two.rule = restoredAt(fixture.chain.slot() - 90);
  return { ...scene, id, signature, slot };
}

describe("M5: the bytes have landed, and both nodes are honest but without that history", () => {
  for (const isConfirmed of [false, true]) {
    const status = isConfirmed ? "confirmed" : "pending";
    test(`M5: it stays ${status}, never failed, unprovable in GET, in health, and once on the log`, async () => {
      const scene = await landedUnseen({ isConfirmed });
      const { fixture, one, two, id } = scene;
      const warnings: string[] = [];
      const service = await goOnOver(scene, [one.option, two.option], {
        logger: warningsInto(warnings),
      });
      for (let round = 0; round < 5; round += 1) {
        await look(service, 3);
        fixture.chain.advance(100);
      }
      const shown = await scene.shown(id);
      expect(shown).toMatchObject({ status, reason: null, attention: "unprovable", blockTime: null });
      expect(shown.attentionMessage).toContain("No evidence tells whether this transaction landed");
      expect(await service.health()).toMatchObject({ status: "degraded", unprovable: 1 });
      expect(warnings.filter((words) => words === shown.attentionMessage)).toHaveLength(1);
      const events = (await fixture.storage.notices(id)).map(({ event }) => event);
      expect(events).toEqual(
        isConfirmed ? ["transaction.pending", "transaction.confirmed"] : ["transaction.pending"],
      );
    });
  }

  test("M5: it is completed as soon as nodes with that history are configured", async () => {
    const scene = await landedUnseen();
    const { fixture, one, two, id } = scene;
    await look(await goOnOver(scene, [one.option, two.option]));
    const [three, four] = [oddEndpoint(fixture.chain, "three"), oddEndpoint(fixture.chain, "four")];
    const service = await goOnOver(scene, [one.option, two.option, three.option, four.option]);
    expect(await scene.shown(id)).toMatchObject({
      status: "completed",
      attention: null,
      attentionMessage: null,
      fee: "0.000005091",
      recipients: [{ status: "paid" }],
    });
    expect(await service.health()).toMatchObject({ status: "ok", unprovable: 0 });
    const events = (await fixture.storage.notices(id)).map(({ event }) => event);
    expect(events).toEqual(["transaction.pending", "transaction.confirmed", "transaction.completed"]);
  });

  test("M5: one archive node that the operator vouches for is enough, one node more is not", async () => {
    const scene = await landedUnseen({ isConfirmed: true });
    const { fixture, one, two, id } = scene;
    const three = oddEndpoint(fixture.chain, "three");
    await look(await goOnOver(scene, [one.option, two.option, three.option]));
    expect(await scene.shown(id)).toMatchObject({ status: "confirmed", attention: "unprovable" });
    await goOnOver(scene, [one.option, two.option, { ...three.option, archive: true }]);
    expect(await scene.shown(id)).toMatchObject({ status: "completed", attention: null });
  });

  test("M5: an operator settles it by its signature where one endpoint shows it, and by no other", async () => {
    const scene = await landedUnseen();
    const { fixture, one, two, id, signature } = scene;
    const service = await goOnOver(scene, [one.option, two.option]);
    const refusalOf = async (work: Promise<unknown>): Promise<string> => {
      const error = await work.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OperatorRefused);
      return String(error);
    };
    expect(
      await refusalOf(service.operator.settleTransaction({ transactionId: id, signature }, BY)),
    ).toContain("no endpoint shows it finalized");
    one.rule = undefined;
    // Another payment of the same people, finalized as well.
    const other = fixture.chain.fund(scene.bob.address, { usdc: 1n });
    fixture.chain.advance(40);
    expect(
      await refusalOf(service.operator.settleTransaction({ transactionId: id, signature: other }, BY)),
    ).toContain("another transaction");
    const unknown = { transactionId: "tx_unknown", signature };
    expect(await refusalOf(service.operator.settleTransaction(unknown, BY))).toContain(
      "there is no wallet transaction tx_unknown",
    );
    expect(await scene.shown(id)).toMatchObject({ status: "pending", attention: "unprovable" });
    const settled = await service.operator.settleTransaction({ transactionId: id, signature }, BY);
    expect(settled).toMatchObject({ status: "completed", landing: { signature, error: null } });
    expect(
      await refusalOf(service.operator.settleTransaction({ transactionId: id, signature }, BY)),
    ).toContain("is settled already");
    expect(await service.operator.auditLog()).toMatchObject([
      { ...BY, act: "settle", what: { transactionId: id, signature } },
    ]);
    await service.settled();
    const events = (await fixture.storage.notices(id)).map(({ event }) => event);
    expect(events).toEqual(["transaction.pending", "transaction.confirmed", "transaction.completed"]);
  });

  test("M5: in the operator's room it is a matter, settled or written off together with its row in the audit log", async () => {
    const by = { actor: "ann", reason: "seen in an explorer" };
    const scene = await landedUnseen();
    const { one, two, id, signature } = scene;
    const { operator } = await goOnOver(scene, [one.option, two.option]);
    const matter = `unprovable:${id}`;
    expect(await operator.attention()).toMatchObject([
      {
        kind: "unprovable",
        id: matter,
        transactionId: id,
        accountId: scene.caller.accountId,
        actions: ["settle", "writeOff"],
      },
    ]);
    const settle = { action: "settle", signature } as const;
    await expect(operator.resolve(matter, settle, by)).rejects.toMatchObject({ name: "OperatorRefused" });
    one.rule = undefined;
    await expect(operator.resolve(matter, { action: "writeOff" }, by)).rejects.toThrow(
      "settle it by its signature",
    );
    expect(await operator.auditLog()).toEqual([]);
    expect(await operator.resolve(matter, settle, by)).toMatchObject({ state: "done", transactionId: id });
    expect(await scene.shown(id)).toMatchObject({ status: "completed", attention: null });
    expect(await operator.attention()).toEqual([]);
    await expect(operator.resolve(matter, settle, by)).rejects.toThrow(`there is no matter ${matter}`);
    expect(await operator.auditLog()).toMatchObject([
      { ...by, act: "settle", what: { id: matter, transactionId: id, signature } },
    ]);

    const unseen = await landedUnseen();
    const other = (await goOnOver(unseen, [unseen.one.option, unseen.two.option])).operator;
    await other.resolve(`unprovable:${unseen.id}`, { action: "writeOff" }, by);
    expect(await unseen.shown(unseen.id)).toMatchObject({ status: "failed", reason: "expired" });
    expect(await other.auditLog()).toMatchObject([{ act: "write_off", what: { transactionId: unseen.id } }]);
  });

  test("M5, R12: it is not written off while an endpoint shows it or two contradict each other; what nobody shows is, and its landing found later", async () => {
    const scene = await landedUnseen();
    const { one, two, id, signature } = scene;
    const service = await goOnOver(scene, [one.option, two.option]);
    expect(await scene.shown(id)).toMatchObject({ attention: "unprovable" });
    const [blind, forgetful] = [one.rule, two.rule];
    one.rule = undefined;
    const writeOff = () => service.operator.resolve(`unprovable:${id}`, { action: "writeOff" }, BY);
    await expect(writeOff()).rejects.toThrow("settle it by its signature");
    two.rule = denying;
    await expect(writeOff()).rejects.toThrow("settle it by its signature");
    two.rule = forgetful;
    one.rule = gone;
    await expect(writeOff()).rejects.toThrow("too few endpoints answer");
    one.rule = blind;
    expect(await writeOff()).toMatchObject({ state: "done", transactionId: id });
    await expect(writeOff()).rejects.toThrow("there is no matter");
    expect(await service.operator.auditLog()).toHaveLength(1);
    expect(await scene.shown(id)).toMatchObject({ status: "failed", reason: "expired", attention: null });
    [one.rule, two.rule] = [undefined, undefined];
    await service.settled();
    expect(await scene.shown(id)).toMatchObject({
      status: "failed",
      landedAfterCancel: true,
      fee: "0.000005091",
      recipients: [{ status: "paid", signature }],
    });
  });

  test("M5: cancelled, landed by its caller, forgotten by all: cancelled and unprovable, landedAfterCancel at last", async () => {
    const scene = await world({ broadcastDelayMs: 5_000 });
    const { fixture, one, two, caller } = scene;
    const { id, signed } = await scene.pay();
    await fixture.service.cancelTransaction(caller, id);
    await fixture.ledger.broadcast(Buffer.from(signed, "base64"));
    await fixture.service.stop();
    fixture.chain.advance(700);
    one.rule = restoredAt(fixture.chain.slot() - 100);
    two.rule = one.rule;
    await look(await goOnOver(scene, [one.option, two.option]), 2);
    expect(await scene.shown(id)).toMatchObject({ status: "cancelled", attention: "unprovable" });
    [one.rule, two.rule] = [undefined, undefined];
    await goOnOver(scene, [one.option, two.option]);
    expect(await scene.shown(id)).toMatchObject({
      status: "cancelled",
      attention: null,
      landedAfterCancel: true,
      recipients: [{ status: "paid" }],
    });
  });
});

describe("M6: one of two endpoints says of bytes that never landed that they are final", () => {
  for (const index of [0, 1]) {
    for (const err of [null, "AccountInUse"]) {
      const name = `${index === 0 ? "the preferred one" : "the other one"}, ${err === null ? "done" : "with an error"}`;
      test(`M6: neither completed nor failed by its word (${name}); failed when the lie ends`, async () => {
        const scene = await world();
        const { fixture, id, liar, honest } = await lied(scene, index, err);
        await look(fixture.service);
        expect(await scene.shown(id)).toMatchObject({ status: "pending", attention: null });
        // A minute and a half later no block takes it any more.
        fixture.chain.advance(200);
        await look(fixture.service);
        expect(await scene.shown(id)).toMatchObject({ status: "pending", attention: "unprovable" });
        liar.rule = undefined;
        await look(fixture.service);
        expect(await scene.shown(id)).toMatchObject({ status: "failed", reason: "expired" });
        expect(honest.calls).toContain("getFirstAvailableBlock");
        const events = (await fixture.storage.notices(id)).map(({ event }) => event);
        expect(events).toEqual(["transaction.pending", "transaction.failed"]);
      });
    }
  }

  test("M6: bytes that the preferred endpoint calls final are sent again all the same, and land", async () => {
    const scene = await world();
    const { fixture, id, liar, honest } = await lied(scene, 0, null);
    honest.rule = undefined;
    await look(fixture.service);
    fixture.chain.advance(40);
    liar.rule = undefined;
    fixture.clock.advance(AFTER_A_PAUSE_MS);
    await look(fixture.service);
    expect(await scene.shown(id)).toMatchObject({ status: "completed", recipients: [{ status: "paid" }] });
  });

  test('M2: the preferred endpoint says "finalized with an error" of what landed: not failed, completed in the end', async () => {
    const scene = await world();
    const { fixture, one } = scene;
    const { id } = await scene.pay();
    await fixture.service.settled();
    const slot = fixture.chain.slot();
    fixture.chain.advance(40);
    one.rule = callingAllFinal(slot, { InstructionError: [0, { Custom: 1 }] });
    await look(fixture.service);
    expect((await scene.shown(id)).status).not.toBe("failed");
    one.rule = undefined;
    fixture.clock.advance(AFTER_A_PAUSE_MS);
    await look(fixture.service);
    expect(await scene.shown(id)).toMatchObject({ status: "completed" });
  });

  test("M3: all endpoints agree that it never landed: failed; when they tell the truth it is shown as landed", async () => {
    const scene = await world();
    const { fixture, one, two } = scene;
    const { id, signature } = await scene.pay();
    [one.rule, two.rule] = [denying, denying];
    await fixture.service.settled();
    fixture.chain.advance(250);
    await look(fixture.service, 2);
    expect(await scene.shown(id)).toMatchObject({
      status: "failed",
      reason: "expired",
      recipients: [{ status: "unpaid" }],
    });
    [one.rule, two.rule] = [undefined, undefined];
    await fixture.pass(10 * 60_000);
    expect(await scene.shown(id)).toMatchObject({
      status: "failed",
      reason: "expired",
      landedAfterCancel: true,
      recipients: [{ status: "paid", signature }],
    });
    expect((await fixture.storage.load(id))?.status).toBe("done");
  });

  test("M3, R12: what is found a day after its death, and has not failed, is shown by an operator's word, once, with one row in the audit log", async () => {
    const scene = await world();
    const { fixture, one, two } = scene;
    const { id, signature } = await scene.pay();
    [one.rule, two.rule] = [denying, denying];
    await fixture.service.settled();
    fixture.chain.advance(250);
    await look(fixture.service, 2);
    await fixture.pass(25 * 60 * 60_000);
    expect((await fixture.storage.load(id))?.status).toBe("done");
    [one.rule, two.rule] = [undefined, undefined];
    await look(fixture.service, 2);
    expect(await scene.shown(id)).not.toHaveProperty("landedAfterCancel");
    // Its chart has ended: nothing but the guard tells two operators apart, and the other one commits first here.
    const landing = { transactionId: id, signature };
    const { storage } = fixture;
    const settling = (service: PaymentService, actor: string) =>
      service.operator.settleTransaction(landing, { actor, reason: "drill" });
    const failing = lyingAbout("getTransaction", (told: { readonly meta: object }) => ({
      ...told,
      meta: { ...told.meta, err: { InstructionError: [0, { Custom: 1 }] } },
    }));
    [one.rule, two.rule] = [failing, failing];
    await expect(settling(fixture.service, "ann")).rejects.toThrow("is settled already");
    [one.rule, two.rule] = [undefined, undefined];
    const others: unknown[] = [];
    const slow: PaymentStorage = {
      ...storage,
      async commit(items) {
        const isSettling = items.some(({ writes = [] }) => writes.some(({ table }) => table === "audit"));
        if (isSettling) others.push(await settling(fixture.service, "bea"));
        return storage.commit(items);
      },
    };
    const overtaken = fixture.another({ storage: slow });
    await expect(settling(overtaken, "ann")).rejects.toThrow("somebody else has just settled");
    expect(others).toMatchObject([{ transactionId: id, status: "failed" }]);
    expect(await scene.shown(id)).toMatchObject({
      landedAfterCancel: true,
      recipients: [{ status: "paid" }],
    });
    await expect(settling(fixture.service, "ann")).rejects.toThrow("is settled already");
    const rows = await fixture.service.operator.auditLog();
    expect(rows).toMatchObject([{ actor: "bea", act: "settle", what: landing }]);
  });
});

/** A payment whose bytes no endpoint passes on, and of which one says that it is final. */
async function lied(
  scene: World,
  index: number,
  err: unknown,
): Promise<World & { id: string; liar: OddEndpoint; honest: OddEndpoint }> {
  const { fixture, one, two } = scene;
  const [liar, honest] = index === 0 ? [one, two] : [two, one];
  // The signature is final in a block of before it was made: a block that the liar makes up.
  liar.rule = allOf(dropping, callingAllFinal(fixture.chain.slot(), err));
  honest.rule = dropping;
  const { id } = await scene.pay();
  await fixture.service.settled();
  return { ...scene, id, liar, honest };
}

describe("while fewer endpoints answer than must agree", () => {
  test("nothing completes and nothing fails, and health says so", async () => {
    const scene = await world();
    const { fixture, two } = scene;
    const landed = await scene.pay();
    await fixture.service.settled();
    two.rule = gone;
    fixture.chain.advance(40);
    await look(fixture.service);
    expect(await scene.shown(landed.id)).toMatchObject({ attention: null });
    expect((await scene.shown(landed.id)).status).not.toBe("completed");
    expect(await fixture.service.health()).toMatchObject({
      status: "degraded",
      witnesses: { needed: 2, answering: 1 },
    });
    two.rule = undefined;
    fixture.clock.advance(AFTER_A_PAUSE_MS);
    await look(fixture.service);
    expect(await scene.shown(landed.id)).toMatchObject({ status: "completed" });
    expect(await fixture.service.health()).toMatchObject({
      status: "ok",
      witnesses: { needed: 2, answering: 2 },
    });
  });

  test("W9: bytes past their last block are not failed before enough endpoints say so", async () => {
    const scene = await world();
    const { fixture, one, two } = scene;
    [one.rule, two.rule] = [dropping, dropping];
    const { id } = await scene.pay();
    two.rule = gone;
    await fixture.service.settled();
    fixture.chain.advance(250);
    await look(fixture.service);
    expect(await scene.shown(id)).toMatchObject({ status: "pending", attention: null });
    two.rule = undefined;
    await look(fixture.service, 2);
    expect(await scene.shown(id)).toMatchObject({ status: "failed", reason: "expired" });
  });

  // modules: private
  test("P30: no deposit window closes and no deposit is credited: what came in time counts when they are back", async () => {
    const fixture = await privateFixture();
    ended.push(() => fixture.close());
    atWork = fixture.service;
    const [one, two] = [oddEndpoint(fixture.chain, "one"), oddEndpoint(fixture.chain, "two")];
    const service = await goOnOver({ fixture }, [one.option, two.option]);
    const caller = await fixture.caller();
    const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
    const to = [{ address: fixture.wallet("bob", { lamports: 1_000_000n, usdc: 1n }).address, amount: "5" }];
    const funded = await fixture.order(caller, { sender: alice, to });
    const idle = await fixture.order(caller, { sender: alice, to });
    const statusOf = async ({ body }: typeof funded): Promise<unknown> => {
      const { status, reason } = await service.transaction(caller, body.transactionId);
      return [status, reason];
    };
    fixture.chain.fund(funded.body.ephemeralAddress, { usdc: 6_000_000n });
    fixture.chain.advance(35);
    two.rule = gone;
    await look(service, 4);
    expect(await statusOf(funded)).toEqual(["pending", null]);
    // The window is long over by the chain's own clock.
    fixture.clock.advance(60 * 60_000);
    fixture.chain.advance(1);
    fixture.chain.advance(40);
    await look(service, 4);
    expect([await statusOf(funded), await statusOf(idle)]).toEqual([
      ["pending", null],
      ["pending", null],
    ]);
    two.rule = undefined;
    await look(service, 9);
    expect((await statusOf(funded)) as string[]).toContain("processing");
    expect(await statusOf(idle)).toEqual(["failed", "DEPOSIT_TIMEOUT"]);
  });
});

// modules: webhooks
test("the same message, landed under another signature of its sender: completed, and both signatures are shown", async () => {
  const scene = await world();
  const { fixture, one, two, alice } = scene;
  [one.rule, two.rule] = [dropping, dropping];
  const { id, signature, signed } = await scene.pay();
  await fixture.service.settled();
  const notices: Notice[] = [];
  fixture.service.subscribe({ transactionId: id }, (notice) => void notices.push(notice));
  const again = signAgain(signed, alice.secretKey);
  await fixture.ledger.broadcast(Buffer.from(again, "base64"));
  await fixture.service.settled();
  fixture.chain.advance(250);
  await look(fixture.service, 2);
  expect(await scene.shown(id)).toMatchObject({
    status: "completed",
    signature,
    signatures: [signature, signatureOf(again)],
    recipients: [{ status: "paid", signature: signatureOf(again) }],
  });
  expect(notices.map(({ data }) => data.signature)).toEqual([signature, signature]);
});

describe("M21: the caller's own transaction lands under another valid signature of its fee payer", () => {
  /** A payment of 1 USDC to Bob that Alice built herself, and its twin. Nobody sends the bytes that were posted. */
  async function twins(): Promise<
    World & { readonly request: SendRequest; readonly signed: string; readonly again: string }
  > {
    const scene = await world();
    const { fixture, one, two, alice, bob, caller } = scene;
    [one.rule, two.rule] = [dropping, dropping];
    const { body } = await fixture.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
    const [mint, from] = [new PublicKey(fixture.mints.USDC), new PublicKey(alice.address)];
    const source = new PublicKey(fixture.tokenAccountOf(alice, "USDC"));
    const to = new PublicKey(fixture.tokenAccountOf(bob, "USDC"));
    const signed = await ownTransaction(fixture, {
      signers: [alice],
      instructions: [
        createAssociatedTokenAccountIdempotentInstruction(from, to, new PublicKey(bob.address), mint),
        createTransferCheckedInstruction(source, mint, to, from, 1_000_000n, 6),
      ],
    });
    const request = { ...body, recipients: [...body.recipients], signedTransaction: signed };
    return { ...scene, request, signed, again: signAgain(signed, alice.secretKey) };
  }

  test("it is completed, never failed as expired, and shown under the signature that landed", async () => {
    const { fixture, caller, request, signed, again, shown } = await twins();
    const { body } = await fixture.service.createTransaction(caller, request);
    await fixture.ledger.broadcast(Buffer.from(again, "base64"));
    await fixture.service.settled();
    fixture.chain.advance(250);
    await look(fixture.service, 4);
    expect(await shown(body.transactionId)).toMatchObject({
      status: "completed",
      signature: signatureOf(signed),
      signatures: [signatureOf(signed), signatureOf(again)],
      recipients: [{ status: "paid", signature: signatureOf(again) }],
    });
  });

  test("where one endpoint does not list it, nothing is said to have failed", async () => {
    const { fixture, caller, request, again, shown, two } = await twins();
    const { body } = await fixture.service.createTransaction(caller, request);
    await fixture.ledger.broadcast(Buffer.from(again, "base64"));
    two.rule = allOf(dropping, noLists);
    await fixture.service.settled();
    fixture.chain.advance(250);
    await look(fixture.service, 4);
    expect(await shown(body.transactionId)).toMatchObject({ status: "pending", attention: "unprovable" });
  });

  test("W10: posted after its twin has landed it is DUPLICATE_TRANSACTION", async () => {
    const { fixture, caller, request, again } = await twins();
    await fixture.ledger.broadcast(Buffer.from(again, "base64"));
    fixture.chain.advance(33);
    await expect(fixture.service.createTransaction(caller, request)).rejects.toMatchObject({
      code: "DUPLICATE_TRANSACTION",
    });
  });
});
