/** What the markers of another hand tell: whom they paid, what a person is to know, and what reconciling finds later (K4). */
// modules: private
import { afterEach, expect, it } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import { DisputeList } from "../../../src/ledger/disputes.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import type { OrderReading } from "../../../src/ledger/order-reading.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import type { PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { OrderConcluder } from "../../../src/payments/private/conclude-look.ts";
import { listHistory } from "../../../src/payments/private/list-history.ts";
import { lookAtOrder, storedOrder } from "../../../src/payments/private/look.ts";
import { planTransfer, transferId } from "../../../src/payments/private/plan-transfer.ts";
import { tellAgain, tellChunks } from "../../../src/payments/private/tell-chunks.ts";
import { systemClock } from "../../../src/core/runtime.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { transferWorld, type TransferOrder, type TransferWorld } from "./transfer-world.ts";

const SEND: TransferOrder = {
  mint: "USDC",
  shares: [4_900_000n],
  cut: [1],
  fee: 100_000n,
  deposited: { usdc: 5_000_000n },
};
/** Two members, the fee and a recipient: the length that leaves the fee out. */
const WITHOUT_FEE = 3;
const HOUR_S = 3_600;

let world: TransferWorld;
const disputes = new DisputeList(systemClock);
afterEach(() => world.stop());

const partsOf = ({ storage, ledger, clock, mints }: TransferWorld) => ({
  storage,
  ledger,
  clock,
  assets: assetsWith(mints),
});
const bob = () => world.recipients[0]?.address ?? world.key.address;
const told = async (ledger: Ledger = world.ledger) => {
  const parts = { ...partsOf(world), ledger };
  const { writes } = await tellChunks(parts, await lookAtOrder(parts, world.order.id));
  if (writes.length > 0) await world.write(...writes);
  return writes;
};
const toldAgain = async () => {
  const writes = await tellAgain(partsOf(world), await lookAtOrder(partsOf(world), world.order.id));
  if (writes.length > 0) await world.write(...writes);
  return writes;
};
const concluder = (ledger: Ledger) => {
  const deps = {
    ...partsOf(world),
    ledger,
    disputes,
    prices: { rate: async () => ({ give: 5n, get: 1n }) },
    plan: planTransfer(() => world.transfers, world.clock),
  };
  return new OrderConcluder(deps);
};
const concluded = async (ledger: Ledger = world.ledger) => concluder(ledger).conclude(world.order.id, "look");
const recipient = async () => (await world.storage.orderedTransaction(world.order.id))?.recipients[0];
const matters = async () => (await world.storage.openMatters()).map(({ kind }) => kind);
const mattersIn = (writes: readonly PaymentWrite[] = []) =>
  writes.flatMap((write) => (write.table === "matters" && "insert" in write ? [write.insert.kind] : []));
/** Nodes that list nothing. */
const forgetful = (): Ledger =>
  Object.assign(Object.create(world.ledger) as Ledger, {
    changesOfOrder: async () => ({ changes: agreed([]), more: null }),
  });
/** So long ago was the marker seen for the first time, by the chain's clock. */
const age = async (seconds: number) => {
  const [chunk] = (await world.storage.orderedTransaction(world.order.id))?.order?.chunks ?? [];
  const set = { blockTime: (chunk?.blockTime ?? 0) - seconds };
  await world.write({ table: "chunks", id: `${world.order.id}:0`, set });
};
const honest = () => {
  const { must, buy, usdc, key, treasury } = world;
  return must([buy(key, "0"), usdc(key, treasury.address, 100_000n), usdc(key, bob(), 4_900_000n)], key);
};
const thief = () => world.must([world.buy(world.key, "0")], world.key);

it("C28: another copy's honest marker has paid its recipient, by its own transaction", async () => {
  world = await transferWorld(SEND);
  const { signature } = await honest();
  await told();
  expect(await recipient()).toMatchObject({ status: "paid", signature });
  expect(await told()).toEqual([]);
  expect(await matters()).toEqual([]);
});

it("R15: the block time of an attempt that landed with an error is not the payment's", async () => {
  world = await transferWorld(SEND);
  const id = await world.sendOut({ kind: "chunk", n: 0 });
  await world.pass(2);
  const [attempt] = await world.storage.attemptsOf(id);
  if (attempt === undefined) throw new Error("nothing was signed");
  await world.write({
    table: "attempts",
    insert: { ...attempt, id: "failed", messageHash: "failed" },
  });
  await world.pass(SLOTS_TO_FINALITY);
  const asked: string[] = [];
  const ledger: Ledger = Object.assign(Object.create(world.ledger) as Ledger, {
    landings: async (attempts: Parameters<Ledger["landings"]>[0]) => {
      asked.push(...attempts.map(({ signature }) => signature));
      const [landed] = await world.ledger.landings([attempts[0]] as never);
      return agreed([landed, { ...landed, signature: "failed", blockTime: 7, error: "refused" }]);
    },
  });
  await told(ledger);
  expect(asked).toContain("failed");
  const [chunk] = (await world.storage.orderedTransaction(world.order.id))?.order?.chunks ?? [];
  expect(chunk).toMatchObject({ signature: attempt.id, isOwn: true });
  expect(chunk?.blockTime).toBeGreaterThan(7);
});

it("M30: of an order whose money is to go back no more is reserved than its rest costs", async () => {
  world = await transferWorld(SEND);
  world.give(world.key.address, { usdc: 7_000_000n });
  await honest();
  await told();
  await world.write({ table: "transactions", id: world.order.id, set: { fee: 100_000n } });
  const outcome = await concluded();
  expect(outcome?.event).toMatchObject({ type: "DECIDED" });
  const reserved = outcome?.writes?.find(({ table }) => table === "reservations");
  expect(reserved).toMatchObject({ id: world.order.id, set: { releasedAt: null } });
  const { amount } = (reserved as { readonly set: { readonly amount: bigint } }).set;
  expect(amount).toBeGreaterThan(0n);
  // Two signatures and a bid: nothing of the markers.
  expect(amount).toBeLessThan(100_000n);
});

it("C28: a thief's marker has paid nobody, whatever its length says, and the fee is missed", async () => {
  world = await transferWorld(SEND);
  await thief();
  await told();
  expect(await recipient()).toMatchObject({ status: "unpaid" });
  expect(await matters()).toEqual(["fee_left_out"]);
});

it("C44, K4: without a history a marker is told by its length, an hour later and not before", async () => {
  world = await transferWorld(SEND);
  await honest();
  await told(forgetful());
  expect(await recipient()).toMatchObject({ status: "unpaid" });
  expect(await told(forgetful())).toEqual([]);
  await age(HOUR_S - 60);
  expect(await told(forgetful())).toEqual([]);
  await age(120);
  await told(forgetful());
  expect(await recipient()).toMatchObject({ status: "paid", signature: null });
  expect(await told(forgetful())).toEqual([]);
});

it("C28: what its length has told is read again, and taken back where its transactions say otherwise", async () => {
  world = await transferWorld(SEND);
  await thief();
  await told(forgetful());
  await age(HOUR_S);
  await told(forgetful());
  expect(await recipient()).toMatchObject({ status: "paid" });
  await toldAgain();
  expect(await recipient()).toMatchObject({ status: "unpaid", signature: null });
  expect(await matters()).toEqual(["unexplained"]);
  expect(await toldAgain()).toEqual([]);
});

it("C28: what its length has told stays where its transactions say the same", async () => {
  world = await transferWorld(SEND);
  const { signature } = await honest();
  await told(forgetful());
  await age(HOUR_S);
  await told(forgetful());
  await toldAgain();
  const [chunk] = (await world.storage.orderedTransaction(world.order.id))?.order?.chunks ?? [];
  expect([(await recipient())?.status, chunk?.signature, await matters()]).toEqual(["paid", signature, []]);
});

it("K4: what a transaction has paid that does not name the marker is told by nobody", async () => {
  world = await transferWorld(SEND);
  await world.must([world.usdc(world.key, bob(), 4_900_000n)], world.key);
  await thief();
  await told();
  expect(await recipient()).toMatchObject({ status: "unpaid" });
});

it("K5: a fee that is left out is a matter, once", async () => {
  world = await transferWorld(SEND);
  const { must, buy, usdc, key } = world;
  await must([buy(key, "0", { length: WITHOUT_FEE }), usdc(key, bob(), 4_900_000n)], key);
  expect(mattersIn(await told())).toEqual(["fee_left_out"]);
  expect(await recipient()).toMatchObject({ status: "paid" });
});

it("C19: a marker of a length that says nothing is a matter, and has paid nobody", async () => {
  world = await transferWorld(SEND);
  await world.must([world.buy(world.key, "0", { length: 99 })], world.key);
  expect(mattersIn(await told())).toEqual(["unexplained"]);
  expect(await recipient()).toMatchObject({ status: "unpaid" });
});

it("K17: recipients who are paid after an end that no marker had decided are a matter", async () => {
  world = await transferWorld(SEND);
  const over = { state: "over", overState: "idle" } as const;
  await world.write({ table: "orders", id: world.order.id, set: over });
  await honest();
  const outcome = await concluded();
  expect(outcome?.event).toMatchObject({ type: "GO" });
  expect(mattersIn(outcome?.writes)).toEqual(["paid_after_end"]);
});

it("K17: of an order that is refused nobody is shown as paid, whatever a marker told that stands no more", async () => {
  world = await transferWorld(SEND);
  const before = { status: "paid", signature: "of a marker that is gone" } as const;
  await world.write({ table: "recipients", id: `${world.order.id}:0`, set: before });
  await world.write({ table: "chunks", id: `${world.order.id}:0`, set: { wanted: 1 } });
  await world.sendOut({ kind: "chunk", n: 0 });
  await world.pass(2 * SLOTS_TO_FINALITY);
  const outcome = await concluded();
  expect(outcome?.event).toEqual({ type: "NO_GO" });
  expect(outcome?.writes).toContainEqual({
    table: "recipients",
    id: `${world.order.id}:0`,
    set: { status: "unpaid", signature: null },
  });
});

it("C28: a payment of another copy is shown with the time of its block, and not with that of the look", async () => {
  world = await transferWorld(SEND);
  await honest();
  const { told: answers } = await world.ledger.readOrder(
    (await lookAtOrder(partsOf(world), world.order.id)).judged.look.query,
    "finalized",
  );
  const landedAt = answers[0]?.blockTime ?? 0;
  world.clock.advance(24 * 3_600_000);
  world.chain.advance(SLOTS_TO_FINALITY);
  const outcome = await concluded();
  expect(outcome?.event).toMatchObject({ type: "GO" });
  const { blockTime = 0 } = (outcome?.event ?? {}) as { readonly blockTime?: number };
  expect(Math.abs(blockTime - landedAt)).toBeLessThan(3_600);
});

it("K4: one endpoint's clock says nothing of when a marker was first seen", async () => {
  world = await transferWorld(SEND);
  await honest();
  const readOrder: Ledger["readOrder"] = async (query, commitment) => {
    const reading = await world.ledger.readOrder(query, commitment);
    const [shown] = reading.told;
    if (shown === undefined) throw new Error("nobody answers");
    const odd = { ...shown, blockTime: 4_000_000_000 };
    return agreed<OrderReading>({ ...reading, witnesses: 2, told: [odd, shown, shown] });
  };
  await told(Object.assign(forgetful(), { readOrder }));
  const [chunk] = (await world.storage.orderedTransaction(world.order.id))?.order?.chunks ?? [];
  expect(chunk?.blockTime).toBeLessThan(4_000_000_000);
});

it("C30: a marker that two readings miss is a matter, and is made again", async () => {
  world = await transferWorld(SEND);
  await world.write({
    table: "chunks",
    id: `${world.order.id}:0`,
    set: { length: 0, slot: 1, isOwn: true, goneAt: 1 },
  });
  const outcome = await concluded();
  expect(outcome?.event).toMatchObject({ type: "GONE", chunk: 0 });
  expect(mattersIn(outcome?.writes)).toEqual(["unexplained"]);
});

it("N3, C41: a node that has not reached the marker yet does not say twice that it is gone", async () => {
  world = await transferWorld(SEND);
  const id = `${world.order.id}:0`;
  const slot = world.chain.slot() + 40;
  await world.write({ table: "chunks", id, set: { length: 0, slot, isOwn: true } });
  for (let look = 0; look < 3; look++) {
    const outcome = await concluded();
    expect(outcome?.event?.type).not.toBe("GONE");
    expect(outcome?.writes ?? []).not.toContainEqual(expect.objectContaining({ table: "chunks" }));
    world.chain.advance(2);
  }
});

it("K8: of a marker that is gone nobody is paid where a person has given its chunk up", async () => {
  world = await transferWorld(SEND);
  const id = `${world.order.id}:0`;
  const set = { length: 0, wanted: 1, slot: 1, isOwn: true, goneAt: 1 };
  await world.write({ table: "chunks", id, set });
  const outcome = await concluded();
  expect(outcome?.event).toMatchObject({ type: "GONE", chunk: 0, isNobodyWanted: true });
  expect(outcome?.writes).toContainEqual({
    table: "chunks",
    id,
    set: expect.objectContaining({ wanted: 1, length: null }) as object,
  });
});

it("K9, K17: an order ends undecided once its go is dead at finalized, and so is whatever was signed before its process began, and before it was refused", async () => {
  world = await transferWorld({ ...SEND, deposited: {} });
  const { order, write, mints } = world;
  const attempt = {
    id: "go",
    messageHash: "go",
    transactionId: order.id,
    transfer: transferId({ order: order.id, kind: "chunk", n: 0 }),
    bytes: new Uint8Array(1),
    blockhash: "",
    firstSlot: 0,
    lastValidBlockHeight: 500,
    reference: null,
    createdAt: 0,
    takenAt: null,
    legs: [],
    bid: 0n,
    error: null,
  };
  await write(
    { table: "orders", id: order.id, set: { state: "refusing" } },
    { table: "levels", id: `${order.id}:${mints.USDC}`, set: { received: 0n } },
    { table: "attempts", insert: attempt },
  );
  let finalized = 100;
  const heights: Ledger["heights"] = async (commitment) => {
    const height = commitment === "finalized" ? finalized : finalized + 32;
    return agreed({ agreed: height, highest: height });
  };
  const ledger = Object.assign(Object.create(world.ledger) as Ledger, { heights });
  const began = concluder(ledger);
  const at = async (height: number, by = began) => {
    finalized = height;
    return (await by.conclude(order.id, "look"))?.event?.type;
  };
  // C62: since when it is refused is stored by the first look, whatever the process knows.
  const first = await began.conclude(order.id, "look");
  expect(first?.event?.type).toBe("NOTED");
  await write(...(first?.writes ?? []));
  expect((await world.storage.order(order.id))?.lastGoHeight).toBe(100 + 32 + 151);
  expect([await at(100), await at(300), await at(500)]).toEqual([undefined, undefined, undefined]);
  expect(await at(501)).toBe("BELOW_COST");
  await write({ table: "orders", id: order.id, set: { lastGoHeight: 600 } });
  expect([await at(600), await at(601)]).toEqual([undefined, "BELOW_COST"]);
  const young = concluder(ledger);
  expect([await at(501, young), await at(684, young), await at(685, young)]).toEqual([
    undefined,
    undefined,
    "BELOW_COST",
  ]);
});

it("K9: all is told as confirmed once every marker stands at confirmed, and not before", async () => {
  world = await transferWorld(SEND);
  const { ledger, sendOut, pass, storage, chain } = world;
  const { broadcast } = ledger;
  Object.assign(ledger, { broadcast: async () => {} });
  const id = await sendOut({ kind: "chunk", n: 0 });
  await pass(5);
  expect((await concluded())?.event).toBeUndefined();
  const [attempt] = await storage.attemptsOf(id);
  await broadcast(attempt?.bytes ?? new Uint8Array());
  chain.advance(2);
  expect((await concluded())?.event).toEqual({ type: "CONFIRMED", signature: attempt?.id });
});

it("K14, C66: the next rest is planned once none is planned or out, and no collect is, unless it is put off", async () => {
  world = await transferWorld(SEND);
  const { must, buy, key, order, write, sendOut, pass, give, transfer } = world;
  await must([buy(key, "0", { length: 1 })], key);
  await write(
    { table: "orders", id: order.id, set: { state: "over", overState: "resting" } },
    { table: "transactions", id: order.id, set: { fee: 0n } },
    { table: "chunks", id: `${order.id}:0`, set: { length: 1, slot: 1, isOwn: true } },
  );
  const planned = async () => ((await concluded())?.starts ?? []).map(({ id }) => id);
  const ids = [0, 1].map((n) => transferId({ order: order.id, kind: "rest", n }));
  expect(await planned()).toEqual([ids[0]]);
  world.screening = "unknown";
  const id = await sendOut({ kind: "rest", n: 0 });
  await pass(1);
  expect([(await transfer(id)).state, await planned()]).toEqual(["planned", []]);
  world.screening = "clear";
  await pass(20);
  expect([(await transfer(id)).state, await planned()]).toEqual(["out", []]);
  await pass(80);
  give(key.address, { usdc: 3_000_000n });
  expect(await planned()).toEqual([ids[1]]);
  const unsent = { kind: "collect", state: "planned", signature: null, landedAt: null } as const;
  await write({ table: "transfers", insert: { ...(await transfer(id)), ...unsent, id: "collect" } });
  expect(await planned()).toEqual([]);
  await write({ table: "transfers", id: "collect", set: { reason: "waiting_for_price" } });
  expect(await planned()).toEqual([ids[1]]);
});

it("K15: nothing is over before the signatures of its address are listed, all of them", async () => {
  world = await transferWorld(SEND);
  await honest();
  await told();
  await world.write({ table: "transactions", id: world.order.id, set: { fee: 100_000n } });
  const listing = (changesOfOrder: Ledger["changesOfOrder"]): Ledger =>
    Object.assign(Object.create(world.ledger) as Ledger, { changesOfOrder });
  const silent = listing(async () => Promise.reject(new LedgerUnavailable("no endpoint lists")));
  await expect(concluded(silent)).rejects.toThrow("no endpoint lists");
  const long = listing(async (_, since) => agreed({ changes: [], more: since + 1 }));
  expect((await concluded(long))?.event).toEqual({ type: "NOTED" });
  expect((await concluded())?.event).toMatchObject({ type: "DECIDED" });
});

it("K15: the loan is back by a transaction that gave it to the sponsor, and by none that paid anybody else", async () => {
  world = await transferWorld({
    ...SEND,
    mint: "SOL",
    shares: [4_900_000_000n],
    fee: 100_000_000n,
    deposited: { lamports: 5_000_000_000n },
  });
  const { must, buy, sol, key, sponsor, order } = world;
  const loanBack = async () => {
    const parts = partsOf(world);
    return (await listHistory(parts, await storedOrder(parts, order.id))).set.loanBack;
  };
  await must([buy(key, "0"), sol(key, bob(), 4_900_000_000n)], key);
  expect(await loanBack()).toBeNull();
  const { signature } = await must([sol(key, sponsor.address, 2n * world.rent())], key);
  expect(await loanBack()).toBe(signature);
});

it("K17: while an end is being written down nothing else counts, a go neither", async () => {
  world = await transferWorld(SEND);
  const { write, order } = world;
  await honest();
  await write({ table: "orders", id: order.id, set: { ends: { status: "failed", reason: null } } });
  expect(await concluded()).toBeUndefined();
  await write({ table: "orders", id: order.id, set: { ends: null } });
  expect((await concluded())?.event).toMatchObject({ type: "GO" });
});

it("M20: a deposit that one of two endpoints hides at the window's end is told as disputed, until they agree", async () => {
  world = await transferWorld(SEND);
  const { order, ledger } = world;
  await world.write({ table: "orders", id: order.id, set: { state: "waiting", windowEnds: 0 } });
  const readOrder: Ledger["readOrder"] = async (query, commitment) => {
    const reading = await ledger.readOrder(query, commitment);
    const [shown] = reading.told;
    if (shown === undefined) throw new Error("nobody answers");
    const hiding = { ...shown, order: { ...shown.order, accounts: shown.order.accounts.map(() => null) } };
    return agreed<OrderReading>({ ...reading, witnesses: 2, told: [shown, hiding] });
  };
  const differing = Object.assign(Object.create(ledger) as Ledger, { readOrder });
  expect((await concluded(differing))?.event).toBeUndefined();
  expect(disputes.standing()).toMatchObject([{ subject: `the money at deposit address ${order.address}` }]);
  expect((await concluded())?.event).toMatchObject({ type: "FUNDED" });
  expect(disputes.standing()).toEqual([]);
});

it("C19: a marker of another program is a matter, and none again once a person has dropped it", async () => {
  world = await transferWorld(SEND);
  const { ledger, write, storage, order } = world;
  const readOrder: Ledger["readOrder"] = async (query, commitment) => {
    const reading = await ledger.readOrder(query, commitment);
    return agreed<OrderReading>({
      ...reading,
      markers: reading.markers.map((_, index) => (index === 0 ? "foreign" : null)),
    });
  };
  const odd = Object.assign(Object.create(ledger) as Ledger, { readOrder });
  const { writes = [] } = (await concluded(odd)) ?? {};
  expect(mattersIn(writes)).toEqual(["unexplained"]);
  await write(...writes);
  await write({ table: "matters", id: `unexplained:${order.id}`, set: { state: "over" } });
  expect(await concluded(odd)).toBeUndefined();
  expect(await storage.openMatters()).toEqual([]);
});

it("K5: a go says which fee it took, by its own transactions", async () => {
  world = await transferWorld(SEND);
  const { must, buy, usdc, key, treasury } = world;
  await must([buy(key, "0"), usdc(key, treasury.address, 100_000n), usdc(key, bob(), 4_900_000n)], key);
  expect((await concluded())?.event).toMatchObject({ type: "GO", charged: "100000" });
});

it.for([
  ["leaves the fee out", WITHOUT_FEE],
  ["says nothing", 99],
] as const)("K5: a go whose length %s took none", async ([, length]) => {
  world = await transferWorld(SEND);
  const { must, buy, usdc, key } = world;
  await must([buy(key, "0", { length }), usdc(key, bob(), 4_900_000n)], key);
  expect((await concluded())?.event).toMatchObject({ type: "GO", charged: "0" });
});

it("K4, K5: the fee is open while nobody tells whom a marker paid, and told before the order is decided", async () => {
  world = await transferWorld(SEND);
  await thief();
  const go = await concluded(forgetful());
  expect(go?.event).toMatchObject({ type: "GO", charged: null });
  await world.write(...(go?.writes ?? []));
  const noted = await concluded();
  expect(noted?.event).toEqual({ type: "NOTED", charged: "0" });
  await world.write(...(noted?.writes ?? []), {
    table: "transactions",
    id: world.order.id,
    set: { fee: 0n },
  });
  expect((await concluded())?.event).toMatchObject({ type: "DECIDED", paid: "none" });
});

it("K5: a fee that a length has told is corrected by its marker's own transactions", async () => {
  world = await transferWorld(SEND);
  await thief();
  await world.write({ table: "transactions", id: world.order.id, set: { fee: 100_000n } });
  await told(forgetful());
  await age(HOUR_S);
  await told(forgetful());
  expect((await recipient())?.status).toBe("paid");
  await toldAgain();
  expect((await concluded())?.event).toEqual({ type: "NOTED", charged: "0" });
});
