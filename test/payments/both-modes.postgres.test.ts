/** The payment service on PostgreSQL, from the quote to the last lamport, on the real programs. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { type PostgresDatabase, postgresDatabase } from "../kit/postgres-database.ts";
import { type PrivateFixture, privateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const SOL = 1_000_000_000n;

describe.skipIf(!HAS_POSTGRES)("payments on PostgreSQL", () => {
  let database: PostgresDatabase;
  let storage: PaymentStorage;
  beforeEach(async () => {
    database = await postgresDatabase();
    storage = await postgresStorage(database.open);
  });
  afterEach(async () => {
    await storage.close();
    await database.destroy();
  });

  test("E5: a wallet send is completed by a second process when the first has stopped", async () => {
    const second = await postgresStorage(database.open);
    const world = await serviceFixture({ storage });
    try {
      const caller = await world.caller();
      const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
      const bob = world.wallet("bob", { lamports: SOL });
      const prepared = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "12.5" });
      const request = { ...prepared.body, recipients: [...prepared.body.recipients] };
      const first = await world.service.createTransaction(caller, request);
      expect(first.body).toMatchObject({ status: "pending" });
      await world.service.stop();
      const other = world.another({ storage: second });
      await other.start();
      await other.settled();
      world.chain.advance(40);
      await world.pass(60_000);
      await other.settled();
      const { transactionId } = first.body;
      expect(await other.transaction(caller, transactionId)).toMatchObject({ status: "completed" });
      expect((await other.createTransaction(caller, request)).body).toMatchObject({ transactionId });
      await other.stop();
    } finally {
      await world.close();
      await second.close();
    }
  });

  // modules: private
  test("P18, P24: a private send pays its recipient exactly, and its address ends at nothing", async () => {
    const world: PrivateFixture = await privateFixture({ storage });
    try {
      const caller = await world.caller();
      const alice = world.wallet("alice", { lamports: SOL });
      const bob = world.wallet("bob", { lamports: SOL });
      const to = [{ address: bob.address, amount: "5" }];
      const { body } = await world.order(caller, { sender: alice, to });
      await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
      await world.settle();
      expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({
        status: "completed",
        refunds: [],
      });
      expect(await world.held(bob.address)).toEqual([SOL, 5_000_000n, 0n]);
      expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
    } finally {
      await world.close();
    }
  });
});
