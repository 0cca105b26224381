/** Orders of which this database has a stub, or nothing: what lies at their addresses goes back to their senders. */
// modules: private
import { expect } from "vitest";
import { rentOf } from "../../../src/ledger/order-reading.ts";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { OrderStubRecord } from "../../../src/payments/private/tables.ts";
import type { JournalLine } from "../../../src/payments/private/recovery/journal.ts";
import { BY } from "../../kit/by.ts";
import { passTime } from "../../kit/pass-time.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150, units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { memoryStorage } from "../../kit/storages.ts";

const ID = "tx_000000000001aaaaaaaaaaaaaaaaaaaa";
const RATE = 6_960n;

/** An order of three chunks, removed as old, with markers that another copy has made. */
async function removed(world: PrivateFixture, markers: Readonly<Record<string, number>>) {
  const { chain, ledger, sponsor, clock, mints, storage } = world;
  const key = depositKeys([TEST_MASTER_SECRET], () => chain.genesisHash).signer({
    masterVersion: 1,
    transactionId: ID,
  });
  const sender = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 0n });
  const stub: OrderStubRecord = {
    id: ID,
    address: key.address,
    masterVersion: 1,
    createdAt: clock.now() - 2,
    layout: 1,
    sender: sender.address,
    mint: mints.USDC,
    chunks: 3,
    rentPerByte: RATE,
    windowEnds: clock.now() - 1,
    loanBack: null,
    status: "failed",
  };
  await storage.commit([{ writes: [{ table: "orderStubs", insert: stub }] }]);
  const unsigned = await ledger.buildTransaction({
    feePayer: sponsor.address,
    moves: Object.entries(markers).map(([seed, length]) => {
      const lamports = rentOf(RATE, length);
      return { does: "buy", base: key.address, seed, length, payer: sponsor.address, lamports } as const;
    }),
  });
  const { bytes } = await signTransaction(unsigned, [keypairSigner(sponsor.secretKey), key]);
  await ledger.broadcast(bytes);
  chain.fund(key.address, { usdc: 7_000_000n });
  chain.advance(35);
  return { sender, address: key.address };
}

test("C24, C14: late money of an order that only a stub knows goes back, its gaps foreclosed", async ({
  open,
}) => {
  const world = await open();
  const { sender, address } = await removed(world, { 0: 5, 1: 0 });
  const [recovered] = await world.service.operator.recover([ID], BY);
  expect(recovered).toMatchObject({ transactionId: ID, address, state: "restored" });
  expect(await world.storage.orderStub(ID)).toBeNull();
  await world.settle(4);
  // What nodes list is remembered for a moment.
  await world.pass(3 * 60_000);
  await world.settle(8);

  const view = await world.storage.orderedTransaction(ID);
  expect(view?.order?.chunks.map(({ length }) => length)).toEqual([5, 0, 1]);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  expect((await world.held(sender.address))[1]).toBeGreaterThan(6_000_000n);
  expect(await world.storage.openMatters()).toEqual([]);
});

test("C14: a line that says another sender than the record is refused, and nothing is sent", async ({
  world,
}) => {
  const { sender } = await removed(world, { 0: 5, 1: 0, 2: 0 });
  const stub = await world.storage.orderStub(ID);
  if (stub === null) throw new Error("a stub is stored");
  const { id, masterVersion, createdAt, layout, mint, chunks, windowEnds } = stub;
  const rentPerByte = String(stub.rentPerByte);
  const line = { id, masterVersion, createdAt, layout, mint, chunks, rentPerByte, windowEnds };
  const { address: thief } = world.wallet("thief", { lamports: 1_000_000_000n, usdc: 0n });
  const { operator } = world.service;
  await expect(operator.recover([{ ...line, sender: thief }], BY)).rejects.toThrow(
    "is on record with another line",
  );
  expect(await world.storage.orderedTransaction(ID)).toBeNull();
  expect(await operator.recover([{ ...line, sender: sender.address }], BY)).toMatchObject([
    { state: "restored" },
  ]);
});

test("C14: an id that neither a journal nor a stub knows is refused by its name", async ({ world }) => {
  const unknown = `tx_${"b".repeat(32)}`;
  await expect(world.service.operator.recover([unknown], BY)).rejects.toThrow(`${unknown} is in no journal`);
});

test("C72: an order that a line brings back bears no loan that a sponsor before the one of today has back", async ({
  open,
}) => {
  const lines: JournalLine[] = [];
  const recovery = {
    write: async (line: JournalLine) => void lines.push(line),
    endOf: async () => null,
    async *read() {
      yield* lines;
    },
  };
  const world = await open({ recovery });
  const { chain, clock, treasury } = world;
  const sender = world.wallet("sender", { lamports: 1_000_000_000n });
  const payee = world.wallet("payee", { lamports: 1_000_000_000n });
  const { body } = await world.order(await world.caller(), {
    sender,
    to: [{ address: payee.address, amount: "0.1" }],
    asset: "SOL",
  });
  await world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
  await world.settle(8);
  expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
  await world.service.stop();
  clock.advance(3_600_000);
  chain.fund(body.ephemeralAddress, { lamports: 500_000_000n });
  chain.advance(200);

  const today = world.wallet("sponsor of today", { lamports: 10_000_000_000n });
  const storage = await memoryStorage();
  const privateRouting = {
    sponsor: keypairSigner(today.secretKey),
    treasury: treasury.address,
    prices: solAt150(world),
  };
  const service = world.another({ storage, privateRouting });
  await service.start();
  const [recovered] = await service.operator.recover([body.transactionId], BY);
  expect(recovered).toMatchObject({ state: "restored" });
  for (let round = 0; round < 12; round++) {
    await service.settled();
    chain.advance(35);
    const at = { clock, engine: service, storage, workflows: service.workflows };
    await passTime(at, clock.now() + (round < 6 ? 14_000 : 300_000));
  }
  await service.stop();
  expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
  expect((await world.held(sender.address))[0]).toBe(1_500_000_000n);
});
