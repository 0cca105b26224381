/** Chunks of an order on the chain: what they pay, what the sponsor lends, and who is left out. */
import { describe, expect } from "vitest";
import type { Move } from "../../../src/ledger/routing.ts";
import { RATE, TOKEN_ACCOUNT } from "./order-fixture.ts";
import { sharedOrderTest } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";
import { receiptsOf } from "../../kit/receipts.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const STANDS = { at: { move: 0, step: "allocate" }, error: { custom: 0 } };

/** A treasury that has all that it needs. */
const test = sharedOrderTest.extend("scene", { scope: "file" }, ({ world }) => ({
  ...world,
  treasury: world.party({ lamports: SOL, usdc: 1n }),
  /** What the go of an order in SOL lends: twice the rent of an empty account. */
  loan: 2n * world.rent(),
  lend: (order: Party): Move => world.sol(world.sponsor, order.address, 2n * world.rent()),
}));

describe("the loan of an order in SOL", () => {
  test("lets an exact payout end with the loan, which the rest brings back: nothing is left", async ({
    scene,
  }) => {
    const { buy, sol, empty, party, must, lamports, account, sponsor, treasury, loan, lend } = scene;
    const [order, payee] = [party({ lamports: 5n * SOL }), party({ lamports: SOL })];
    const legs = [sol(order, treasury.address, SOL / 10n), sol(order, payee.address, (49n * SOL) / 10n)];
    await must([buy(order, "0"), ...legs, lend(order)], order);
    expect(await lamports(order.address)).toBe(loan);
    await must([sol(order, sponsor.address, loan), empty(order)], order);
    expect(await account(order.address)).toBeNull();
  });

  test("C5: a lamport of dust, which makes an exact payout fail without it, does no harm", async ({
    scene,
  }) => {
    const { buy, sol, party, carry, signed, send, give, lamports, loan, lend } = scene;
    const [order, payee] = [party({ lamports: 5n * SOL }), party({ lamports: SOL })];
    const exact = [buy(order, "0"), sol(order, payee.address, 5n * SOL)];
    const lent = [...exact, lend(order)];
    const early = await signed(lent, order);
    give(order.address, { lamports: 1n });
    expect((await carry(exact, order)).landed).toMatchObject({ account: order.address, error: "rent" });
    expect(await send(early, lent)).toBeNull();
    expect(await lamports(order.address)).toBe(loan + 1n);
  });

  test("pays nobody, since it stands last: an order that is short of it is short", async ({ scene }) => {
    const { buy, sol, party, carry, rent, loan, lend } = scene;
    for (const short of [1n, 500_000n, rent(), loan]) {
      const [order, payee] = [party({ lamports: 5n * SOL - short }), party({ lamports: SOL })];
      const moves = [buy(order, "0"), sol(order, payee.address, 5n * SOL), lend(order)];
      expect((await carry(moves, order)).landed).toMatchObject({
        at: { move: 1, step: "pay" },
        error: { custom: 1 },
      });
    }
  });

  test("comes with a go that pays nobody as with every other; a later chunk then pays all that is there", async ({
    scene,
  }) => {
    const { buy, sol, party, must, carry, lamports, loan, lend } = scene;
    const [order, payee] = [party({ lamports: 9_000_000n }), party({ lamports: SOL })];
    await must([buy(order, "0", { length: 2 }), lend(order)], order);
    for (const length of [1, 0]) {
      expect((await carry([buy(order, "0", { length })], order)).landed).toMatchObject(STANDS);
    }
    await must([buy(order, "1"), sol(order, payee.address, 9_000_000n)], order);
    expect(await lamports(order.address)).toBe(loan);
  });

  test.for([2n, 3n])(
    "C34: with a rent of %s times the order's the last chunk of a payroll lands up to twice, and is given up beyond",
    async (times, { scene }) => {
      const { buy, sol, empty, party, must, carry, reprice, lamports, sponsor, treasury, loan, lend } = scene;
      const order = party({ lamports: 76_000_000n });
      const [one, two, three, sender] = [1, 2, 3, 4].map(() => party({ lamports: SOL })) as [
        Party,
        Party,
        Party,
        Party,
      ];
      const fee = sol(order, treasury.address, 1_000_000n);
      await must([buy(order, "0"), fee, sol(order, one.address, 25_000_000n), lend(order)], order);
      try {
        reprice(RATE * times);
        await must([buy(order, "1"), sol(order, two.address, 25_000_000n)], order);
        const last = await carry([buy(order, "2"), sol(order, three.address, 25_000_000n)], order);
        if (times === 2n) {
          expect([last.landed, await lamports(order.address)]).toEqual([null, loan]);
          return;
        }
        expect(last.landed).toMatchObject({ at: null, account: order.address, error: "rent" });
        await must([buy(order, "2", { length: 1 })], order);
        const rest = [
          sol(order, sender.address, 25_000_000n),
          sol(order, sponsor.address, loan),
          empty(order),
        ];
        await must(rest, order);
        expect(await lamports(order.address)).toBe(0n);
      } finally {
        reprice(RATE);
      }
    },
  );
});

describe("a swap, which the desk signs too", () => {
  test("SOL for USDC: both legs or none, at the fee of three signatures", async ({ scene }) => {
    const { buy, sol, usdc, party, must, ledger, lamports, units, treasury, loan, lend } = scene;
    const order = party({ lamports: 1_010_000_000n });
    const [desk, payee] = [party({ lamports: SOL, usdc: 500n * USDC }), party({ usdc: 1n })];
    const { signature, size } = await must(
      [
        buy(order, "0"),
        sol(order, treasury.address, 10_000_000n),
        sol(order, desk.address, SOL),
        usdc(desk, payee.address, 150n * USDC, order.address),
        lend(order),
      ],
      order,
      desk,
    );
    const [receipt] = await receiptsOf(ledger, [signature]);
    const priority = (receipt?.fee ?? 0n) - 15_000n;
    expect(priority).toBeGreaterThanOrEqual(0n);
    expect(priority).toBeLessThan(5_000n);
    expect(size).toBeLessThanOrEqual(860);
    expect([await lamports(order.address), await units(payee.address)]).toEqual([loan, 1n + 150n * USDC]);
  });

  test("C37: the payee's account, closed in the race, is paid of what is too much there, and never of the loan", async ({
    scene,
  }) => {
    const { buy, sol, usdc, party, nobody, carry, rent, lamports, treasury, loan, lend } = scene;
    const desk = party({ lamports: SOL, usdc: 500n * USDC });
    for (const excess of [0n, rent(TOKEN_ACCOUNT) - rent(), rent(TOKEN_ACCOUNT)]) {
      const order = party({ lamports: 1_010_000_000n + excess });
      const moves = [
        buy(order, "0"),
        sol(order, treasury.address, 10_000_000n),
        sol(order, desk.address, SOL),
        usdc(desk, nobody(), 150n * USDC, order.address),
        lend(order),
      ];
      const { landed } = await carry(moves, order, desk);
      if (excess < rent(TOKEN_ACCOUNT)) {
        expect(landed).toMatchObject({ at: { move: 3, step: "create" }, error: { custom: 1 } });
      } else {
        expect([landed, await lamports(order.address)]).toEqual([null, loan]);
      }
    }
  });

  test("a desk that has too little moves nothing, and makes no marker", async ({ scene }) => {
    const { buy, sol, usdc, party, carry, markersOf, units, treasury } = scene;
    const order = party({ usdc: 10_100_000n });
    const [desk, payee] = [party({ lamports: USDC, usdc: 5n }), party({ lamports: SOL })];
    const moves = [
      buy(order, "0"),
      usdc(order, treasury.address, 100_000n, null),
      usdc(order, desk.address, 10n * USDC),
      sol(desk, payee.address, SOL),
    ];
    expect((await carry(moves, order, desk)).landed).toMatchObject({ at: { move: 3, step: "pay" } });
    expect([await markersOf(order, "0"), await units(order.address)]).toEqual([[null], 10_100_000n]);
  });
});

describe("a payroll", () => {
  test("C8: of three chunks with a frozen payee in two: the others are paid, the fee once, and the rest is the sender's", async ({
    scene,
  }) => {
    const {
      buy,
      usdc,
      closing,
      sol,
      empty,
      party,
      nobody,
      carry,
      must,
      look,

      thaw,
      units,
      lamports,
    } = scene;
    const { give, treasury, sponsor, rent } = scene;
    const people = [6, 7, 4].map((count) => Array.from({ length: count }, () => nobody()));
    const frozen = [people[0]?.[2] ?? nobody(), people[1]?.[6] ?? nobody()];
    for (const each of frozen) give(each, { usdc: 1n, frozen: true });
    const order = party({ usdc: 17n * USDC + 340_000n });
    const sender = party({ lamports: SOL, usdc: 1n });
    const kept = await units(treasury.address);
    const fee = usdc(order, treasury.address, 340_000n, null);
    /** Members: the fee is the first of chunk 0. */
    const chunk = (k: number, length: number, leftOut?: number): readonly Move[] => [
      buy(order, String(k), { length }),
      ...(k === 0 ? [fee] : []),
      ...(people[k] ?? []).filter((_, index) => index !== leftOut).map((to) => usdc(order, to, USDC)),
    ];
    expect((await carry(chunk(0, 0), order)).landed).toMatchObject({
      at: { move: 4 },
      error: { custom: 17 },
    });
    expect((await carry(chunk(1, 0), order)).landed).toMatchObject({
      at: { move: 7 },
      error: { custom: 17 },
    });
    expect((await look(order, ["0", "1"])).markers).toEqual([null, null]);
    await must(chunk(0, 6, 2), order);
    await must(chunk(1, 9, 6), order);
    await thaw(frozen[0] ?? nobody());
    await must(chunk(2, 0), order);
    for (const k of [0, 1, 2]) expect((await carry(chunk(k, 0), order)).landed).toMatchObject(STANDS);
    const { markers, told } = await look(order, ["0", "1", "2", "3"]);
    expect(markers).toEqual([6, 9, 0, null]);
    expect(told[0]?.order.accounts[0]).toEqual({
      amount: 2n * USDC,
      lamports: rent(TOKEN_ACCOUNT),
      state: "usable",
    });
    const rest = [
      usdc(order, sender.address, 2n * USDC, order.address),
      closing(order),
      sol(order, sponsor.address, rent(TOKEN_ACCOUNT)),
      empty(order),
    ];
    await must(rest, order);
    expect([await units(order.address), await lamports(order.address)]).toEqual([0n, 0n]);
    expect(await units(sender.address)).toBe(1n + 2n * USDC);
    expect((await units(treasury.address)) - kept).toBe(340_000n);
  });

  test("K5: the fee stands inside chunk 0: alone it would be taken of late money once more", async ({
    scene,
  }) => {
    const { buy, usdc, party, nobody, signed, send, give, units, treasury } = scene;
    const kept = await units(treasury.address);
    const alone = party({ usdc: 5_100_000n });
    const fee = [usdc(alone, treasury.address, 100_000n, null)];
    const [one, two] = [await signed(fee, alone), await signed(fee, alone)];
    expect(await send(one, fee)).toBeNull();
    give(alone.address, { usdc: 100_000n });
    expect(await send(two, fee)).toBeNull();
    expect((await units(treasury.address)) - kept).toBe(200_000n);
    const order = party({ usdc: 5_100_000n });
    const go = [
      buy(order, "0"),
      usdc(order, treasury.address, 100_000n, null),
      usdc(order, nobody(), 5n * USDC),
    ];
    const [first, second] = [await signed(go, order), await signed(go, order)];
    expect(await send(first, go)).toBeNull();
    give(order.address, { usdc: 9n * USDC });
    expect(await send(second, go)).toMatchObject(STANDS);
    expect((await units(treasury.address)) - kept).toBe(300_000n);
  });

  test("a payee whose account is there costs the order nothing, though it would pay for it", async ({
    scene,
  }) => {
    const { buy, usdc, party, must, units, account } = scene;
    const order = party({ usdc: 5n * USDC });
    const payee = party({ lamports: SOL, usdc: 1n });
    await must([buy(order, "0"), usdc(order, payee.address, USDC, order.address)], order);
    expect([await units(payee.address), await account(order.address)]).toEqual([1n + USDC, null]);
  });
});
