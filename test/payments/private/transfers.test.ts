/** What a transfer of an order does by itself: it is signed, sent, and done by its marker or by its own signature. */
// modules: private
import { createCloseAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { afterEach, describe, expect, it } from "vitest";
import { SOL_MINT, type Address } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { SignatureStatus } from "../../../src/ledger/ledger.ts";
import type { OrderReading } from "../../../src/ledger/order-reading.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { judgeLevels } from "../../../src/payments/private/judge-levels.ts";
import type { PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import { transferId } from "../../../src/payments/private/plan-transfer.ts";
import { booksOf } from "../../../src/payments/private/order-books.ts";
import { attemptOf } from "../../../src/payments/frame/signed/stored-attempt.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { keyOf, land } from "../../solana/signed-transaction.ts";
import type { Party } from "../../solana/routing/routing-fixture.ts";
import { transferWorld, type TransferOrder, type TransferWorld } from "./transfer-world.ts";

const SEND: TransferOrder = {
  mint: "USDC",
  shares: [4_900_000n],
  cut: [1],
  fee: 100_000n,
  deposited: { usdc: 5_000_000n },
};
const TWO: TransferOrder = { ...SEND, shares: [2_400_000n, 2_500_000n], cut: [2] };
const SOL_SEND: TransferOrder = {
  mint: "SOL",
  shares: [4_900_000_000n],
  cut: [1],
  fee: 100_000_000n,
  deposited: { lamports: 5_000_000_000n },
};
const LOAN = 2n * 128n * 6_960n;
/** Longer than bytes live, and until their end is final. */
const DEAD_SLOTS = 200;

let world: TransferWorld;
const begin = async (order: TransferOrder): Promise<TransferWorld> => (world = await transferWorld(order));
/** The order is refused: the marker of its no-go stands. */
async function beginRefused(): Promise<TransferWorld> {
  const { must, buy, key } = await begin(SEND);
  await must([buy(key, "0", { length: 1 })], key);
  return world;
}
afterEach(() => world.stop());

/** He gives his tokens away, and closes their account. */
async function closeAccount(owner: Party): Promise<void> {
  const { must, usdc, rich, units, ataOf } = world;
  await must([usdc(owner, rich.address, await units(owner.address))], owner);
  const account = new PublicKey(ataOf(owner.address));
  const instruction = createCloseAccountInstruction(account, keyOf(owner), keyOf(owner));
  await land(world, { signers: [owner], instructions: [instruction] });
}

/** Bytes of a transfer that nobody has sent, and that live for as long as all others. */
async function storeBytes(transfer: string): Promise<void> {
  const { signed, buy, key, write, order, clock } = world;
  const { signature, ...bytes } = await signed([buy(key, "r9")], key);
  const nothing = { reference: null, takenAt: null, error: null };
  const insert = {
    ...nothing,
    ...bytes,
    id: signature,
    transactionId: order.id,
    transfer,
    createdAt: clock.now(),
    legs: [],
    bid: 0n,
  };
  await write({ table: "attempts", insert });
}

/** Its no-go stands, and its row knows it. */
const refused = (order: string): PaymentWrite => {
  return { table: "chunks", id: `${order}:0`, set: { length: 1, slot: 1, isOwn: true } };
};

/** Bytes of a transfer that have landed, and gave the sender so many base units of USDC. Gives their signature. */
async function storeLanded(transfer: string, amount: bigint): Promise<string> {
  const { signed, usdc, key, sender, write, order, clock, ledger, chain, mints } = world;
  const { signature, ...bytes } = await signed([usdc(key, sender.address, amount)], key);
  const legs = [{ mint: mints.USDC, to: sender.address, amount, as: "sender" as const }];
  const nothing = { reference: null, takenAt: null, error: null, bid: 0n };
  const known = { id: signature, transactionId: order.id, transfer, createdAt: clock.now(), legs };
  await write({ table: "attempts", insert: { ...nothing, ...bytes, ...known } });
  await ledger.broadcast(bytes.bytes);
  chain.advance(SLOTS_TO_FINALITY + 2);
  return signature;
}

/** Endpoints tell this in place of each answer of a reading that is (not) of the newest block. Gives what ends it. */
function retelling(
  change: (told: OrderReading["told"][number]) => OrderReading["told"][number],
  only?: "confirmed",
): () => void {
  const { ledger } = world;
  const { readOrder } = ledger;
  const other: typeof readOrder = async (query, commitment) => {
    const reading = await readOrder.call(ledger, query, commitment);
    if (only !== undefined && commitment !== only) return reading;
    return agreed<OrderReading>({ ...reading, told: reading.told.map(change) });
  };
  Object.assign(ledger, { readOrder: other });
  return () => void Object.assign(ledger, { readOrder });
}

/** Bytes leave no more, and are kept, until the second that this gives. */
function keepingBytes(): [kept: Uint8Array[], end: () => void] {
  const { ledger } = world;
  const { broadcast } = ledger;
  const kept: Uint8Array[] = [];
  Object.assign(ledger, { broadcast: async (bytes: Uint8Array) => void kept.push(bytes) });
  return [kept, () => void Object.assign(ledger, { broadcast })];
}

/** Has every node say this of every signature. Gives what ends it. */
function nodesSay(said: SignatureStatus): () => void {
  const { ledger } = world;
  const { statuses, sightings } = ledger;
  const lying: typeof statuses = async (signatures) =>
    Object.assign(
      await statuses(signatures),
      signatures.map(() => said),
    );
  Object.assign(ledger, {
    statuses: lying,
    sightings: async (each: readonly string[]) => each.map(() => "seen"),
  });
  return () => void Object.assign(ledger, { statuses, sightings });
}

/** Does this once, after a transfer has looked and before it is signed. */
function whileSigning(work: () => Promise<void>): void {
  const { ledger } = world;
  const { tryOrder } = ledger;
  let isDone = false;
  const late: typeof tryOrder = async (...run) => {
    if (!isDone) {
      isDone = true;
      await work();
    }
    return tryOrder.apply(ledger, run);
  };
  Object.assign(ledger, { tryOrder: late });
}

describe("a chunk", () => {
  it("pays everybody and the fee, and is done by its marker", async () => {
    const { sendOut, pass, stateOf, units, recipients, treasury, key } = await begin(SEND);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    expect(await stateOf(id)).toBe("done");
    const [bob] = recipients;
    expect(await units(bob?.address ?? key.address)).toBe(4_900_001n);
    expect(await units(treasury.address)).toBe(100_001n);
    expect(await units(key.address)).toBe(0n);
  });

  it("K1: is done by a marker that another copy has made, and pays nobody", async () => {
    const { sendOut, pass, stateOf, units, treasury } = await beginRefused();
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(5);
    expect(await stateOf(id)).toBe("done");
    expect(await units(treasury.address)).toBe(1n);
    expect(await world.storage.attemptsOf(id)).toHaveLength(0);
  });

  it("goes on with the sponsor of today, if another one took the order", async () => {
    const { sendOut, pass, stateOf, write, order, party, storage, sponsor } = await begin(SEND);
    const { address: former } = party({ lamports: 9_000_000_000n });
    await write({ table: "orders", id: order.id, set: { sponsor: former } });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    expect(await stateOf(id)).toBe("done");
    expect((await storage.order(order.id))?.sponsor).toBe(sponsor.address);
  });

  it("C56: knows that the former sponsor has his loan back, before the one of today goes on", async () => {
    const { sendOut, pass, must, buy, sol, key, give, write, order, lamports, ...some } =
      await begin(SOL_SEND);
    const { sponsor, treasury, sender, recipients, party, storage } = some;
    const former = party({ lamports: 9_000_000n });
    const paid = recipients.map(({ address }) => sol(key, address, 4_900_000_000n));
    const lent = sol(sponsor, key.address, LOAN);
    await must([buy(key, "0"), sol(key, treasury.address, 100_000_000n), ...paid, lent], key);
    const { signature } = await must([sol(key, former.address, LOAN)], key);
    give(key.address, { lamports: 1_000_000_000n });
    await write(
      { table: "orders", id: order.id, set: { sponsor: former.address } },
      { table: "chunks", id: `${order.id}:0`, set: { length: 0, slot: 1, isOwn: true } },
      { table: "levels", id: `${order.id}:${SOL_MINT}`, set: { received: 6_000_000_000n } },
    );
    const before = await lamports(sender.address);
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(100);
    expect(await world.stateOf(id)).toBe("booked");
    expect((await storage.order(order.id))?.loanBack).toBe(signature);
    expect((await lamports(sender.address)) - before).toBe(1_000_000_000n);
  });

  it("K9: is not done by a marker that is no more than confirmed, and signs nothing beside it", async () => {
    const { sendOut, pass, stateOf, signed, ledger, chain, buy, key, storage } = await begin(SEND);
    const { bytes } = await signed([buy(key, "0", { length: 1 })], key);
    await ledger.broadcast(bytes);
    chain.advance(2);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(2);
    expect(await stateOf(id)).toEqual({ planned: "pausing" });
    await pass(100);
    expect(await stateOf(id)).toBe("done");
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("K6: after chunk 0 is signed once the go is final, and not before", async () => {
    const { sendOut, pass, storage, must, buy, key } = await begin({ ...TWO, cut: [1, 1] });
    const id = await sendOut({ kind: "chunk", n: 1 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    await must([buy(key, "0")], key);
    await pass(60);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
  });

  it("K11: leaves out one payee after another whose account is frozen, and pays the others by another length", async () => {
    const three = { ...SEND, shares: [2_400_000n, 1_300_000n, 1_200_000n], cut: [3] };
    const { sendOut, pass, stateOf, storage, units, freeze, recipients } = await begin(three);
    const payees = recipients.map(({ address }) => address);
    for (const frozen of payees.slice(1)) await freeze(frozen);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(80);
    expect(await stateOf(id)).toBe("done");
    expect(await Promise.all(payees.map((payee) => units(payee)))).toEqual([2_400_001n, 1n, 1n]);
    const view = await storage.orderedTransaction(world.order.id);
    expect(view?.order?.chunks[0]?.wanted).toBeGreaterThan(2);
  });

  it("K11: blames no payee whose account is yet to be made if the order's own account is frozen", async () => {
    // Without a fee the account that is made is the first one that is paid.
    const { sendOut, pass, storage, freeze, key, order } = await begin({
      ...SEND,
      shares: [5_000_000n],
      fee: 0n,
      priced: [0],
      newcomers: [0],
    });
    await freeze(key.address);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(20);
    const view = await storage.orderedTransaction(order.id);
    expect(view?.order?.chunks[0]?.wanted).toBe(0);
    expect(view?.order?.holds).toMatchObject([{ reason: "address_frozen" }]);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("C67: is held because the order's own account is missing, and not as frozen, once somebody with the key has closed it", async () => {
    const { sendOut, pass, storage, must, usdc, rich, key, order, mints } = await begin(SEND);
    const close = { does: "close", mint: mints.USDC, owner: key.address, to: rich.address } as const;
    await must([usdc(key, rich.address, 5_000_000n), close], key);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(20);
    const view = await storage.orderedTransaction(order.id);
    expect(view?.order?.holds).toMatchObject([{ reason: "address_missing" }]);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("K11: leaves out a payee by the error of bytes that have landed, though his account is back by then", async () => {
    const { sendOut, pass, storage, ledger, chain, units, recipients, give } = await begin(TWO);
    const [bob, eve] = recipients;
    if (bob === undefined || eve === undefined) throw new Error("the order has two recipients");
    const [kept, leave] = keepingBytes();
    await sendOut({ kind: "chunk", n: 0 });
    await pass(5);
    leave();
    await closeAccount(eve);
    await ledger.broadcast(kept[0] ?? new Uint8Array());
    chain.advance(1);
    give(eve.address, { usdc: 1n });
    await pass(80);
    const view = await storage.orderedTransaction(world.order.id);
    expect(view?.order?.chunks[0]?.wanted).toBeGreaterThan(2);
    expect([await units(bob.address), await units(eve.address)]).toEqual([2_400_001n, 1n]);
  });

  it("K2: waits for a person while rent is above twice the order's rate", async () => {
    const { sendOut, pass, transfer, storage, reprice, order } = await begin(SEND);
    reprice(6_960n * 2n + 1n);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "waiting_for_funds" });
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    await world.write({ table: "orders", id: order.id, set: { rentTaken: 6_960n * 2n + 1n } });
    await world.engine.send(world.transfers, id, { type: "RETRY" });
    await pass(60);
    expect(await world.stateOf(id)).toBe("done");
  });

  it("C21: waits for a person where its marker is longer than the reserve", async () => {
    const { sendOut, pass, transfer, order } = await begin(SEND);
    // The reserve of 128 bytes at half the rate is one of no bytes now.
    await world.write({ table: "orders", id: order.id, set: { rentTaken: 3_479n } });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "waiting_for_funds" });
  });

  it("K16: waits while the sponsor could not finish what the order has reserved", async () => {
    const { sendOut, pass, transfer, storage, must, sol, sponsor, rich, lamports, give } = await begin(SEND);
    await must([sol(sponsor, rich.address, (await lamports(sponsor.address)) - 2_000_000n)], sponsor);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "low_purse" });
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    give(sponsor.address, { lamports: 1_000_000_000n });
    await pass(200);
    expect(await world.stateOf(id)).toBe("done");
  });

  it("K16: of an order in SOL is signed where the sponsor has what the order has reserved", async () => {
    const { sendOut, pass, must, sol, sponsor, rich, lamports, transfer } = await begin(SOL_SEND);
    // A marker of 128 bytes, the loan, and three attempts of two transactions: see `reservedFor`.
    const left = world.rent(128) + LOAN + 6n * 10_000n;
    await must([sol(sponsor, rich.address, (await lamports(sponsor.address)) - left - 10_000n)], sponsor);
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    expect(await transfer(id)).toMatchObject({ state: "done" });
  });

  it("K14: is signed again when its bytes are dead, for more where an endpoint took them, and told as stuck", async () => {
    const { sendOut, pass, skip, storage, transfer } = await begin(SEND);
    const [, leave] = keepingBytes();
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(5);
    await skip(DEAD_SLOTS);
    await pass(5);
    const [first, second] = await storage.attemptsOf(id);
    expect(second?.bid).toBeGreaterThan(first?.bid ?? 0n);
    expect((await transfer(id)).stuckSince).toBeNull();
    for (let life = 0; life < 2; life += 1) {
      await skip(DEAD_SLOTS);
      await pass(5);
    }
    const { stuckSince } = await transfer(id);
    expect(stuckSince).not.toBeNull();
    await skip(DEAD_SLOTS);
    await pass(5);
    expect((await transfer(id)).stuckSince).toBe(stuckSince);
    leave();
    await pass(60);
    expect(await transfer(id)).toMatchObject({ state: "done", stuckSince: null });
  });

  it("K14: is signed anew when all of its bytes are dead, those of another outcome too, whatever a node says", async () => {
    const { sendOut, pass, skip, storage, ledger, write, order, engine, transfers } = await begin(SEND);
    Object.assign(ledger, { broadcast: async () => {} });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(5);
    await skip(DEAD_SLOTS / 2);
    await write(
      { table: "orders", id: order.id, set: { state: "refusing" } },
      { table: "chunks", id: `${order.id}:0`, set: { wanted: 1 } },
    );
    await engine.send(transfers, id, { type: "WANT_NOBODY" });
    await pass(5);
    const signed = async () => (await storage.attemptsOf(id)).length;
    nodesSay({ commitment: "finalized", slot: 1, error: null });
    await skip(DEAD_SLOTS / 2);
    await pass(30);
    expect(await signed()).toBe(2);
    await skip(DEAD_SLOTS / 2);
    await pass(30);
    expect(await signed()).toBe(3);
  });

  it("bids no more and is not stuck after an outage, in which no endpoint took its bytes", async () => {
    const { sendOut, pass, skip, storage, ledger, transfer } = await begin(SEND);
    Object.assign(ledger, { broadcast: async () => Promise.reject(new Error("no endpoint answers")) });
    const id = await sendOut({ kind: "chunk", n: 0 });
    for (let life = 0; life < 4; life += 1) {
      await pass(5);
      await skip(DEAD_SLOTS);
    }
    const attempts = await storage.attemptsOf(id);
    expect(attempts.length).toBeGreaterThan(3);
    expect(new Set(attempts.map(({ bid }) => bid)).size).toBe(1);
    expect((await transfer(id)).stuckSince).toBeNull();
  });

  it("K17: is not sent if a hold was stored while it was signed", async () => {
    const { sendOut, pass, storage, write, order, transfer } = await begin(SEND);
    const hold = { id: "hold", order: order.id, reason: "hold", since: 1, endedAt: null, covers: null };
    whileSigning(() =>
      write({ table: "holds", insert: hold }, { table: "orders", id: order.id, set: { state: order.state } }),
    );
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "held" });
  });

  it("K8, K17: pays nobody if a person has given it up while a payee was left out", async () => {
    const { sendOut, pass, stateOf, write, order, freeze, recipients, key, markersOf } = await begin(TWO);
    await freeze(recipients[1]?.address ?? key.address);
    whileSigning(() =>
      write(
        { table: "chunks", id: `${order.id}:0`, set: { wanted: 1 } },
        { table: "orders", id: order.id, set: { state: "refusing" } },
      ),
    );
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(80);
    expect(await stateOf(id)).toBe("done");
    expect(await markersOf(key, "0")).toEqual([1]);
  });

  it("is signed as a go while its order decides, and pays nobody only once the order has refused itself", async () => {
    const { sendOut, pass, storage, transfer, write, order, engine, transfers } = await begin(SEND);
    const id = transferId({ order: order.id, kind: "chunk", n: 0 });
    const want = (wanted: number) => write({ table: "chunks", id: `${order.id}:0`, set: { wanted } });
    await write({ table: "orders", id: order.id, set: { state: "deciding" } });
    await want(1);
    await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "PAYOUT_FAILED" });
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    await want(0);
    await engine.send(transfers, id, { type: "RETRY" });
    await pass(5);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
  });

  it("is not signed as a go while the order is held, and is as a no-go", async () => {
    const { sendOut, pass, storage, transfer, write, order } = await begin(SEND);
    world.screening = "refused";
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ reason: "screening" });
    const [hold] = (await storage.orderedTransaction(order.id))?.order?.holds ?? [];
    expect(hold).toMatchObject({ reason: "screening" });
    expect(await storage.untoldEventsAfter("", 9)).toMatchObject([
      { id: `${order.id}:transaction.held:${hold?.id}`, event: "transaction.held" },
    ]);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
    await write(
      { table: "orders", id: order.id, set: { state: "refusing" } },
      { table: "chunks", id: `${order.id}:0`, set: { wanted: 1 } },
    );
    await world.engine.send(world.transfers, id, { type: "WANT_NOBODY" });
    await pass(60);
    expect(await world.stateOf(id)).toBe("done");
    expect(await world.markersOf(world.key, "0")).toEqual([1]);
  });
});

describe("a rest", () => {
  it("K7: is not signed before all is decided", async () => {
    const { sendOut, pass, storage } = await begin(SEND);
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("K13: gives everything back and leaves nothing, and is booked by its own signature (K15)", async () => {
    const { sendOut, pass, stateOf, storage, key, units, sender, account, order, ledger } =
      await beginRefused();
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    expect(await stateOf(id)).toBe("booked");
    expect(await account(key.address)).toBeNull();
    expect(await units(sender.address)).toBe(5_000_001n);
    const view = await storage.orderedTransaction(order.id);
    const level = view?.order?.levels.find(({ mint }) => mint === order.mint);
    expect(level?.out).toBe(5_000_000n);
    // No reading from before it counts any more.
    const [landing] = await ledger.landings((await storage.attemptsOf(id)).map(attemptOf));
    expect(level?.slot).toBe(landing?.slot);
    expect(await storage.untoldEventsAfter("", 9)).toMatchObject([
      { transactionId: order.id, event: "transaction.refunded", subject: id },
    ]);
  });

  it("C59: is booked by its own signature, too, if it lands once an endpoint that fell behind has had it pronounced dead", async () => {
    const { sendOut, pass, chain, storage, units, sender, order, ledger } = await beginRefused();
    const { broadcast, heights, sightings } = ledger;
    const behind: typeof heights = async (commitment) => {
      const told = await heights.call(ledger, commitment);
      const { highest } = told;
      return commitment === "finalized" ? told : agreed({ agreed: told.agreed - 500, highest });
    };
    let isLanded = false;
    const landing: typeof sightings = async (signatures) => {
      const told = await sightings.call(ledger, signatures);
      for (const { bytes } of await storage.attemptsOf(id)) await broadcast.call(ledger, bytes);
      chain.advance(SLOTS_TO_FINALITY + 2);
      isLanded = true;
      return told;
    };
    Object.assign(ledger, { broadcast: async () => {}, heights: behind, sightings: landing });
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    expect(isLanded).toBe(true);
    expect(await units(sender.address)).toBe(5_000_001n);
    expect(await world.stateOf(id)).toBe("booked");
    const view = await storage.orderedTransaction(order.id);
    expect(view?.order?.levels.find(({ mint }) => mint === order.mint)?.out).toBe(5_000_000n);
  });

  it("C64: is booked by each of its bytes that have landed, also by those that land once it is done", async () => {
    const { sendOut, pass, storage, order, mints, ledger, clock, write } = await beginRefused();
    const level = `${order.id}:${mints.USDC}`;
    await write({ table: "levels", id: level, set: { received: 5_000_000n } }, refused(order.id));
    world.screening = "unknown";
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    const signatures = [await storeLanded(id, 2_000_000n), await storeLanded(id, 1_000_000n)];
    await pass(60);
    expect(await world.stateOf(id)).toBe("booked");
    const parts = { storage, ledger, clock, assets: assetsWith(mints) };
    const books = async () => {
      const view = await storage.orderedTransaction(order.id);
      if (view?.order === null || view === null) throw new Error("the order is stored");
      const attempts = await storage.attemptsOf(id);
      const assets = parts.assets.tokens.map(({ mint }) => mint);
      const { refunds: shown, unreturned } = booksOf({ ...view, ...view.order, attempts, assets });
      const refunds = shown.toSorted((one, other) => Number(other.amount - one.amount));
      const out = view.order.levels.find(({ mint }) => mint === order.mint)?.out;
      return { refunds, unreturned, out };
    };
    const paid = (amount: bigint, index: number) => ({
      amount,
      signature: signatures[index],
      status: "paid",
    });
    expect(await books()).toMatchObject({
      out: 3_000_000n,
      refunds: [paid(2_000_000n, 0), paid(1_000_000n, 1)],
      unreturned: [{ amount: 2_000_000n }],
    });

    signatures.push(await storeLanded(id, 500_000n));
    const { writes, look } = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
    expect(look.facts.levels.map(({ judgement }) => judgement?.news)).toContain("short");
    await write(...writes);
    expect(await books()).toMatchObject({
      out: 3_500_000n,
      refunds: [paid(2_000_000n, 0), paid(1_000_000n, 1), paid(500_000n, 2)],
      unreturned: [{ amount: 1_500_000n }],
    });
    const again = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
    expect(again.writes).toEqual([]);
  });

  it("C65: is not given up while a node denies it that the others show, and nothing is missing: a person is told, and it is booked once they agree", async () => {
    const { sendOut, pass, storage, order, mints, ledger, clock, write, transfer } = await beginRefused();
    await write(
      { table: "levels", id: `${order.id}:${mints.USDC}`, set: { received: 5_000_000n } },
      refused(order.id),
    );
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(2);
    const { heights, landings } = ledger;
    // Hours later.
    const later: typeof heights = async (commitment) => {
      const { agreed: height, highest } = await heights.call(ledger, commitment);
      return agreed({ agreed: height + 20_000, highest: highest + 20_000 });
    };
    const denied: typeof landings = async (attempts) => agreed(attempts.map(() => null));
    Object.assign(ledger, { heights: later, landings: denied });
    await pass(150);
    expect(await world.units(world.sender.address)).toBe(5_000_001n);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "unclear" });
    expect((await transfer(id)).stuckSince).not.toBeNull();
    const parts = { storage, ledger, clock, assets: assetsWith(mints) };
    const judge = async () => {
      const { writes, look } = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
      await write(...writes);
      await pass(5);
      return look.facts.levels.flatMap(({ judgement }) => judgement?.news ?? []);
    };
    expect([await judge(), await judge(), await judge()].flat()).not.toContain("missing");
    const level = async () =>
      (await storage.orderedTransaction(order.id))?.order?.levels.find(({ mint }) => mint === order.mint);
    expect(await level()).toMatchObject({ missing: 0n, out: 0n });

    Object.assign(ledger, { landings });
    await pass(200);
    expect(await transfer(id)).toMatchObject({ state: "done", stuckSince: null });
    await judge();
    expect(await level()).toMatchObject({ missing: 0n, out: 5_000_000n, short: false });
  });

  it("gives the loan of an order in SOL back to the sponsor, and none of it is booked", async () => {
    const { sendOut, pass, lamports, storage, key, order } = await begin(SOL_SEND);
    await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    expect(await lamports(key.address)).toBe(LOAN);
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    expect(await world.stateOf(id)).toBe("booked");
    expect(await lamports(key.address)).toBe(0n);
    const view = await storage.orderedTransaction(order.id);
    expect(view?.order?.levels.find(({ mint }) => mint === order.mint)?.out).toBe(0n);
    const [attempt] = await storage.attemptsOf(id);
    expect(view?.order?.order.loanBack).toBe(attempt?.id);
  });

  it("K13: goes without its assertion once dust has made it fail, and leaves the dust", async () => {
    const { sendOut, pass, chain, storage, must, usdc, key, rich, units, sender } = await beginRefused();
    const [kept, leave] = keepingBytes();
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    leave();
    // Dust comes between the run of the rest and its landing.
    await must([usdc(rich, key.address, 1n)], rich);
    chain.advance(1);
    await pass(80);
    const [first, second] = await storage.attemptsOf(id);
    expect(kept.length).toBeGreaterThan(0);
    expect(first?.error).toContain("Custom");
    expect(second?.error).toBeNull();
    expect(await world.stateOf(id)).toBe("booked");
    expect(await units(sender.address)).toBeGreaterThan(5_000_000n - 500_000n);
    // It closes nothing, so that no dust can make it fail.
    expect(await world.account(world.ataOf(key.address))).not.toBeNull();
  });

  it("K10: without its assertion it leaves the loan, whatever the newest endpoint says of the address", async () => {
    const { sendOut, pass, chain, ledger, storage, must, sol, key, rich, give, lamports } =
      await begin(SOL_SEND);
    await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    give(key.address, { lamports: 3_000_000_000n });
    await pass(40);
    const [, leave] = keepingBytes();
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    const [first] = await storage.attemptsOf(id);
    leave();
    await must([sol(rich, key.address, 1_000_000n)], rich);
    await ledger.broadcast(first?.bytes ?? new Uint8Array());
    const end = retelling(({ order, ...each }) => {
      return { ...each, order: { ...order, lamports: order.lamports + LOAN } };
    }, "confirmed");
    chain.advance(1);
    await pass(80);
    expect(await lamports(key.address)).toBe(3_001_000_000n + LOAN);
    end();
    await pass(200);
    const [asserted, bare, ...others] = await storage.attemptsOf(id);
    expect([asserted?.error, bare?.error, others]).toEqual([
      expect.stringContaining("Custom") as string,
      null,
      [],
    ]);
    expect(await lamports(key.address)).toBe(LOAN);
  });

  it.for([
    ["is empty", { lamports: 0n, accounts: [null, null] }],
    ["is frozen", { lamports: 0n, accounts: [{ amount: 9n, lamports: 2_039_280n, state: "frozen" }, null] }],
  ] as const)(
    "K10: is neither given up nor held because one endpoint says that the address %s",
    async ([, order]) => {
      const { sendOut, pass, storage, transfer, units, sender } = await beginRefused();
      const end = retelling((each) => ({ ...each, order }), "confirmed");
      const id = await sendOut({ kind: "rest", n: 0 });
      await pass(20);
      expect(await transfer(id)).toMatchObject({ state: "planned", reason: "read_again" });
      expect((await storage.orderedTransaction(world.order.id))?.order?.holds).toEqual([]);
      end();
      await pass(200);
      expect(await units(sender.address)).toBe(5_000_001n);
    },
  );

  it("K14: is told as stuck once one endpoint's word has kept it for an hour, and not before", async () => {
    const { sendOut, pass, wait, transfer } = await beginRefused();
    retelling((each) => ({ ...each, order: { lamports: 0n, accounts: [null, null] } }), "confirmed");
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(20);
    await wait(50 * 60_000);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "read_again", stuckSince: null });
    await wait(15 * 60_000);
    expect((await transfer(id)).stuckSince).not.toBeNull();
  });

  it("K13: withholds nothing if the sponsor's account is frozen, and a person is told", async () => {
    const { sendOut, pass, chain, ledger, storage, must, usdc, key, rich, freeze, units, sender } =
      await beginRefused();
    await freeze(world.sponsor.address);
    const [, leave] = keepingBytes();
    await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    expect(await storage.openMatters()).toEqual([]);
    const [first] = await storage.attemptsOf(
      (await storage.orderViews([world.order.id]))[0]?.transfers[0]?.id ?? "",
    );
    leave();
    // Dust comes between the run of the rest and its landing.
    await must([usdc(rich, key.address, 1n)], rich);
    await ledger.broadcast(first?.bytes ?? new Uint8Array());
    chain.advance(1);
    await pass(80);
    expect(await units(sender.address)).toBe(5_000_002n);
    expect(await storage.openMatters()).toMatchObject([
      { kind: "purse_frozen", transactionId: world.order.id },
    ]);
  });

  it("K14: is not signed beside bytes that may still land, though its chart has given them up", async () => {
    const { sendOut, pass, skip, storage, order } = await beginRefused();
    const id = transferId({ order: order.id, kind: "rest", n: 0 });
    await storeBytes(id);
    await sendOut({ kind: "rest", n: 0 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
    await skip(DEAD_SLOTS);
    await pass(100);
    expect(await storage.attemptsOf(id)).toHaveLength(2);
    expect(await world.stateOf(id)).toBe("booked");
  });

  it("K9: is not signed beside bytes that are dead at confirmed alone", async () => {
    const { sendOut, pass, ledger, storage, order } = await beginRefused();
    const id = transferId({ order: order.id, kind: "rest", n: 0 });
    await storeBytes(id);
    const { heights } = ledger;
    const ahead: typeof heights = async (commitment) =>
      commitment === "finalized" ? heights(commitment) : agreed({ agreed: 9_999, highest: 9_999 });
    Object.assign(ledger, { heights: ahead });
    await sendOut({ kind: "rest", n: 0 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
  });

  it("K14: is not signed again while a node knows its signature, though its bytes are dead", async () => {
    const { sendOut, pass, skip, ledger, storage } = await beginRefused();
    Object.assign(ledger, { broadcast: async () => {} });
    const forget = nodesSay({ commitment: "processed", slot: 1, error: null });
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    await skip(DEAD_SLOTS);
    await pass(60);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
    forget();
    await pass(60);
    expect(await storage.attemptsOf(id)).toHaveLength(2);
  });

  it("K14: is a matter for a person once it has landed with an error three times, and waits for an hour", async () => {
    const { sendOut, pass, ledger, storage, transfer } = await beginRefused();
    const error = JSON.stringify({ InstructionError: [3, { Custom: 99 }] });
    const failed = { commitment: "finalized", slot: 9, error } as const;
    const landings: typeof ledger.landings = async (attempts) =>
      agreed(attempts.map(({ signature }) => ({ ...failed, signature, blockTime: null, fee: 0n })));
    nodesSay(failed);
    Object.assign(ledger, { broadcast: async () => {}, landings });
    const id = await sendOut({ kind: "rest", n: 0 });
    const signed = async () => (await storage.attemptsOf(id)).length;
    for (const attempts of [1, 2]) {
      while ((await signed()) < attempts) await pass(1);
      expect((await transfer(id)).stuckSince).toBeNull();
    }
    await pass(200);
    expect([await signed(), (await transfer(id)).stuckSince === null]).toEqual([3, false]);
    await world.wait(3_600_000);
    expect(await signed()).toBe(4);
  });

  it("K12, K14: moves its order on when it is signed, so that of two looks one alone signs", async () => {
    const { sendOut, pass, storage, order } = await beginRefused();
    const version = async () => (await storage.order(order.id))?.version ?? 0;
    const before = await version();
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
    expect(await version()).toBeGreaterThan(before);
  });

  it("K13: names what is there at confirmed, dust of the last seconds included", async () => {
    const { sendOut, pass, signed, ledger, chain, storage, usdc, key, rich, units, sender } =
      await beginRefused();
    const { bytes } = await signed([usdc(rich, key.address, 1n)], rich);
    await ledger.broadcast(bytes);
    chain.advance(2);
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
    await pass(80);
    expect(await units(sender.address)).toBe(5_000_002n);
  });

  it("K14: waits ten minutes after a refund of its address has landed", async () => {
    const { sendOut, pass, storage, give, key, transfer } = await beginRefused();
    await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    give(key.address, { usdc: 3_000_000n });
    const id = await sendOut({ kind: "rest", n: 1 });
    await pass(20);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "pause" });
    await world.wait(10 * 60_000);
    await pass(60);
    expect(await world.stateOf(id)).toBe("booked");
    expect(await storage.attemptsOf(id)).toHaveLength(1);
  });

  it("K14: waits ten minutes of the chain by a clock that is a day behind it", async () => {
    const { sendOut, skip, pass, write, give, key, transfer } = await beginRefused();
    const first = await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    retelling((each) => ({ ...each, blockTime: each.blockTime + 86_400 }));
    const landedAt = (await transfer(first)).landedAt ?? 0;
    await write({ table: "transfers", id: first, set: { landedAt: landedAt + 86_400_000 } });
    give(key.address, { usdc: 3_000_000n });
    const id = await sendOut({ kind: "rest", n: 1 });
    await pass(5);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "pause" });
    for (let turn = 0; turn < 30; turn += 1) await skip(60);
    expect(await world.stateOf(id)).toBe("booked");
  });

  it("is not signed while somebody who paid is unknown, and holds the order after an hour", async () => {
    const { sendOut, pass, storage, clock, order, engine, transfers } = await beginRefused();
    world.screening = "unknown";
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(40);
    const held = async () => (await storage.orderedTransaction(order.id))?.order?.holds.length;
    expect([await held(), (await storage.attemptsOf(id)).length]).toEqual([0, 0]);
    clock.advance(3_600_000);
    await engine.send(transfers, id, { type: "RETRY" });
    await pass(5);
    expect([await held(), (await storage.attemptsOf(id)).length]).toEqual([1, 0]);
  });

  it("C63: is held within two hours while somebody who paid is unknown, though it was planned by a clock that was a day ahead", async () => {
    const { sendOut, pass, storage, clock, order, write } = await beginRefused();
    world.screening = "unknown";
    const id = await sendOut({ kind: "rest", n: 0 });
    const held = async () => (await storage.orderedTransaction(order.id))?.order?.holds.length;
    // A little ahead is no other time.
    await write({ table: "transfers", id, set: { createdAt: clock.now() + 60_000 } });
    await pass(40);
    expect(await held()).toBe(0);
    await write({ table: "transfers", id, set: { createdAt: clock.now() + 86_400_000 } });
    await world.wait(10 * 60_000);
    expect([await held(), (await storage.attemptsOf(id)).length]).toEqual([1, 0]);
  });
});

describe("a chunk that is given up", () => {
  const PAYROLL: TransferOrder = { ...SEND, shares: [1_000_000n, 1_000_000n, 1_000_000n], cut: [1, 1, 1] };

  it("K8: gets a marker of length 1 and pays nobody, once rent is not too dear", async () => {
    const { sendOut, pass, stateOf, must, buy, key, markersOf, storage, write, order } = await begin(PAYROLL);
    await must([buy(key, "0")], key);
    await write({ table: "chunks", id: `${order.id}:2`, set: { wanted: 1 } });
    world.reprice(2n * 6_960n + 1n);
    const id = await sendOut({ kind: "chunk", n: 2 });
    await pass(10);
    // C34: rent above twice the order's rate.
    expect(await world.transfer(id)).toMatchObject({ reason: "waiting_for_funds" });
    world.reprice(6_960n);
    await pass(200);
    expect(await stateOf(id)).toBe("done");
    expect(await markersOf(key, "1", "2")).toEqual([null, 1]);
    expect(await storage.attemptsOf(id)).toHaveLength(1);
  });

  it("K6: gets none before chunk 0's go is final", async () => {
    const { sendOut, pass, storage, write, order } = await begin(PAYROLL);
    await write({ table: "chunks", id: `${order.id}:2`, set: { wanted: 1 } });
    const id = await sendOut({ kind: "chunk", n: 2 });
    await pass(20);
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });
});

describe("a collect", () => {
  it("empties one account that does not count, and the next rest is charged with what it cost", async () => {
    const { sendOut, pass, stateOf, storage, key, order, mints } = await beginRefused();
    const [one, other] = [await world.stray(key.address, 3_000_000n), await world.stray(key.address, 2n)];
    const insert = { order: order.id, amount: 3_000_000n, payer: null, signature: null, slot: null, at: 1 };
    const unlisted = { ...insert, mint: mints.USDC, decimals: null, leftAt: null };
    await world.write(
      { table: "deposits", insert: { ...unlisted, id: "one", account: one } },
      { table: "deposits", insert: { ...unlisted, id: "other", account: other } },
    );
    const collect = await sendOut({
      kind: "collect",
      n: 0,
      mint: mints.USDC,
      to: key.address,
      subjects: [one],
    });
    await pass(60);
    expect(await stateOf(collect)).toBe("booked");
    expect(await world.units(key.address)).toBe(8_000_000n);
    const left = (await storage.orderViews([order.id]))[0]?.deposits.map(({ leftAt }) => leftAt !== null);
    expect(left).toEqual([true, false]);
    const parts = { storage, ledger: world.ledger, assets: assetsWith(mints) };
    const uncharged = async () => (await lookAtOrder(parts, order.id)).judged.rows.uncharged;
    const { fee } = (await lookAtOrder(parts, order.id)).judged;
    expect(await uncharged()).toBe(fee);
    await sendOut({ kind: "rest", n: 0 });
    await pass(80);
    expect(await uncharged()).toBe(0n);
  });

  it.for([
    ["USDC, with the account of its order made", "USDC", {}],
    ["wrapped SOL", "SOL", { usdc: 5_000_000n }],
  ] as const)("P13: of %s is not made if it brings no more than it costs", async ([, asset, deposited]) => {
    const { sendOut, pass, must, buy, key, mints, rent, ledger, storage } = await begin({
      ...SEND,
      deposited,
    });
    await must([buy(key, "0", { length: 1 })], key);
    const parts = { storage, ledger, assets: assetsWith(mints) };
    const { fee } = (await lookAtOrder(parts, world.order.id)).judged;
    // 5 lamports are one base unit of USDC.
    const cost = asset === "SOL" ? fee : (fee + rent(165) + 4n) / 5n;
    const open = asset === "SOL" ? world.strayWrapped : world.stray;
    const mint = asset === "SOL" ? SOL_MINT : mints.USDC;
    const collect = async (n: number, amount: bigint) => {
      const subjects = [await open(key.address, amount)];
      const id = await sendOut({ kind: "collect", n, mint, to: key.address, subjects });
      await pass(60);
      return world.stateOf(id);
    };
    expect(await collect(0, cost)).toBe("ended");
    expect(await collect(1, cost + 1n)).toBe("booked");
  });

  it("P13: leaves its account open where the rent of it is less than an empty address must hold by now", async () => {
    const { sendOut, pass, stateOf, mints, key, reprice, units } = await begin({ ...SEND, deposited: {} });
    const account = await world.stray(key.address, 5_000_000n);
    reprice(3n * 6_960n);
    const to = key.address;
    const id = await sendOut({ kind: "collect", n: 0, mint: mints.USDC, to, subjects: [account] });
    await pass(80);
    expect(await stateOf(id)).toBe("booked");
    expect(await units(key.address)).toBe(5_000_000n);
  });

  it("makes SOL of wrapped SOL", async () => {
    const { sendOut, pass, stateOf, key, lamports } = await beginRefused();
    const account = await world.strayWrapped(key.address, 5_000_000n);
    const id = await sendOut({ kind: "collect", n: 0, mint: SOL_MINT, to: key.address, subjects: [account] });
    await pass(60);
    expect(await stateOf(id)).toBe("booked");
    expect(await lamports(key.address)).toBe(5_000_000n + world.rent(165));
  });
});

describe("a redirect", () => {
  const DAY_MS = 24 * 3_600_000;
  /** A final block is some seconds old. */
  const MINUTE_MS = 60_000;

  /** A refused order, and a person's word to send 2 USDC of it to somebody else, so long ago. */
  async function approved(agoMs = 0): Promise<TransferWorld & { readonly to: Address }> {
    const { party, pass, write, order, clock } = await beginRefused();
    const { address: to } = party({ usdc: 1n });
    await pass(40);
    const act = { order: order.id, n: 0, mint: order.mint, sum: 2_000_000n, to, approvedBy: ["ann"] };
    const approvedAt = clock.now() - agoMs;
    await write({ table: "acts", insert: { id: `${order.id}:r0`, ...act, approvedAt, state: "open" } });
    return Object.assign(world, { to });
  }

  /** What became of it: its chart, its act, and what of the order's token is booked. */
  async function becomes(id: string): Promise<readonly [unknown, unknown, unknown]> {
    const { storage, order, stateOf } = world;
    const view = (await storage.orderedTransaction(order.id))?.order;
    const level = view?.levels.find(({ mint }) => mint === order.mint);
    return [await stateOf(id), view?.acts[0]?.state, level?.out];
  }

  it("K12: pays at most its sum to whom it was approved, under a marker of its own, and is done", async () => {
    const { sendOut, pass, key, order, units, markersOf, storage, to } = await approved();
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(60);
    expect(await becomes(id)).toEqual(["booked", "done", 2_000_000n]);
    expect(await markersOf(key, "r0")).toEqual([0]);
    const got = await units(to);
    expect(got > 1_500_000n && got < 2_000_000n).toBe(true);
    expect(await storage.openMatters()).toEqual([]);
  });

  it("K12: leaves its cost where it is if the sponsor's account is frozen, and a person is told", async () => {
    const { sendOut, pass, freeze, sponsor, order, units, storage, to } = await approved();
    await freeze(sponsor.address);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(60);
    const got = (await units(to)) - 1n;
    expect(await becomes(id)).toEqual(["booked", "done", got]);
    expect(got > 1_500_000n && got < 2_000_000n).toBe(true);
    expect(await storage.openMatters()).toMatchObject([{ kind: "purse_frozen" }]);
  });

  it("K10: sends what the witnesses show, however little one endpoint says to be there", async () => {
    const { sendOut, pass, order, to, ledger } = await approved();
    const { readOrder } = ledger;
    const lying: typeof readOrder = async (query, commitment) => {
      const reading = await readOrder.call(ledger, query, commitment);
      if (commitment !== "confirmed") return reading;
      const account = { amount: 190_000n, lamports: 2_039_280n, state: "usable" } as const;
      const told = reading.told.map((each) => ({
        ...each,
        order: { lamports: 0n, accounts: [account, null] },
      }));
      return agreed<OrderReading>({ ...reading, told });
    };
    Object.assign(ledger, { readOrder: lying });
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(60);
    expect(await becomes(id)).toEqual(["booked", "done", 2_000_000n]);
  });

  it("K12, C51: is done by the marker of another copy that has paid whom it was approved for, if less, and sends him no more", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, units, storage, to } = await approved();
    await must([buy(key, "r0"), usdc(key, to, 1_500_000n)], key);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await becomes(id)).toEqual(["booked", "done", 1_500_000n]);
    expect([await units(to), await storage.attemptsOf(id)]).toEqual([1_500_001n, []]);
  });

  it("K12: tells the refund that another copy has made of its act, in its notice and its books", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, sponsor, storage, mints, to } = await approved();
    const paid = [usdc(key, to, 1_500_000n), usdc(key, sponsor.address, 10_000n)];
    const { signature } = await must([buy(key, "r0"), ...paid], key);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await storage.untoldEventsAfter("", 9)).toMatchObject([
      { event: "transaction.refunded", subject: id },
    ]);
    const view = await storage.orderedTransaction(order.id);
    if (!view?.order) throw new Error("the order is stored");
    const { refunds } = booksOf({
      ...view.order,
      transaction: view.transaction,
      recipients: view.recipients,
      attempts: await storage.attemptsOf(id),
      assets: Object.values(mints),
    });
    expect(refunds).toMatchObject([
      { mint: order.mint, amount: 1_500_000n, cost: 10_000n, to, signature, status: "paid" },
    ]);
  });

  it("K12: waits while the history of its marker is too long to be read", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, to, ledger, transfer } = await approved();
    await must([buy(key, "r0"), usdc(key, to, 1_500_000n)], key);
    let lists = 0;
    Object.assign(ledger, {
      changesOfOrder: async (_: unknown, since: number) => {
        if ((lists += 1) > 50) throw new Error("it asks for ever");
        return { changes: [], more: since };
      },
    });
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(3);
    expect(lists).toBeLessThan(5);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "unclear" });
  });

  it("K12: bars nothing any more, and tells a person, once nobody has listed its marker's transaction for a day", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, to, ledger, storage } = await approved(
      DAY_MS + MINUTE_MS,
    );
    await must([buy(key, "r0"), usdc(key, to, 1_500_000n)], key);
    Object.assign(ledger, { changesOfOrder: async () => ({ changes: [], more: null }) });
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await becomes(id)).toEqual(["ended", "superseded", 0n]);
    expect(await storage.matters([`unexplained:${order.id}`])).toMatchObject([{ state: "waiting" }]);
  });

  it("K12: is asked for anew if its marker has paid somebody else", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, rich, to } = await approved();
    await must([buy(key, "r0"), usdc(key, rich.address, 1_500_000n)], key);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await becomes(id)).toEqual(["ended", "superseded", 1_500_000n]);
  });

  it("K12: is not over while its bytes may land, though a day has passed", async () => {
    const { sendOut, pass, skip, order, to } = await approved(DAY_MS + 61 * MINUTE_MS);
    const id = transferId({ order: order.id, kind: "redirect", n: 0 });
    await storeBytes(id);
    await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect((await becomes(id))[1]).toBe("open");
    await skip(DEAD_SLOTS);
    await pass(200);
    expect(await becomes(id)).toEqual(["ended", "ended", 0n]);
  });

  it("K10, K12: is not over where one of two endpoints alone says that the day is", async () => {
    const { sendOut, pass, ledger, order, to } = await approved();
    const { readOrder } = ledger;
    const ahead: typeof readOrder = async (query, commitment) => {
      const reading = await readOrder(query, commitment);
      const [told] = reading.told;
      if (told === undefined) throw new Error("nobody answers");
      const late = { ...told, blockTime: told.blockTime + DAY_MS / 500 };
      return agreed<OrderReading>({ ...reading, witnesses: 2, told: [told, late] });
    };
    Object.assign(ledger, { readOrder: ahead });
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(60);
    expect((await becomes(id))[1]).toBe("done");
  });

  it("K2: waits for a person while rent is above twice the order's rate", async () => {
    const { sendOut, pass, transfer, storage, reprice, order, to } = await approved();
    reprice(2n * 6_960n + 1n);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "waiting_for_funds" });
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("K2, K12: of tokens as of a foreign mint pays at most its sum, under a marker, once rent is not too dear", async () => {
    const { sendOut, pass, transfer, reprice, stray, order, key, units, markersOf, to } = await approved();
    const subjects = [await stray(key.address, 3_000_000n)];
    reprice(2n * 6_960n + 1n);
    const id = await sendOut({ kind: "foreign", n: 0, mint: order.mint, to, subjects });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "waiting_for_funds" });
    reprice(6_960n);
    await pass(250);
    expect(await units(to)).toBe(2_000_001n);
    expect(await markersOf(key, "r0")).toEqual([0]);
  });

  it("K12: of a foreign mint is over if nothing of it is there any more", async () => {
    const { sendOut, pass, order, to, nobody, write, clock, storage } = await approved();
    const [mint, account] = [nobody(), nobody()];
    const act = { order: order.id, n: 1, mint, sum: 5n, to, approvedBy: ["ann", "bea"] };
    const approvedAt = clock.now();
    await write({ table: "acts", insert: { id: `${order.id}:r1`, ...act, approvedAt, state: "open" } });
    const id = await sendOut({ kind: "foreign", n: 1, mint, to, subjects: [account] });
    await pass(5);
    expect(await world.stateOf(id)).toBe("ended");
    const acts = (await storage.orderedTransaction(order.id))?.order?.acts ?? [];
    expect(acts.map(({ n, state }) => [n, state])).toEqual([
      [0, "open"],
      [1, "ended"],
    ]);
  });

  it("K12: is over an hour behind the day after it was approved", async () => {
    const { sendOut, pass, order, to } = await approved(DAY_MS + 61 * MINUTE_MS);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(10);
    expect(await becomes(id)).toEqual(["ended", "ended", 0n]);
  });

  it("C55, K12: is signed no more a day after it was approved, and done by bytes of another copy that land later", async () => {
    const { sendOut, pass, must, buy, usdc, key, order, storage, to } = await approved(DAY_MS + MINUTE_MS);
    const id = await sendOut({ kind: "redirect", n: 0, mint: order.mint, to });
    await pass(20);
    expect([(await becomes(id))[1], await storage.attemptsOf(id)]).toEqual(["open", []]);
    await must([buy(key, "r0"), usdc(key, to, 1_500_000n)], key);
    await pass(60);
    expect(await becomes(id)).toEqual(["booked", "done", 1_500_000n]);
  });
});

describe("C27: what goes back beside the loan, to somebody who closes his account between signing and landing", () => {
  /** More than an account costs beside the loan, and less than both. */
  const LATE = 1_200_000n;

  interface Lent {
    /** Bytes that are kept back from now on. */
    readonly kept: readonly Uint8Array[];
    /** Does what others do: their bytes leave. */
    readonly others: (work: () => Promise<unknown>) => Promise<void>;
    /** Lands the last bytes that were kept back. */
    readonly landLast: () => Promise<void>;
  }

  /** A paid order in SOL that has the loan, and USDC that a stranger sent. */
  async function lent(): Promise<Lent> {
    const { sendOut, pass, ledger, chain, must, usdc, rich, key } = await begin(SOL_SEND);
    await sendOut({ kind: "chunk", n: 0 });
    await pass(60);
    await must([usdc(rich, key.address, 5_000_000n)], rich);
    const { broadcast } = ledger;
    const kept: Uint8Array[] = [];
    const keep = () =>
      Object.assign(ledger, { broadcast: async (bytes: Uint8Array) => void kept.push(bytes) });
    keep();
    return {
      kept,
      others: async (work) => {
        Object.assign(ledger, { broadcast });
        await work();
        keep();
      },
      landLast: async () => {
        await broadcast(kept.at(-1) ?? new Uint8Array());
        chain.advance(SLOTS_TO_FINALITY);
      },
    };
  }

  /** He closes his account; a stranger pays for another one, or gives so much. */
  async function closes(owner: Party, lamports = LATE): Promise<void> {
    await closeAccount(owner);
    world.give(world.key.address, { lamports });
  }

  it("a bare rest spends nothing of the loan", async () => {
    const { kept, others, landLast } = await lent();
    const { sendOut, pass, must, usdc, rich, key, sender, lamports, units, storage } = world;
    const id = await sendOut({ kind: "rest", n: 0 });
    await pass(5);
    // Dust comes between the run of the rest and its landing.
    await others(() => must([usdc(rich, key.address, 1n)], rich));
    await landLast();
    await pass(10);
    const attempts = await storage.attemptsOf(id);
    expect([attempts.length, attempts[0]?.error === null]).toEqual([2, false]);
    expect(kept.at(-1)).toEqual(attempts[1]?.bytes);
    await others(() => closes(sender));
    await landLast();
    expect(await lamports(key.address)).toBe(LOAN + LATE);
    expect(await units(key.address)).toBe(5_000_001n);
  });

  it.for([
    ["nothing of the loan", 0n, LATE],
    ["nothing of other SOL that lies there", 3_000_000n, 1n],
  ] as const)("K12: a redirect spends %s", async ([, before, after]) => {
    const { kept, others, landLast } = await lent();
    const { sendOut, pass, party, write, clock, mints, key, lamports, units, order } = world;
    const other = party({ usdc: 1n, lamports: 9_000_000n });
    if (before > 0n) world.give(key.address, { lamports: before });
    await pass(40);
    const act = { order: order.id, n: 0, mint: mints.USDC, sum: 2_000_000n, to: other.address };
    const approved = { approvedBy: ["ann"], approvedAt: clock.now(), state: "open" as const };
    await write({ table: "acts", insert: { id: `${order.id}:r0`, ...act, ...approved } });
    await sendOut({ kind: "redirect", n: 0, mint: mints.USDC, to: other.address });
    await pass(5);
    expect(kept.length).toBeGreaterThan(0);
    await others(() => closes(other, after));
    await landLast();
    expect(await lamports(key.address)).toBe(LOAN + before + after);
    expect(await units(key.address)).toBe(5_000_000n);
  });
});

describe("a swap", () => {
  const SWAP: TransferOrder = { ...SEND, shares: [20_000_000n], swap: { output: 24_000_000n } };

  it("is signed at the price of that moment, with the desk, and keeps what the desk set aside until it is made", async () => {
    const { sendOut, pass, stateOf, lamports, recipients, storage, units } = await begin(SWAP);
    const id = await sendOut({ kind: "chunk", n: 0 });
    const [bob] = recipients.map(({ address }) => address);
    if (bob === undefined) throw new Error("a swap has a payee");
    const before = await lamports(bob);
    await pass(10);
    expect(await storage.reserved("desk")).toBe(24_000_000n);
    await pass(50);
    expect(await stateOf(id)).toBe("done");
    expect((await lamports(bob)) - before).toBe(24_000_000n);
    expect(await units(world.treasury.address)).toBe(100_001n);
    expect(await storage.reserved("desk")).toBe(0n);
  });

  it("keeps what the desk set aside while bytes that it has signed may land, though nobody is to be paid by now", async () => {
    const { sendOut, pass, storage, ledger, write, order } = await begin(SWAP);
    Object.assign(ledger, { broadcast: async () => {} });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    await write(
      { table: "orders", id: order.id, set: { state: "refusing" } },
      { table: "chunks", id: `${order.id}:0`, set: { wanted: 1 } },
    );
    await world.engine.send(world.transfers, id, { type: "WANT_NOBODY" });
    await pass(10);
    expect(await storage.attemptsOf(id)).toHaveLength(2);
    expect(await storage.reserved("desk")).toBe(24_000_000n);
  });

  it("waits for a good price, and after ten minutes says the reason that its caller is told", async () => {
    const { sendOut, pass, transfer, storage } = await begin({ ...SWAP, swap: { output: 19_999_999n } });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "price" });
    await world.wait(11 * 60_000);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "SLIPPAGE_EXCEEDED" });
    expect(await storage.attemptsOf(id)).toHaveLength(0);
  });

  it("C63: waits for a good price no longer than twenty minutes, though its money came by a clock that was a day ahead", async () => {
    const { sendOut, pass, transfer, write, clock, order } = await begin({
      ...SWAP,
      swap: { output: 19_999_999n },
    });
    await write({ table: "orders", id: order.id, set: { waitEndedAt: clock.now() + 86_400_000 } });
    const id = await sendOut({ kind: "chunk", n: 0 });
    await pass(10);
    await world.wait(20 * 60_000);
    expect(await transfer(id)).toMatchObject({ state: "planned", reason: "SLIPPAGE_EXCEEDED" });
  });
});
