/** Acts of a person on orders: what each may do, asks for, refuses and writes. */
// modules: private
import { describe, expect, test } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { addressNamed, holdOf, orderWorld, SPONSOR, strayOf, USDC } from "./stored-order.ts";

const ELSEWHERE = addressNamed(40);

describe("a hold", () => {
  test("M22: is a row, and its release ends every hold, covers what had come and nothing later, and has all tried at once", async () => {
    const world = await orderWorld({
      transfers: [{ kind: "rest", n: 0, reason: "screening" }],
      levels: { [USDC]: { received: 9n } },
    });
    expect(await world.act({ action: "hold" })).toMatchObject({ state: "done" });
    await expect(world.act({ action: "hold" })).rejects.toThrow("is held already");
    await world.storage.commit([
      { writes: [{ table: "holds", insert: holdOf(world.order.id, "screening") }] },
    ]);
    await world.act({ action: "release" });
    const holds = (await world.row())?.holds ?? [];
    expect(holds.map(({ reason }) => reason).toSorted()).toEqual(["hold", "screening"]);
    expect(holds.every(({ endedAt, covers }) => endedAt !== null && covers?.[USDC] === "9")).toBe(true);
    expect(world.woken).toEqual(["tr_rest_0"]);
    await expect(world.act({ action: "release" })).rejects.toThrow("is not held");
    expect(await world.acted()).toEqual(["hold", "release"]);
  });

  test("counts for an order whose chart has nothing to look at", async () => {
    const world = await orderWorld();
    world.chart.takes = () => false;
    await world.act({ action: "hold" });
    expect((await world.row())?.holds).toHaveLength(1);
    const told = await world.storage.untoldEventsAfter("", 9);
    expect(told).toMatchObject([{ event: "transaction.held", transactionId: world.order.id }]);
  });
});

describe("decline", () => {
  test("refuses an order before its go, and not one that waits, is paid or is refused", async () => {
    const world = await orderWorld({ order: { state: "deciding" } });
    expect(await world.act({ action: "decline" })).toMatchObject({ state: "done" });
    expect(world.events).toEqual([{ type: "DECLINE" }]);
    world.chain.markers = { 0: 0 };
    await expect(world.act({ action: "decline" })).rejects.toThrow("foreclose the chunks that are open");
    world.chain.markers = { 0: 1 };
    await expect(world.act({ action: "decline" })).rejects.toThrow("is refused already");
    const waiting = await orderWorld();
    await expect(waiting.act({ action: "decline" })).rejects.toThrow("cancel it");
    expect(await waiting.acted()).toEqual([]);
  });

  const outGo = { order: { state: "deciding" }, transfers: [{ n: 0, state: "out" }] } as const;

  test("C31: is confirmed once more while the go is out, by the same person", async () => {
    const world = await orderWorld(outGo);
    expect(await world.act({ action: "decline" })).toMatchObject({ state: "awaits_approval" });
    expect(world.events).toEqual([]);
    await world.approve(undefined, "ann");
    expect(world.events).toEqual([{ type: "DECLINE" }]);
    expect(await world.acted()).toEqual(["request_decline", "decline"]);
  });

  test("C31: with two approvals another person confirms it", async () => {
    const world = await orderWorld({ ...outGo, approvals: 2 });
    await world.act({ action: "decline" });
    await expect(world.approve(undefined, " ANN")).rejects.toThrow("another actor has to approve");
    expect(world.events).toEqual([]);
    await world.approve(undefined, "bob");
    expect(world.events).toEqual([{ type: "DECLINE" }]);
  });

  test("is refused, and leaves no row, where the chart does not take it", async () => {
    const world = await orderWorld({ order: { state: "deciding" } });
    world.chart.takes = () => false;
    await expect(world.act({ action: "decline" })).rejects.toThrow("does not take DECLINE");
    expect(await world.acted()).toEqual([]);
  });
});

describe("foreclose", () => {
  test("K8: gives up an open later chunk after the go, and nothing else", async () => {
    const world = await orderWorld({ order: { state: "paying" } });
    await expect(world.act({ action: "foreclose", chunk: 1 })).rejects.toThrow("decline it");
    world.chain.markers = { 0: 0 };
    await expect(world.act({ action: "foreclose", chunk: 2 })).rejects.toThrow("has chunks 0 to 1");
    await world.act({ action: "foreclose", chunk: 1 });
    expect(world.events).toEqual([{ type: "FORECLOSE", chunk: 1 }]);
    world.chain.markers = { 0: 0, 1: 0 };
    await expect(world.act({ action: "foreclose", chunk: 1 })).rejects.toThrow("decided already");
  });

  test("C42: asks for a second word while the chunk is out", async () => {
    const world = await orderWorld({ order: { state: "paying" }, transfers: [{ n: 1, state: "out" }] });
    world.chain.markers = { 0: 0 };
    expect(await world.act({ action: "foreclose", chunk: 1 })).toMatchObject({ state: "awaits_approval" });
    await world.approve();
    expect(world.events).toEqual([{ type: "FORECLOSE", chunk: 1 }]);
  });
});

describe("conclude", () => {
  const missing = { received: 9n, short: true, missing: 9n, slot: 50 };

  test("C12: gives up what is open, and writes off exactly what was told as missing", async () => {
    const world = await orderWorld({ order: { state: "paying" }, levels: { [USDC]: missing } });
    world.chain.markers = { 0: 0 };
    await world.act({ action: "conclude" });
    expect(world.events).toEqual([{ type: "FORECLOSE", chunk: 1 }, { type: "CHANGED" }]);
    const level = (await world.row())?.levels.find(({ mint }) => mint === USDC);
    expect(level).toMatchObject({ received: 9n, writtenOff: 9n, missing: 0n, short: false });
    expect(await world.acted()).toEqual(["foreclose", "conclude"]);
    await expect(world.act({ action: "conclude" })).rejects.toThrow("misses nothing");
  });

  test("declines an order that is not decided, and needs no event for one that only waits", async () => {
    const deciding = await orderWorld({ order: { state: "deciding" }, levels: { [USDC]: missing } });
    await deciding.act({ action: "conclude" });
    expect(deciding.events).toEqual([{ type: "DECLINE" }]);
    const waiting = await orderWorld({ levels: { [USDC]: missing } });
    await waiting.act({ action: "conclude" });
    expect(waiting.events).toEqual([{ type: "CHANGED" }]);
  });

  test("C50: is refused when the chain shows another sum than was told", async () => {
    const world = await orderWorld({ levels: { [USDC]: missing } });
    world.chain.usdc = 4n;
    await expect(world.act({ action: "conclude" })).rejects.toThrow("another amount now");
    expect((await world.row())?.levels.find(({ mint }) => mint === USDC)).toMatchObject(missing);
  });

  test("C50: is confirmed only while that is missing which it was asked for", async () => {
    const outGo = { order: { state: "deciding" }, transfers: [{ n: 0, state: "out" }] } as const;
    const world = await orderWorld({ ...outGo, levels: { [USDC]: missing } });
    expect(await world.act({ action: "conclude" })).toMatchObject({ state: "awaits_approval" });
    const more = {
      table: "levels",
      id: `${world.order.id}:${USDC}`,
      set: { received: 12n, missing: 12n },
    } as const;
    await world.storage.commit([{ writes: [more] }]);
    await expect(world.approve()).rejects.toThrow("another amount than was asked for");
    await world.act({ action: "conclude" });
    await world.approve();
    expect(world.events).toEqual([{ type: "DECLINE" }]);
    const level = (await world.row())?.levels.find(({ mint }) => mint === USDC);
    expect(level).toMatchObject({ writtenOff: 12n, missing: 0n });
  });
});

describe("refundTo", () => {
  test("M35, K12: fixes number, mint, sum and receiver when it is approved, and takes a second word", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    world.chain.markers = { 0: 1, r0: 0 };
    world.chain.usdc = 9_000_000n;
    const asked = await world.act({ action: "refundTo", address: ELSEWHERE });
    expect(asked).toMatchObject({ state: "awaits_approval", address: ELSEWHERE, allowed: { USDC: "9" } });
    // What comes before the second word is not part of it.
    world.chain.usdc = 12_000_000n;
    await expect(world.approve(addressNamed(41))).rejects.toThrow(`with the address ${ELSEWHERE}`);
    await expect(world.approve()).rejects.toThrow("confirm that");
    await world.approve(ELSEWHERE);
    expect((await world.row())?.acts).toEqual([
      {
        id: `${world.order.id}:r1`,
        order: world.order.id,
        n: 1,
        mint: USDC,
        sum: 9_000_000n,
        to: ELSEWHERE,
        approvedBy: ["ann", "bob"],
        // The time of the newest block: the chain says when its day is over.
        approvedAt: 100_000,
        state: "open",
      },
    ]);
    expect(world.planned.at(-1)).toMatchObject({ kind: "redirect", n: 1, mint: USDC, to: ELSEWHERE });
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow("still sends money");
  });

  test("K7: sends nothing elsewhere before all is decided", async () => {
    const world = await orderWorld({ order: { state: "paying" } });
    world.chain.markers = { 0: 0 };
    world.chain.usdc = 9n;
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow("is not decided");
  });

  test("K7: sends nothing elsewhere while a marker that was seen is missed", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    await world.storage.commit([
      { writes: [{ table: "chunks", id: `${world.order.id}:0`, set: { length: 0, slot: 1 } }] },
    ]);
    world.chain.markers = { 0: 1 };
    world.chain.usdc = 9n;
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow("is not decided");
  });

  test("K12: takes no number that an act of this copy has had, though its marker does not stand", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    const { id: order } = world.order;
    const act = { order, n: 0, mint: USDC, sum: 9n, to: ELSEWHERE, approvedBy: ["ann"], approvedAt: 0 };
    await world.storage.commit([
      { writes: [{ table: "acts", insert: { id: `${order}:r0`, ...act, state: "ended" } }] },
    ]);
    world.chain.markers = { 0: 1 };
    world.chain.usdc = 9n;
    await world.act({ action: "refundTo", address: ELSEWHERE });
    await world.approve(ELSEWHERE);
    expect(world.planned.at(-1)).toMatchObject({ kind: "redirect", n: 1 });
  });

  test("K12: takes no number beyond one about which endpoints differ: what lands there now may be this very act", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    world.chain.markers = { 0: 1 };
    world.chain.disputed = ["r0"];
    world.chain.usdc = 9_000_000n;
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow("endpoints differ");
  });

  test("C39: the eleventh of an order is refused", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    const ten = Array.from({ length: 10 }, (_, n) => [`r${n}`, 0] as const);
    world.chain.markers = { 0: 1, ...Object.fromEntries(ten) };
    world.chain.usdc = 9n;
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow(
      "no more is possible",
    );
  });

  test("goes to no address of ours, to none that is refused, and of no asset that is not there", async () => {
    const over = { order: { state: "over", overState: "resting" } } as const;
    const world = await orderWorld(over);
    world.chain.markers = { 0: 1 };
    const to = (address: string) => world.act({ action: "refundTo", address });
    await expect(to(ELSEWHERE)).rejects.toThrow("holds no USDC");
    await expect(to(SPONSOR)).rejects.toThrow("one of the service's own");
    await expect(to(world.order.address)).rejects.toThrow("one of the service's own");
    await expect(to("nonsense")).rejects.toThrow("is no address");
    await expect(world.act({ action: "refundTo", address: ELSEWHERE, asset: "JUP" })).rejects.toThrow(
      "other mints go",
    );
    const screened = await orderWorld({ ...over, screen: "refused" });
    screened.chain.markers = { 0: 1 };
    screened.chain.usdc = 9n;
    await expect(screened.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow(
      "screening refuses",
    );
  });

  test("waits for a rest that is out, and for one asset at a time", async () => {
    const world = await orderWorld({
      order: { state: "over", overState: "resting" },
      transfers: [{ kind: "rest", n: 0, state: "out" }],
    });
    world.chain.markers = { 0: 1 };
    world.chain.usdc = 9n;
    await expect(world.act({ action: "refundTo", address: ELSEWHERE })).rejects.toThrow(
      "try again in a minute",
    );
  });
});

describe("strays", () => {
  const JUNK = addressNamed(60);

  test("collect brings each account to where it counts by a transaction of its own, once the order is over", async () => {
    const open = await orderWorld({ order: { state: "paying" } });
    await expect(open.act({ action: "collect" })).rejects.toThrow("is not over");
    const world = await orderWorld({ order: { state: "over", overState: "idle" } });
    await expect(world.act({ action: "collect" })).rejects.toThrow("nothing of the service's assets");
    const strays = [
      strayOf(world.order.id, USDC),
      strayOf(world.order.id, JUNK, { at: 2 }),
      strayOf(world.order.id, SOL_MINT, { at: 3, account: addressNamed(52) }),
    ];
    await world.storage.commit([{ writes: strays.map((insert) => ({ table: "deposits", insert })) }]);
    await world.act({ action: "collect" });
    const collect = { kind: "collect", to: world.order.address };
    expect(world.planned).toMatchObject([
      { ...collect, n: 0, mint: USDC, subjects: [addressNamed(50)] },
      { ...collect, n: 1, mint: SOL_MINT, subjects: [addressNamed(52)] },
    ]);
  });

  test("R4, C23: foreign tokens go by their mint on two people's word: to the sender without a marker, else under one", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "idle" } });
    expect(await world.act({ action: "foreign", mint: JUNK })).toMatchObject({
      state: "awaits_approval",
      allowed: { [JUNK]: "5" },
    });
    await expect(world.approve(world.order.sender, "ann")).rejects.toThrow("another actor has to approve");
    await world.approve(world.order.sender);
    expect(world.planned.at(-1)).toMatchObject({
      kind: "foreign",
      n: 10,
      mint: JUNK,
      to: world.order.sender,
      subjects: [addressNamed(51)],
    });
    expect((await world.row())?.acts).toEqual([]);
    await expect(world.act({ action: "foreign", mint: USDC })).rejects.toThrow("goes back by itself");
    await expect(world.act({ action: "foreign", mint: SOL_MINT })).rejects.toThrow("collect brings it back");
    await expect(world.act({ action: "foreign", mint: JUNK })).rejects.toThrow("not yet carried out");
    const other = await orderWorld({ order: { state: "over", overState: "idle" } });
    await other.act({ action: "foreign", mint: JUNK, address: ELSEWHERE });
    await other.approve(ELSEWHERE);
    expect(other.planned.at(-1)).toMatchObject({ kind: "foreign", n: 0, mint: JUNK, to: ELSEWHERE });
    expect((await other.row())?.acts).toMatchObject([{ n: 0, mint: JUNK, sum: 5n, to: ELSEWHERE }]);
  });
});

describe("retry", () => {
  test("C34: tries again what waits, and takes a rate of rent above twice the order's", async () => {
    const world = await orderWorld({
      order: { state: "paying" },
      transfers: [
        { n: 1, reason: "waiting_for_funds", notBefore: 9 },
        { n: 0, state: "done" },
      ],
    });
    world.chain.rentPerByte = 13_920n;
    await world.act({ action: "retry" });
    expect((await world.row())?.order.rentTaken).toBe(6_960n);
    await expect(world.act({ action: "retry" })).rejects.toThrow("has nothing that waits");
    await world.storage.commit([
      {
        writes: [
          { table: "transfers", id: "tr_chunk_1", set: { reason: "waiting_for_funds", stuckSince: 3 } },
        ],
      },
    ]);
    world.chain.rentPerByte = 13_921n;
    await world.act({ action: "retry" });
    expect((await world.row())?.order.rentTaken).toBe(13_921n);
    const waiting = (await world.row())?.transfers.find(({ n }) => n === 1);
    expect(waiting).toMatchObject({ reason: null, notBefore: null, stuckSince: null });
    expect(world.woken).toEqual(["tr_chunk_1", "tr_chunk_1"]);
  });
});

describe("retry of a long marker", () => {
  test("C21: takes the rate at which a marker longer than the reserve is bought", async () => {
    const transfers = [{ n: 0, reason: "waiting_for_funds" }];
    const world = await orderWorld({ order: { state: "deciding" }, transfers });
    const id = `${world.order.id}:0`;
    await world.storage.commit([{ writes: [{ table: "chunks", id, set: { wanted: 300 } }] }]);
    await world.act({ action: "retry" });
    expect((await world.row())?.order.rentTaken).toBe((428n * 6_960n + 255n) / 256n);
  });
});

describe("two who decide at once", () => {
  test("M29: of two acts on one order one counts", async () => {
    const world = await orderWorld({ order: { state: "deciding" } });
    const outcomes = await Promise.allSettled([
      world.act({ action: "hold" }),
      world.act({ action: "decline" }, "bob"),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await world.acted()).toHaveLength(1);
  });

  test("an act that was decided from an older reading than a look has committed is refused", async () => {
    const world = await orderWorld({ order: { state: "deciding" }, transfers: [{ n: 0, state: "out" }] });
    await world.act({ action: "decline" });
    // The look of another process comes between the reading and the commit.
    const { takes } = world.chart;
    let isFirst = true;
    world.chart.takes = (event) => {
      const touched = { table: "orders" as const, id: world.order.id, set: {} };
      if (isFirst) void world.storage.commit([{ writes: [touched] }]);
      isFirst = false;
      return takes(event);
    };
    await expect(world.approve()).rejects.toThrow("it has moved on: look again");
    expect(world.events).toEqual([]);
    await world.approve();
    expect(world.events).toEqual([{ type: "DECLINE" }]);
  });

  test("the newest request about an order is the one that is confirmed", async () => {
    const world = await orderWorld({ order: { state: "over", overState: "resting" } });
    world.chain.markers = { 0: 1 };
    world.chain.usdc = 9n;
    await world.act({ action: "refundTo", address: ELSEWHERE });
    await world.act({ action: "refundTo", address: addressNamed(41) });
    await expect(world.approve(ELSEWHERE)).rejects.toThrow("confirm that");
    await world.approve(addressNamed(41));
    await expect(world.approve(addressNamed(41))).rejects.toThrow("nothing of order");
  });
});

test("of one who confirms a request and one who asks for another at the same moment one is refused", async () => {
  const world = await orderWorld({ order: { state: "over", overState: "idle" } });
  world.chain.markers = { 0: 0, 1: 0 };
  world.chain.usdc = 9n;
  await world.act({ action: "refundTo", address: ELSEWHERE });
  const settled = await Promise.allSettled([
    world.approve(ELSEWHERE),
    world.act({ action: "refundTo", address: addressNamed(41) }, "cid"),
  ]);
  const refused = settled.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  // Whoever is slower is told of the decision, of the other receiver, or of the money on its way.
  expect(refused).toEqual([expect.stringContaining("OperatorRefused")]);
  expect(await world.acted()).toHaveLength(2);
});
