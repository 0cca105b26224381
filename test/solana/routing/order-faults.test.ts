/** Why a transaction of an order fails: every row of the table of culprits, from what really happens on the chain. */
import {
  AuthorityType,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
} from "@solana/spl-token";
import { PublicKey, SYSVAR_CLOCK_PUBKEY, SystemProgram } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import { EndpointsDifferError } from "../../../src/ledger/ledger.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import type { Move, TransactionPlan } from "../../../src/ledger/routing.ts";
import { signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { lyingAbout, oddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";
import { runsOf } from "../../kit/thorough.ts";
import { keyOf, land } from "../signed-transaction.ts";
import { TOKEN_ACCOUNT, type OrderFixture } from "./order-fixture.ts";
import { sharedOrderTest as test } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
/** Two signatures, without a bid. */
const FEE = 10_000n;

type Told = Pick<OrderFault, "at" | "account" | "error">;

const step = (
  move: number,
  name: NonNullable<OrderFault["at"]>["step"],
  error: OrderFault["error"],
): Told => ({
  at: { move, step: name },
  account: null,
  error,
});
const custom = (number: number): OrderFault["error"] => ({ custom: number });
const rent = (account: string, at: OrderFault["at"] = null): Told => ({
  at,
  account: account as Address,
  error: "rent",
});

/** Before it was sent and after it landed the same was said: this. */
async function expectFault(
  world: OrderFixture,
  plan: TransactionPlan,
  by: readonly Party[],
  told: Told,
): Promise<void> {
  const { ledger } = world;
  const unsigned = await ledger.buildTransaction(plan);
  expect(await ledger.tryOrder(plan, unsigned)).toMatchObject(told);
  const signed = await signTransaction(unsigned, [world.sponsor, ...by]);
  await ledger.broadcast(signed.bytes);
  world.chain.advance(33);
  const [status] = await ledger.statuses([signed.signature]);
  if (status?.commitment !== "finalized") throw new Error("a transaction did not land");
  expect(await ledger.explainOrder(plan, agreed(String(status.error)))).toEqual({
    ...told,
    text: status.error,
  });
}

/** The token account of its owner, handed over to somebody else. */
async function handOver(world: OrderFixture, owner: Party, to: Address): Promise<void> {
  const account = world.ata(owner.address);
  const { AccountOwner } = AuthorityType;
  await land(world, {
    signers: [owner],
    instructions: [createSetAuthorityInstruction(account, keyOf(owner), AccountOwner, new PublicKey(to))],
  });
}

/** Closes the empty token account of its owner. */
async function closeAccount(world: OrderFixture, owner: Party): Promise<void> {
  const instruction = createCloseAccountInstruction(world.ata(owner.address), keyOf(owner), keyOf(owner));
  await land(world, { signers: [owner], instructions: [instruction] });
}

/** The moves of `world` at the cost of another than the sponsor. */
const paidBy = (payer: Party, moves: readonly Move[]): TransactionPlan => ({
  feePayer: payer.address,
  moves: moves.map((move) => ("payer" in move ? { ...move, payer: payer.address } : move)),
});

describe("a purse that is low", () => {
  test("row 2: cannot pay the marker", async ({ world }) => {
    const { buy, party, rent: of } = world;
    const [order, purse] = [party({ usdc: USDC }), party({ lamports: of() + FEE + of() })];
    const plan = paidBy(purse, [buy(order, "0", { length: 200 })]);
    await expectFault(world, plan, [purse, order], step(0, "fund", custom(1)));
  });

  test("row 2: cannot lend", async ({ world }) => {
    const { buy, sol, party, rent: of } = world;
    const [order, payee] = [party({ lamports: SOL }), party({ lamports: SOL })];
    const purse = party({ lamports: 3n * of() });
    const plan = paidBy(purse, [
      buy(order, "0"),
      sol(order, payee.address, SOL),
      sol(purse, order.address, 2n * of()),
    ]);
    await expectFault(world, plan, [purse, order], step(2, "pay", custom(1)));
  });

  test("row 3: would be left with less than its own rent, or cannot pay the network: nothing of it lands", async ({
    world,
  }) => {
    const { buy, party, rent: of, ledger } = world;
    const order = party({ usdc: USDC });
    const low = party({ lamports: 2n * of() + FEE - 1n });
    await expectFault(world, paidBy(low, [buy(order, "0")]), [low, order], rent(low.address));
    // One signature is paid.
    const poor = party({ lamports: of() + FEE / 2n - 1n });
    const empty = party();
    for (const [purse, told] of [
      [poor, rent(poor.address)],
      [empty, { at: null, account: empty.address, error: "fee" }],
    ] as const) {
      const plan = paidBy(purse, []);
      expect(await ledger.tryOrder(plan, await ledger.buildTransaction(plan))).toMatchObject(told);
    }
    for (const text of ['"InsufficientFundsForFee"', '"InvalidAccountForFee"', '"AccountNotFound"']) {
      const told = await ledger.explainOrder(paidBy(low, [buy(order, "0")]), agreed(text));
      expect(told).toEqual({ at: null, account: low.address, error: "fee", text });
    }
  });

  test("row 6: cannot pay the account of a payee: the payee is not blamed", async ({ world }) => {
    const { buy, usdc, party, nobody, rent: of } = world;
    const order = party({ usdc: 5n * USDC });
    const [present, purse] = [party({ usdc: 1n }), party({ lamports: 2_500_000n })];
    expect(of(TOKEN_ACCOUNT)).toBe(2_039_280n);
    const plan = paidBy(purse, [
      buy(order, "0"),
      usdc(order, present.address, USDC, null),
      usdc(order, nobody(), USDC, purse.address),
    ]);
    await expectFault(world, plan, [purse, order], step(2, "create", custom(1)));
  });
});

describe("a payee", () => {
  test("row 5: whose account was handed over fails at its creation, whoever pays for that, and the thief is not paid", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, plan, sponsor, units } = world;
    const order = party({ usdc: 5n * USDC });
    const victim = party({ lamports: SOL, usdc: 1n });
    await handOver(world, victim, nobody());
    for (const payer of [sponsor.address, order.address]) {
      const moves = [buy(order, "0"), usdc(order, nobody(), USDC), usdc(order, victim.address, USDC, payer)];
      await expectFault(world, plan(...moves), [order], step(2, "create", custom(0)));
    }
    expect(await units(order.address)).toBe(5n * USDC);
  });

  test("row 7: who closed an account that the order would have to pay fails alone", async ({ world }) => {
    const { buy, usdc, party, nobody, plan, must } = world;
    const order = party({ usdc: 5n * USDC });
    const harvester = party({ lamports: SOL, usdc: 0n });
    await closeAccount(world, harvester);
    const priced = usdc(order, nobody(), USDC);
    const unpriced = usdc(order, harvester.address, USDC, order.address);
    await expectFault(world, plan(buy(order, "0"), priced, unpriced), [order], step(2, "create", custom(1)));
    await must([buy(order, "0", { length: 5 }), priced], order);
  });

  test("row 9: the order's own lamports pay one account and not the next: its own index is told, and witnesses tell whose is missing", async ({
    world,
  }) => {
    const { buy, usdc, party, plan, must, ledger, mints, rent: of } = world;
    const order = party({ usdc: 5n * USDC, lamports: of(TOKEN_ACCOUNT) + 400_000n });
    const [there, missing] = [party({ usdc: 1n }), party({ lamports: SOL, usdc: 0n })];
    await closeAccount(world, missing);
    const legs = [there, missing].map(({ address }) => usdc(order, address, USDC, order.address));
    await expectFault(world, plan(buy(order, "0"), ...legs), [order], rent(order.address));
    const accounts = [there, missing].map(({ address: owner }) => ({ owner, mint: mints.USDC }));
    expect(await ledger.tokenAccountStates(accounts)).toEqual(["usable", "absent"]);
    await must([buy(order, "0", { length: 5 }), ...legs.slice(0, 1)], order);
  });

  test("row 10: who would get less SOL than an account must hold is told by his own index; so is a treasury that was never funded", async ({
    world,
  }) => {
    const { buy, sol, party, nobody, plan, must, rent: of } = world;
    const order = party({ lamports: 5_100_000n });
    const [treasury, small, payee] = [nobody(), nobody(), party({ lamports: SOL })];
    const paying = (...legs: readonly Move[]) => plan(buy(order, "0"), ...legs);
    const low = sol(order, small, of() - 1n);
    await expectFault(world, paying(sol(order, payee.address, USDC), low), [order], rent(small));
    const fee = sol(order, treasury, 100_000n);
    await expectFault(world, paying(fee, sol(order, payee.address, 5_000_000n)), [order], rent(treasury));
    await must([buy(order, "0", { length: 3 }), sol(order, payee.address, 5_100_000n)], order);
  });

  test("C36: thirteen who empty themselves are all paid, where each gets the rent of an empty account", async ({
    world,
  }) => {
    const { buy, sol, party, nobody, must, lamports, rent: of } = world;
    const order = party({ lamports: SOL });
    const payees = Array.from({ length: 13 }, () => nobody());
    await must([buy(order, "1"), ...payees.map((to) => sol(order, to, of()))], order);
    for (const payee of payees) expect(await lamports(payee)).toBe(of());
  });

  test("row 11: an account of the runtime's own can be paid no SOL", async ({ world }) => {
    const { buy, sol, party, nobody, plan } = world;
    const order = party({ lamports: SOL });
    for (const unpayable of [SYSVAR_CLOCK_PUBKEY, SystemProgram.programId]) {
      const moves = [
        buy(order, "0"),
        sol(order, nobody(), 2_000_000n),
        sol(order, unpayable.toBase58() as Address, 2_000_000n),
      ];
      await expectFault(world, plan(...moves), [order], step(2, "pay", "readonly_lamports"));
    }
  });

  test("row 12: who is frozen fails at his payment, at whatever place; both ends tell that it is he", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, plan, freeze, thaw, ledger, mints, must, carry, units } = world;
    const order = party({ usdc: 5n * USDC });
    const frozen = party({ usdc: 1n });
    await freeze(frozen.address);
    for (const place of [0, 1, 2]) {
      const payees = [nobody(), nobody()].toSpliced(place, 0, frozen.address);
      const moves = [buy(order, "0"), ...payees.map((to) => usdc(order, to, USDC))];
      await expectFault(world, plan(...moves), [order], step(1 + place, "pay", custom(17)));
    }
    const ends = [order.address, frozen.address].map((owner) => ({ owner, mint: mints.USDC }));
    expect(await ledger.tokenAccountStates(ends)).toEqual(["usable", "frozen"]);
    // C9: who thaws after he was left out stays left out.
    await must([buy(order, "0", { length: 3 }), usdc(order, nobody(), USDC)], order);
    await thaw(frozen.address);
    const again = await carry([buy(order, "0"), usdc(order, frozen.address, USDC)], order);
    expect(again.landed).toMatchObject(step(0, "allocate", custom(0)));
    expect(await units(frozen.address)).toBe(1n);
  });
});

describe("the others", () => {
  test("row 1: a marker that stands", async ({ world }) => {
    const { buy, usdc, party, nobody, plan, must } = world;
    const order = party({ usdc: 5n * USDC });
    await must([buy(order, "0", { length: 1 })], order);
    const moves = [buy(order, "0"), usdc(order, nobody(), USDC)];
    await expectFault(world, plan(...moves), [order], step(0, "allocate", custom(0)));
  });

  test("row 4: too little rent for a marker: its own index, and the move that makes it", async ({
    world,
  }) => {
    const { buy, party, plan, rent: of, ledger } = world;
    const order = party({ usdc: 5n * USDC });
    const moves = [buy(order, "1"), buy(order, "2", { length: 9, lamports: of(8) })];
    const told = rent(ledger.markerOf(order.address, "2"), { move: 1, step: "fund" });
    await expectFault(world, plan(...moves), [order], told);
  });

  test("row 12: a frozen treasury, or one without an account, and a frozen account of the order's own", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, plan, freeze, thaw, must, ledger, mints } = world;
    const [frozen, absent] = [party({ usdc: 1n }), nobody()];
    await freeze(frozen.address);
    const order = party({ usdc: 5n * USDC });
    const paying = (fee: Move) => plan(buy(order, "0"), fee, usdc(order, nobody(), USDC));
    const frozenFee = paying(usdc(order, frozen.address, 1n, null));
    await expectFault(world, frozenFee, [order], step(1, "pay", custom(17)));
    const absentFee = paying(usdc(order, absent, 1n, null));
    await expectFault(world, absentFee, [order], step(1, "pay", "missing_account"));
    const fee = usdc(order, party({ usdc: 1n }).address, 1n, null);
    await freeze(order.address);
    await expectFault(world, paying(fee), [order], step(1, "pay", custom(17)));
    const ends = [order.address, absent].map((owner) => ({ owner, mint: mints.USDC }));
    expect(await ledger.tokenAccountStates(ends)).toEqual(["frozen", "absent"]);
    // It can be decided all the same; its money waits for the issuer.
    await must([buy(order, "0", { length: 1 })], order);
    await thaw(order.address);
    await must([usdc(order, nobody(), 5n * USDC)], order);
    // Without the fee, which is member 0 of 2, the payee is paid.
    const other = party({ usdc: 5n * USDC });
    await must([buy(other, "0", { length: 3 }), usdc(other, nobody(), 5n * USDC)], other);
  });

  test("row 13: too little at the order, of tokens and of SOL: at the payment where it ends", async ({
    world,
  }) => {
    const { buy, usdc, sol, party, nobody, plan, rent: of, sponsor } = world;
    const tokens = party({ usdc: 5n * USDC });
    const ofTokens = [buy(tokens, "0"), usdc(tokens, nobody(), 3n * USDC), usdc(tokens, nobody(), 3n * USDC)];
    await expectFault(world, plan(...ofTokens), [tokens], step(2, "pay", custom(1)));
    const [coins, payee] = [party({ lamports: SOL }), party({ lamports: SOL })];
    // The loan stands last, and pays nobody.
    const loan = sol(sponsor, coins.address, 2n * of());
    const ofCoins = [buy(coins, "0"), sol(coins, payee.address, SOL + 1n), loan];
    await expectFault(world, plan(...ofCoins), [coins], step(1, "pay", custom(1)));
  });

  test("row 14: a desk that cannot pay, or is frozen: its own leg", async ({ world }) => {
    const { buy, usdc, sol, party, plan, freeze, units } = world;
    const order = party({ usdc: 10n * USDC });
    const [desk, payee] = [party({ lamports: USDC, usdc: 5n }), party({ lamports: SOL, usdc: 1n })];
    const input = usdc(order, desk.address, 10n * USDC, null);
    const inCoins = plan(buy(order, "0"), input, sol(desk, payee.address, SOL));
    await expectFault(world, inCoins, [order, desk], step(2, "pay", custom(1)));
    await freeze(desk.address);
    const coins = party({ lamports: SOL });
    const inTokens = plan(
      buy(coins, "0"),
      sol(coins, desk.address, SOL / 2n),
      usdc(desk, payee.address, 1n, coins.address),
    );
    await expectFault(world, inTokens, [coins, desk], step(2, "pay", custom(17)));
    expect(await units(order.address)).toBe(10n * USDC);
  });
});

describe("a rest", () => {
  test("row 8: the sender closed his account, for which nothing was withheld", async ({ world }) => {
    const { buy, usdc, closing, empty, party, plan, must } = world;
    const order = party({ usdc: 5n * USDC });
    const sender = party({ lamports: SOL, usdc: 0n });
    await must([buy(order, "0", { length: 1 })], order);
    await closeAccount(world, sender);
    const leg = usdc(order, sender.address, 5n * USDC, order.address);
    await expectFault(world, plan(leg, closing(order), empty(order)), [order], step(0, "create", custom(1)));
  });

  test("rows 5 and 15: a sender whose account was handed over or frozen, or who has no SOL and would get too little", async ({
    world,
  }) => {
    const {
      buy,
      usdc,
      sol,
      closing,
      empty,
      party,
      nobody,
      plan,
      must,
      freeze,
      rent: of,
      sponsor,
      give,
      ataOf,
    } = world;
    const order = party({ usdc: 5n * USDC });
    await must([buy(order, "0", { length: 1 })], order);
    const rest = (to: Address) => plan(usdc(order, to, 5n * USDC), closing(order), empty(order));
    const [victim, frozen, poor] = [party({ lamports: SOL, usdc: 1n }), party({ usdc: 1n }), nobody()];
    await handOver(world, victim, nobody());
    await expectFault(world, rest(victim.address), [order], step(0, "create", custom(0)));
    await freeze(frozen.address);
    await expectFault(world, rest(frozen.address), [order], step(0, "pay", custom(17)));
    give(ataOf(order.address), { lamports: 1n });
    const withLamport = plan(
      usdc(order, poor, 5n * USDC),
      closing(order),
      sol(order, poor, 1n),
      sol(order, sponsor.address, of(TOKEN_ACCOUNT)),
      empty(order),
    );
    await expectFault(world, withLamport, [order], rent(poor));
  });

  test("row 16: a sponsor without an account for the cost, or whose account is frozen", async ({ world }) => {
    const { buy, usdc, closing, empty, party, plan, must } = world;
    const order = party({ usdc: 5n * USDC });
    const sender = party({ lamports: SOL, usdc: 1n });
    await must([buy(order, "0", { length: 1 })], order);
    const purse = party({ lamports: SOL });
    const rest = plan(
      usdc(order, sender.address, 4n * USDC),
      usdc(order, purse.address, USDC, null),
      closing(order),
      empty(order),
    );
    await expectFault(world, rest, [order], step(1, "pay", "missing_account"));
    world.give(purse.address, { usdc: 1n, frozen: true });
    await expectFault(world, rest, [order], step(1, "pay", custom(17)));
  });

  test("row 17: dust that came before it: tokens at the closing, lamports at the last", async ({ world }) => {
    const { buy, usdc, sol, closing, empty, party, plan, must, give } = world;
    const sender = party({ lamports: SOL, usdc: 1n });
    const [tokens, coins] = [party({ usdc: 5n * USDC }), party({ lamports: SOL })];
    await must([buy(tokens, "0", { length: 1 })], tokens);
    await must([buy(coins, "0", { length: 1 })], coins);
    give(tokens.address, { usdc: 1n });
    give(coins.address, { lamports: 1n });
    const ofTokens = plan(usdc(tokens, sender.address, 5n * USDC), closing(tokens), empty(tokens));
    await expectFault(world, ofTokens, [tokens], step(1, "close", custom(11)));
    // The chain would not leave a single lamport there, and never comes so far.
    const ofCoins = plan(sol(coins, sender.address, SOL), empty(coins));
    await expectFault(world, ofCoins, [coins], step(1, "empty", custom(0)));
  });
});

describe("all else", () => {
  test("bytes that have landed, and a blockhash that is dead", async ({ world }) => {
    const { buy, party, plan, ledger, sponsor, chain } = world;
    const order = party({ usdc: USDC });
    const moves = plan(buy(order, "0"));
    const unsigned = await ledger.buildTransaction(moves);
    const { bytes } = await signTransaction(unsigned, [sponsor, order]);
    await ledger.broadcast(bytes);
    chain.advance(2);
    expect(await ledger.tryOrder(moves, unsigned)).toEqual({
      at: null,
      account: null,
      error: "already_processed",
      text: '"AlreadyProcessed"',
    });
    const old = await ledger.buildTransaction(plan(buy(order, "1")));
    chain.advance(152);
    expect(await ledger.tryOrder(plan(buy(order, "1")), old)).toMatchObject({ at: null, error: "blockhash" });
  });

  test("whatever the chain says, it never throws, and what is in no row blames nobody", async ({ world }) => {
    const { ledger, plan, buy, sol, usdc, empty, party, nobody } = world;
    const order = party();
    const moves = plan(buy(order, "0"), sol(order, nobody(), SOL), usdc(order, nobody(), USDC), empty(order));
    const texts = [
      "",
      "not JSON",
      "null",
      '"WouldExceedMaxBlockCostLimit"',
      '{"InstructionError":[0,"ComputationalBudgetExceeded"]}',
      '{"InstructionError":[1,{"Custom":0}]}',
      '{"InstructionError":[99,{"Custom":0}]}',
      '{"InsufficientFundsForRent":{"account_index":99}}',
    ];
    for (const text of texts) {
      expect(await ledger.explainOrder(moves, agreed(text))).toEqual({
        at: null,
        account: null,
        error: "other",
        text,
      });
    }
    const compute = '{"InstructionError":[4,"ComputationalBudgetExceeded"]}';
    expect(await ledger.explainOrder(moves, agreed(compute))).toMatchObject(step(1, "pay", "other"));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        expect((await ledger.explainOrder(moves, agreed(text))).text).toBe(text);
      }),
      { numRuns: runsOf(50) },
    );
  });
});

/** A node whose runs end in this error. */
const failing = (err: unknown): OddRule =>
  lyingAbout("simulateTransaction", ({ context, value }: { context: object; value: object }) => ({
    context,
    value: { ...value, err },
  }));

test("K11: an error that one of two endpoints invents leaves out nobody, and neither does that of one of three", async ({
  world,
}) => {
  const { buy, usdc, party, nobody, plan, freeze, chain, ledgerOf } = world;
  const order = party({ usdc: 5n * USDC });
  const frozen = party({ usdc: 1n });
  await freeze(frozen.address);
  const invented = failing({ InstructionError: [5, { Custom: 17 }] });
  const named = (name: string, rule?: OddRule) => oddEndpoint(chain, name, rule).option;
  const good = plan(buy(order, "0"), usdc(order, nobody(), USDC));
  const bad = plan(buy(order, "0"), usdc(order, nobody(), USDC), usdc(order, frozen.address, USDC));
  for (const endpoints of [
    [named("liar", invented), named("one")],
    [named("liar", invented), named("one"), named("two")],
  ]) {
    const ledger = ledgerOf(endpoints);
    expect(await ledger.tryOrder(good, await ledger.buildTransaction(good))).toBeNull();
    await ledger.close();
  }
  const two = ledgerOf([named("liar", invented), named("one")]);
  await expect(two.tryOrder(bad, await two.buildTransaction(bad))).rejects.toThrow(EndpointsDifferError);
  const three = ledgerOf([named("liar", invented), named("one"), named("two")]);
  expect(await three.tryOrder(bad, await three.buildTransaction(bad))).toMatchObject(
    step(2, "pay", custom(17)),
  );
  for (const ledger of [two, three]) await ledger.close();
});
