/** What waits costs the next order nothing. */
// modules: private
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { waitingOf } from "../../../src/payments/frame/purses/sponsor-limit.ts";
import { sponsorPurse } from "../../../src/payments/frame/spending.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { commitOne } from "../../../storage/decided.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150 } from "../../kit/money.ts";
import { privateTest } from "../../kit/private-test.ts";

/** A service that reports how many rows its reads are given. */
function counting(world: PrivateFixture) {
  const read = { rows: 0 };
  const { storage } = world;
  const find: typeof storage.find = async (query) => {
    const rows = await storage.find(query);
    read.rows += rows.length;
    return rows;
  };
  const service = world.another({
    storage: { ...storage, find },
    privateRouting: {
      sponsor: keypairSigner(world.sponsor.secretKey),
      treasury: world.treasury.address,
      prices: solAt150(world),
      maxSponsorSpendPerDay: "50",
    },
  });
  return { service, read };
}

async function order(service: PaymentService, caller: Caller, [sender, to]: readonly [string, string]) {
  const recipients = [{ address: to, amount: "5" }];
  const { body } = await service.createQuote(caller, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
    recipients,
  });
  const quoteId = body.quoteId;
  await service.createTransaction(caller, { type: "send", mode: "private", quoteId, sender, recipients });
}

/** Orders of others and of this account that have each reserved a lamport, and spendings of the last hours. */
async function manyWaiting(world: PrivateFixture, accountId: string, count: number): Promise<void> {
  const sponsor = world.sponsor.address;
  const resources = [sponsorPurse(sponsor), waitingOf(sponsor, accountId)];
  const now = world.clock.now();
  const row = { version: 1, amount: 1n, createdAt: now, lapsesAt: null, releasedAt: null };
  for (let one = 0; one < count; one++) {
    const spending = { id: `s${one}`, purse: sponsorPurse(sponsor), amount: 1n, at: now - one * 60_000 };
    await commitOne(world.storage, {
      writes: [
        ...resources.map((resource) => ({
          table: "reservations" as const,
          insert: { ...row, id: `${resource} ${one}`, resource },
        })),
        { table: "spendings", insert: spending },
      ],
    });
  }
}

privateTest("L4: an order reads no more beside a thousand that wait than beside none", async ({ world }) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const { service, read } = counting(world);
  await world.service.stop();
  await service.start();
  await order(service, caller, [alice.address, bob.address]);
  const reading = async (): Promise<number> => {
    const before = read.rows;
    await order(service, caller, [alice.address, bob.address]);
    return read.rows - before;
  };
  const alone = await reading();
  await manyWaiting(world, caller.accountId, 1_000);
  expect(await reading()).toBeLessThanOrEqual(alone + 5);
  await service.stop();
});
