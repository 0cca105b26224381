/** Cancelling in wallet mode: it races the broadcast, and one of them wins. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { passTime } from "../kit/pass-time.ts";
import { expectRefusal, refusal, signatureOf } from "./wallet/wallet-world.ts";
import { walletTest as test } from "./wallet/wallet-test.ts";
import { dropping } from "../kit/odd-endpoints.ts";

describe("cancelling races the broadcast, and one wins", () => {
  test.for([
    ["and the process is restarted before it would have been", 0],
    ["and the process is restarted after it would have been", 20_000],
  ] as const)(
    "W11: cancelled before the broadcast it is never sent, %s",
    async ([_when, restartAfterMs], { open }) => {
      const folder = mkdtempSync(join(tmpdir(), "paystate-cancel-"));
      const path = join(folder, "payments.db");
      const storage = await sqliteStorage(path);
      const { pay, post, fixture, caller, sent } = await open({ storage, broadcastDelayMs: 5_000 });
      const { body } = await pay();
      const { body: created } = await post(body);
      const cancelled = await fixture.service.cancelTransaction(caller, created.transactionId);
      expect(cancelled).toEqual({
        transactionId: created.transactionId,
        status: "cancelled",
        cancelledAt: new Date(fixture.clock.now()).toISOString(),
      });
      await fixture.pass(restartAfterMs);
      await fixture.service.stop();
      await storage.close();

      const reopened = await sqliteStorage(path);
      const restarted = fixture.another({ storage: reopened });
      await restarted.start();
      const { workflows } = restarted;
      await passTime(
        { clock: fixture.clock, engine: restarted, storage: reopened, workflows },
        fixture.clock.now() + 60_000,
      );
      // Until the bytes are dead for good, so that nobody can say they were only slow.
      fixture.chain.advance(400);
      await restarted.settled();
      expect(sent()).toBe(0);
      expect(await fixture.ledger.statuses([signatureOf(body.signedTransaction)])).toEqual([null]);
      expect(await restarted.transaction(caller, created.transactionId)).toMatchObject({
        status: "cancelled",
        fee: "0",
      });
      await restarted.stop();
      await reopened.close();
      rmSync(folder, { recursive: true });
    },
  );

  test("W12: whenever a cancellation meets the broadcast exactly one wins, and each of them can", async ({
    open,
  }) => {
    const { fixture, alice, bob, sent } = await open({ broadcastDelayMs: 1_000 });
    const winners: string[] = [];
    // Both take some turns of the event loop; in each round one of them has another head start.
    for (let headStart = -8; headStart <= 8; headStart++) {
      const client = await fixture.caller("enterprise");
      const prepared = await fixture.prepareSend(client, { from: alice, to: bob.address, amount: "1" });
      const { body: created } = await fixture.service.createTransaction(client, {
        ...prepared.body,
        recipients: [...prepared.body.recipients],
      });
      await fixture.service.settled();
      const broadcast = (): void => fixture.clock.advance(1_000);
      const cancel = (): Promise<boolean> =>
        fixture.service.cancelTransaction(client, created.transactionId).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject({ code: "ALREADY_PROCESSED" });
            return false;
          },
        );
      if (headStart >= 0) broadcast();
      const cancelling = headStart < 0 ? cancel() : null;
      for (let waited = 0; waited < Math.abs(headStart); waited++) await nextTurn();
      if (headStart < 0) broadcast();
      const cancelled = await (cancelling ?? cancel());
      await fixture.finalize();
      const { status, signature } = await fixture.service.transaction(client, created.transactionId);
      const [landed] = await fixture.ledger.statuses([String(signature)]);
      expect(status).toBe(cancelled ? "cancelled" : "completed");
      expect(landed === null).toBe(cancelled);
      expect(sent(prepared.body.signedTransaction) === 0).toBe(cancelled);
      winners.push(status);
    }
    expect(new Set(winners)).toEqual(new Set(["cancelled", "completed"]));
  });

  test("W13: after the broadcast and still pending, cancelling is ALREADY_PROCESSED", async ({ open }) => {
    const { fixture, caller, alice, bob } = await open();
    const created = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    await fixture.service.settled();
    await expectRefusal(
      fixture.service.cancelTransaction(caller, created.transactionId),
      "ALREADY_PROCESSED",
      {
        transactionId: created.transactionId,
        currentStatus: "pending",
        reason: "broadcast",
        signature: created.signature,
      },
    );
  });

  test("W14: DELETE on confirmed, completed, failed and cancelled is CANNOT_CANCEL with its three fields, nothing else", async ({
    open,
  }) => {
    const { fixture, caller, alice, bob } = await open({ broadcastDelayMs: 1_000 });
    const expectCannotCancel = async (transactionId: string, currentStatus: string): Promise<void> => {
      expect((await fixture.service.transaction(caller, transactionId)).status).toBe(currentStatus);
      const { code, details } = await refusal(fixture.service.cancelTransaction(caller, transactionId));
      expect({ code, details }).toEqual({
        code: "CANNOT_CANCEL",
        details: { transactionId, currentStatus, allowedStatuses: ["pending"] },
      });
      expect((await fixture.service.transaction(caller, transactionId)).status).toBe(currentStatus);
    };
    const send = (): ReturnType<typeof fixture.send> =>
      fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    const first = await send();
    await fixture.pass(1_000);
    fixture.chain.advance(2);
    await fixture.service.settled();
    await expectCannotCancel(first.transactionId, "confirmed");
    await fixture.finalize();
    await expectCannotCancel(first.transactionId, "completed");
    const second = await send();
    await fixture.service.cancelTransaction(caller, second.transactionId);
    await expectCannotCancel(second.transactionId, "cancelled");
    fixture.chain.faults.add(dropping);
    const third = await send();
    await fixture.pass(1_000);
    fixture.chain.advance(400);
    await fixture.service.settled();
    await expectCannotCancel(third.transactionId, "failed");
  });

  test("H16: another account's transaction is UNAUTHORIZED to cancel and not found to read", async ({
    open,
  }) => {
    const { fixture, caller, alice, bob } = await open({ broadcastDelayMs: 1_000 });
    const created = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    const stranger = await fixture.caller();
    const { transactionId } = created;
    await expectRefusal(fixture.service.cancelTransaction(stranger, transactionId), "UNAUTHORIZED", {
      transactionId,
    });
    await expectRefusal(fixture.service.transaction(stranger, transactionId), "TRANSACTION_NOT_FOUND", {});
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "TRANSACTION_NOT_FOUND", {});
  });

  test("H12: the eleventh cancellation in a minute is refused, and taken again when the window has moved", async ({
    open,
  }) => {
    const { fixture, caller } = await open();
    for (let times = 0; times < 10; times++) {
      await expectRefusal(
        fixture.service.cancelTransaction(caller, "tx_unknown"),
        "TRANSACTION_NOT_FOUND",
        {},
      );
    }
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "RATE_LIMIT_EXCEEDED", {
      scope: "cancel",
      limit: 10,
      windowSeconds: 60,
      retryAfter: 60,
      tier: "free",
    });
    fixture.clock.advance(60_000);
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "TRANSACTION_NOT_FOUND", {});
  });

  test("W22: cancelled here and broadcast by its caller all the same is shown as landedAfterCancel", async ({
    open,
  }) => {
    const { pay, post, fixture, caller } = await open({ broadcastDelayMs: 5_000 });
    const { body } = await pay();
    const { body: created } = await post(body);
    await fixture.service.cancelTransaction(caller, created.transactionId);
    await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
    await fixture.finalize();
    expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
      status: "cancelled",
      landedAfterCancel: true,
    });
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
