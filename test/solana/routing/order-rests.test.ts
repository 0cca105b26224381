/** What is left at an order goes back: by name and asserting that nothing is left, bare beside dust, redirected, collected. */
import {
  AuthorityType,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { keyOf, land } from "../signed-transaction.ts";
import { RATE, TOKEN_ACCOUNT, type OrderFixture } from "./order-fixture.ts";
import { sharedOrderTest } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const FEE = 10_000n;
const STANDS = { at: { move: 0, step: "allocate" }, error: { custom: 0 } };
const NOT_EMPTY = { error: { custom: 0 } };

/** What a rest gives to whom. */
interface Sums {
  /** Tokens to the sender. */
  readonly tokens?: bigint;
  /** Tokens to the sponsor, for what the rest costs. */
  readonly cost?: bigint;
  /** Lamports to the sender, and to the sponsor. */
  readonly lamports?: bigint;
  readonly toSponsor?: bigint;
  /** Who pays for the sender's account, if it is missing. */
  readonly accountPayer?: Address;
}

/** The legs of a rest, and of a bare one, which names the same and neither closes nor asserts. */
function legs(scene: OrderFixture, order: Party, to: Address, sums: Sums): readonly Move[] {
  const { usdc, sol, sponsor } = scene;
  const { tokens = 0n, cost = 0n, lamports = 0n, toSponsor = 0n, accountPayer = order.address } = sums;
  return [
    ...(tokens > 0n ? [usdc(order, to, tokens, accountPayer)] : []),
    ...(cost > 0n ? [usdc(order, sponsor.address, cost, null)] : []),
    ...(lamports > 0n ? [sol(order, to, lamports)] : []),
    ...(toSponsor > 0n ? [sol(order, sponsor.address, toSponsor)] : []),
  ];
}

const restOfSol = (scene: OrderFixture, order: Party, to: Address, sums: Sums): readonly Move[] => [
  ...legs(scene, order, to, sums),
  scene.empty(order),
];

/** Tokens first, then the closing, which brings the account's lamports to the order. */
function restOfTokens(scene: OrderFixture, order: Party, to: Address, sums: Sums): readonly Move[] {
  const { lamports = 0n, toSponsor = scene.rent(TOKEN_ACCOUNT), ...tokens } = sums;
  return [
    ...legs(scene, order, to, tokens),
    scene.closing(order),
    ...legs(scene, order, to, { lamports, toSponsor }),
    scene.empty(order),
  ];
}

const test = sharedOrderTest.extend("scene", { scope: "file" }, ({ world }) => {
  const { party, must, buy, give, sponsor, chain } = world;
  give(sponsor.address, { usdc: 1n });
  return {
    ...world,
    /** An order that was refused, and holds this. */
    refused: async (funds: Parameters<typeof party>[0]): Promise<Party> => {
      const order = party(funds);
      await must([buy(order, "0", { length: 1 })], order);
      return order;
    },
    wallet: (): Party => {
      const wallet = party({ lamports: 9_000_000n, usdc: 1n });
      chain.advance(SLOTS_TO_FINALITY);
      return wallet;
    },
    loan: 2n * world.rent(),
  };
});

describe("K13: a rest names all that is there and asserts that nothing is left", () => {
  test.for(["go", "no-go"] as const)(
    "C10: after a %s in SOL: dust refuses it whole, a bare leg lands beside dust, and no old bytes land on late money",
    async (kind, { scene }) => {
      const { buy, sol, party, must, carry, signed, send, give, lamports, wallet, sponsor, loan, rent } =
        scene;
      const order = party({ lamports: 5n * SOL });
      const [sender, payee] = [wallet(), wallet()];
      const isGo = kind === "go";
      const lend = sol(sponsor, order.address, loan);
      const decision = isGo
        ? [buy(order, "0"), sol(order, payee.address, SOL), lend]
        : [buy(order, "0", { length: 1 })];
      await must(decision, order);
      const back = isGo ? loan : 0n;
      const kept = isGo ? loan : rent();
      const first = restOfSol(scene, order, sender.address, {
        lamports: (await lamports(order.address)) - back - FEE,
        toSponsor: back + FEE,
      });
      const early = await signed(first, order);
      give(order.address, { lamports: 1n });
      expect(await send(early, first)).toMatchObject({ at: { step: "empty" }, ...NOT_EMPTY });

      // Bare: it takes all above what must stay, whatever comes meanwhile.
      const bare = legs(scene, order, sender.address, {
        lamports: (await lamports(order.address)) - kept - FEE,
        toSponsor: FEE,
      });
      const late = await signed(bare, order);
      give(order.address, { lamports: 1n });
      expect(await send(late, bare)).toBeNull();
      expect(await lamports(order.address)).toBe(kept + 1n);

      const remainder = isGo
        ? restOfSol(scene, order, sender.address, { toSponsor: loan + 1n })
        : restOfSol(scene, order, sender.address, { lamports: kept + 1n - FEE, toSponsor: FEE });
      const [one, two] = [await signed(remainder, order), await signed(remainder, order)];
      expect(await send(one, remainder)).toBeNull();
      expect(await lamports(order.address)).toBe(0n);
      give(order.address, { lamports: kept + 77n });
      expect(await send(two, remainder)).toMatchObject(NOT_EMPTY);
      const latest = { lamports: kept + 77n - FEE, toSponsor: FEE };
      await must(restOfSol(scene, order, sender.address, latest), order);
      expect(await lamports(order.address)).toBe(0n);
      expect((await carry(remainder, order)).landed).not.toBeNull();
    },
  );

  test("without the assertion a second copy's bytes take the loan once more, out of the sender's late money", async ({
    scene,
  }) => {
    const { sol, party, signed, send, give, sponsor, loan, lamports } = scene;
    const order = party({ lamports: loan });
    const moves = [sol(order, sponsor.address, loan)];
    const [one, two] = [await signed(moves, order), await signed(moves, order)];
    expect(await send(one, moves)).toBeNull();
    give(order.address, { lamports: loan });
    expect(await send(two, moves)).toBeNull();
    expect(await lamports(order.address)).toBe(0n);
  });

  test.for([
    ["nothing beside", 0n, 0n],
    ["a lamport on the token account", 1n, 0n],
    ["0.5 SOL there", SOL / 2n, 0n],
    ["0.5 SOL there and 0.2 SOL at the order", SOL / 2n, SOL / 5n],
  ] as const)(
    "tokens with %s: the account's rent is the sponsor's, all else the sender's",
    async ([, beside, on], { scene }) => {
      const { refused, wallet, give, ataOf, must, units, lamports, account, sponsor, rent } = scene;
      const order = await refused({ usdc: 3n * USDC });
      const sender = wallet();
      if (beside > 0n) give(ataOf(order.address), { lamports: beside });
      if (on > 0n) give(order.address, { lamports: on });
      const before = await lamports(sponsor.address);
      const sums = { tokens: 3n * USDC, lamports: beside + on };
      await must(restOfTokens(scene, order, sender.address, sums), order);
      expect(await units(sender.address)).toBe(1n + 3n * USDC);
      expect(await lamports(sender.address)).toBe(9_000_000n + beside + on);
      const gained = (await lamports(sponsor.address)) - before;
      expect(rent(TOKEN_ACCOUNT) - gained).toBeGreaterThanOrEqual(FEE);
      expect(rent(TOKEN_ACCOUNT) - gained).toBeLessThan(2n * FEE);
      expect([await account(order.address), await account(ataOf(order.address))]).toEqual([null, null]);
    },
  );

  test("a sender without an account gets one of the sponsor, for a cost in tokens", async ({ scene }) => {
    const { refused, nobody, must, units, sponsor } = scene;
    const order = await refused({ usdc: 3n * USDC });
    const [sender, before] = [nobody(), await units(sponsor.address)];
    const sums = { tokens: 2_750_000n, cost: 250_000n, accountPayer: sponsor.address };
    const { size } = await must(restOfTokens(scene, order, sender, sums), order);
    expect([await units(sender), (await units(sponsor.address)) - before]).toEqual([2_750_000n, 250_000n]);
    expect(size).toBeLessThanOrEqual(682);
  });

  test("a base unit before it refuses it at the closing; bare lands beside more, and the next asserts", async ({
    scene,
  }) => {
    const { refused, wallet, give, carry, must, signed, send, ataOf, account } = scene;
    const order = await refused({ usdc: 4n * USDC });
    const sender = wallet();
    const first = restOfTokens(scene, order, sender.address, { tokens: 4n * USDC });
    give(order.address, { usdc: 1n });
    expect((await carry(first, order)).landed).toMatchObject({
      at: { step: "close" },
      error: { custom: 11 },
    });
    const bare = legs(scene, order, sender.address, { tokens: 4n * USDC + 1n });
    const early = await signed(bare, order);
    give(order.address, { usdc: 1n });
    expect(await send(early, bare)).toBeNull();
    await must(restOfTokens(scene, order, sender.address, { tokens: 1n }), order);
    expect(await account(ataOf(order.address))).toBeNull();
  });

  test("C10: a second copy's rest of a sum that came late once more is the sender's own refund, or refused", async ({
    scene,
  }) => {
    const { refused, wallet, give, signed, send, ataOf, units } = scene;
    const sender = wallet();
    const withSol = await refused({ usdc: 3n * USDC });
    give(ataOf(withSol.address), { lamports: SOL / 2n });
    const more = restOfTokens(scene, withSol, sender.address, { tokens: 3n * USDC, lamports: SOL / 2n });
    const plain = await refused({ usdc: 3n * USDC });
    const same = restOfTokens(scene, plain, sender.address, { tokens: 3n * USDC });
    for (const [order, moves, lands] of [
      [withSol, more, false],
      [plain, same, true],
    ] as const) {
      const [one, two] = [await signed(moves, order), await signed(moves, order)];
      expect(await send(one, moves)).toBeNull();
      give(order.address, { usdc: 3n * USDC });
      const before = await units(sender.address);
      expect((await send(two, moves)) === null).toBe(lands);
      expect((await units(sender.address)) - before).toBe(lands ? 3n * USDC : 0n);
    }
  });

  test("bytes that close nothing land on late money as a refund of what they name, and the next rest sends the others", async ({
    scene,
  }) => {
    const { refused, wallet, give, signed, send, must, units, rich, usdc } = scene;
    const order = await refused({ usdc: 7n * USDC });
    const sender = wallet();
    const whole = restOfTokens(scene, order, sender.address, { tokens: 7n * USDC });
    const bare = legs(scene, order, sender.address, { tokens: 7n * USDC });
    const [one, old, oldBare] = [
      await signed(whole, order),
      await signed(whole, order),
      await signed(bare, order),
    ];
    expect(await send(one, whole)).toBeNull();
    await must([usdc(rich, order.address, 20n * USDC)], rich);
    expect(await send(old, whole)).toMatchObject({ at: { step: "close" }, error: { custom: 11 } });
    expect(await send(oldBare, bare)).toBeNull();
    give(order.address, { usdc: 1n });
    await must(restOfTokens(scene, order, sender.address, { tokens: 13n * USDC + 1n }), order);
    expect(await units(sender.address)).toBe(2n + 27n * USDC);
  });

  test("of an account that is empty it is a closing and an assertion; of tokens and SOL together one", async ({
    scene,
  }) => {
    const {
      buy,
      sol,
      party,
      must,
      rich,
      usdc,
      units,
      lamports,
      nobody,
      sponsor,
      rent,
      loan,
      ataOf,
      refused,
    } = scene;
    const paid = await refused({ usdc: 0n });
    const { size } = await must(restOfTokens(scene, paid, nobody(), {}), paid);
    expect(size).toBeLessThanOrEqual(461);
    const order = party({ lamports: 1_300_000_000n });
    const lend = sol(sponsor, order.address, loan);
    await must([buy(order, "0"), sol(order, party({ lamports: SOL }).address, SOL), lend], order);
    await must([usdc(rich, order.address, 3n * USDC)], rich);
    const sender = nobody();
    const held = (await lamports(order.address)) + (await lamports(ataOf(order.address)));
    const toSponsor = rent(TOKEN_ACCOUNT) + loan + FEE;
    const sums = { tokens: 3n * USDC, lamports: held - toSponsor, toSponsor, accountPayer: sponsor.address };
    const both = await must(restOfTokens(scene, order, sender, sums), order);
    expect(both.size).toBeLessThanOrEqual(633);
    expect([await units(sender), await lamports(sender), await lamports(order.address)]).toEqual([
      3n * USDC,
      held - toSponsor,
      0n,
    ]);
  });

  test("C34: a rent that fell to a tenth gives nobody what is the sponsor's: the account's rent of the order's day", async ({
    scene,
  }) => {
    const { refused, wallet, must, reprice, lamports, rent } = scene;
    const order = await refused({ usdc: 5n * USDC });
    const sender = wallet();
    const toSponsor = rent(TOKEN_ACCOUNT);
    try {
      reprice(RATE / 10n);
      await must(restOfTokens(scene, order, sender.address, { tokens: 5n * USDC, toSponsor }), order);
      expect(await lamports(sender.address)).toBe(9_000_000n);
    } finally {
      reprice(RATE);
    }
  });
});

describe("C26: what the sender cannot be given goes to the sponsor, so that loan and rents come back", () => {
  test("a base unit after a go, and a lamport beside, of a sender without a token account and without SOL", async ({
    scene,
  }) => {
    const { buy, usdc, must, party, nobody, give, ataOf, account, units, carry, lamports, sponsor, rent } =
      scene;
    const order = party({ usdc: 5n * USDC });
    const [payee, sender] = [party({ usdc: 1n }), nobody()];
    await must([buy(order, "0"), usdc(order, payee.address, 5n * USDC)], order);
    give(order.address, { usdc: 1n });
    give(ataOf(order.address), { lamports: 1n });
    const before = [await units(sponsor.address), await lamports(sponsor.address)] as const;
    const rent165 = rent(TOKEN_ACCOUNT);
    const toSender = restOfTokens(scene, order, sender, { cost: 1n, lamports: 1n });
    expect((await carry(toSender, order)).landed).toMatchObject({ account: sender, error: "rent" });
    await must(restOfTokens(scene, order, sender, { cost: 1n, toSponsor: rent165 + 1n }), order);
    expect((await units(sponsor.address)) - before[0]).toBe(1n);
    expect((await lamports(sponsor.address)) - before[1]).toBeGreaterThan(rent165 - 4n * FEE);
    expect([await account(order.address), await account(ataOf(order.address))]).toEqual([null, null]);
  });

  test("a lamport after SOL that was sent with all there was", async ({ scene }) => {
    const { buy, sol, party, nobody, must, carry, give, sponsor, loan, lamports } = scene;
    const order = party({ lamports: 5n * SOL });
    const [payee, sender] = [party({ lamports: SOL }), nobody()];
    const lend = sol(sponsor, order.address, loan);
    await must([buy(order, "0"), sol(order, payee.address, 5n * SOL), lend], order);
    give(order.address, { lamports: 1n });
    const toSender = restOfSol(scene, order, sender, { lamports: 1n, toSponsor: loan });
    expect((await carry(toSender, order)).landed).toMatchObject({ account: sender, error: "rent" });
    await must(restOfSol(scene, order, sender, { toSponsor: loan + 1n }), order);
    expect(await lamports(order.address)).toBe(0n);
  });
});

describe("C27: a sender who closes his account between reading and landing", () => {
  /** He gives his tokens away and closes it. */
  async function closes(scene: OrderFixture, sender: Party): Promise<void> {
    const { usdc, rich, units, must, ata } = scene;
    await must([usdc(sender, rich.address, await units(sender.address))], sender);
    const instruction = createCloseAccountInstruction(ata(sender.address), keyOf(sender), keyOf(sender));
    await land(scene, { signers: [sender], instructions: [instruction] });
  }

  test("fails at the creation, which the order cannot pay; read again the sponsor pays, and it is withheld", async ({
    scene,
  }) => {
    const { refused, wallet, signed, send, must, units, sponsor } = scene;
    const order = await refused({ usdc: 5n * USDC });
    const sender = wallet();
    const asThere = restOfTokens(scene, order, sender.address, { tokens: 5n * USDC });
    const early = await signed(asThere, order);
    await closes(scene, sender);
    expect(await send(early, asThere)).toMatchObject({
      at: { move: 0, step: "create" },
      error: { custom: 1 },
    });
    const withheld = { tokens: 4n * USDC, cost: USDC, accountPayer: sponsor.address };
    await must(restOfTokens(scene, order, sender.address, withheld), order);
    expect(await units(sender.address)).toBe(4n * USDC);
  });

  test("beside the sponsor's loan: bare takes all above the loan with it, or the creation would spend the loan", async ({
    scene,
  }) => {
    const { buy, sol, party, must, give, wallet, ledger, plan, sponsor, loan, rent, rich, usdc } = scene;
    const order = party({ lamports: SOL });
    const lend = sol(sponsor, order.address, loan);
    await must([buy(order, "0"), sol(order, party({ lamports: SOL }).address, SOL), lend], order);
    await must([usdc(rich, order.address, 5n * USDC)], rich);
    give(order.address, { lamports: rent(TOKEN_ACCOUNT) });
    const sender = wallet();
    const tokens = legs(scene, order, sender.address, { tokens: 5n * USDC });
    const all = legs(scene, order, sender.address, { tokens: 5n * USDC, lamports: rent(TOKEN_ACCOUNT) });
    const trial = async (moves: readonly Move[]) =>
      await ledger.tryOrder(plan(...moves), await ledger.buildTransaction(plan(...moves)));
    expect([await trial(tokens), await trial(all)]).toEqual([null, null]);
    await closes(scene, sender);
    expect(await trial(tokens)).toBeNull();
    expect(await trial(all)).toMatchObject({ at: { move: 1, step: "pay" }, error: { custom: 1 } });
  });
});

describe("K12: a redirect", () => {
  test("C11, C33: pays at most what was approved, once, whatever comes in between; the others' money is the sender's", async ({
    scene,
  }) => {
    const { buy, usdc, must, refused, party, wallet, give, signed, send, units, markersOf } = scene;
    const order = await refused({ usdc: 8n * USDC });
    const other = party({ usdc: 1n });
    const act = [buy(order, "r0"), usdc(order, other.address, 8n * USDC)];
    const [one, two] = [await signed(act, order), await signed(act, order)];
    give(order.address, { usdc: 5n * USDC });
    expect(await send(one, act)).toBeNull();
    give(order.address, { usdc: 3n * USDC });
    expect(await send(two, act)).toMatchObject(STANDS);
    expect([await units(other.address), await units(order.address)]).toEqual([1n + 8n * USDC, 8n * USDC]);
    expect(await markersOf(order, "r0", "r1")).toEqual([0, null]);
    const sender = wallet();
    await must(restOfTokens(scene, order, sender.address, { tokens: 8n * USDC }), order);
    expect(await units(sender.address)).toBe(1n + 8n * USDC);
  });

  test("without its marker a second copy's bytes give another payer's money away", async ({ scene }) => {
    const { usdc, refused, party, give, signed, send, units } = scene;
    const order = await refused({ usdc: 8n * USDC });
    const other = party({ usdc: 1n });
    const act = [usdc(order, other.address, 8n * USDC)];
    const [one, two] = [await signed(act, order), await signed(act, order)];
    expect(await send(one, act)).toBeNull();
    give(order.address, { usdc: 8n * USDC });
    expect(await send(two, act)).toBeNull();
    expect(await units(other.address)).toBe(1n + 16n * USDC);
  });

  test("of SOL: the whole sum fails by a lamport of dust at the order's own index; less than approved lands, once", async ({
    scene,
  }) => {
    const { buy, refused, party, give, carry, must, rent, lamports } = scene;
    const order = await refused({ lamports: 8_000_000n });
    const other = party({ lamports: SOL });
    const act = (sum: bigint) => [
      buy(order, "r0"),
      ...legs(scene, order, other.address, { lamports: sum - rent() - FEE, toSponsor: rent() + FEE }),
    ];
    give(order.address, { lamports: 1n });
    const whole = await carry(act(8_000_000n), order);
    expect(whole.landed).toMatchObject({ at: null, account: order.address, error: "rent" });
    await must(act(8_000_000n - rent()), order);
    give(order.address, { lamports: 8_000_000n });
    expect((await carry(act(8_000_000n), order)).landed).toMatchObject(STANDS);
    expect(await lamports(other.address)).toBe(SOL + 8_000_000n - 2n * rent() - FEE);
  });
});

describe("collecting", () => {
  /** A token account of the order's that is not the associated one; with `hand` a stranger may close it. */
  async function stray(scene: OrderFixture, order: Party, seed: string, hand = false): Promise<Address> {
    const { rich, rent, mints, ata } = scene;
    const [payer, mint] = [keyOf(rich), new PublicKey(mints.USDC)];
    const account = await PublicKey.createWithSeed(payer, seed, TOKEN_PROGRAM_ID);
    const { CloseAccount, AccountOwner } = AuthorityType;
    await land(scene, {
      signers: [rich],
      instructions: [
        SystemProgram.createAccountWithSeed({
          fromPubkey: payer,
          basePubkey: payer,
          seed,
          newAccountPubkey: account,
          lamports: Number(rent(TOKEN_ACCOUNT)) + 200_000_000,
          space: TOKEN_ACCOUNT,
          programId: TOKEN_PROGRAM_ID,
        }),
        createInitializeAccount3Instruction(account, mint, hand ? payer : keyOf(order)),
        createTransferCheckedInstruction(ata(rich.address), mint, account, payer, 3n * USDC, 6),
        ...(hand
          ? [
              createSetAuthorityInstruction(account, payer, CloseAccount, payer),
              createSetAuthorityInstruction(account, payer, AccountOwner, keyOf(order)),
            ]
          : []),
      ],
    });
    return account.toBase58() as Address;
  }

  /** All of it, to the order's associated account. */
  const move = (
    scene: OrderFixture,
    order: Party,
    fromAccount: Address,
    payer: Address | null = null,
  ): Move => ({
    does: "transfer",
    mint: scene.mints.USDC,
    decimals: 6,
    from: order.address,
    fromAccount,
    to: order.address,
    amount: 3n * USDC,
    accountPayer: payer,
  });
  const closingOf = (scene: OrderFixture, { address }: Party, account: Address): Move => ({
    does: "close",
    mint: scene.mints.USDC,
    owner: address,
    to: address,
    account,
  });

  test("what lies beside the order's account comes there, and closes where the order may; old bytes do no harm", async ({
    scene,
  }) => {
    const { refused, wallet, must, carry, signed, send, units, lamports, rent } = scene;
    const order = await refused({ usdc: USDC });
    const [own, handed] = [await stray(scene, order, "c1"), await stray(scene, order, "c2", true)];
    const collect = [move(scene, order, own), closingOf(scene, order, own)];
    const [one, two] = [await signed(collect, order), await signed(collect, order)];
    expect(await send(one, collect)).toBeNull();
    expect(await send(two, collect)).not.toBeNull();
    const cannotClose = [move(scene, order, handed), closingOf(scene, order, handed)];
    expect((await carry(cannotClose, order)).landed).toMatchObject({ at: { move: 1, step: "close" } });
    await must([move(scene, order, handed)], order);
    expect(await units(order.address)).toBe(7n * USDC);
    const [sender, above] = [wallet(), rent(TOKEN_ACCOUNT) + 200_000_000n];
    const sums = { tokens: 7n * USDC, lamports: above };
    await must(restOfTokens(scene, order, sender.address, sums), order);
    expect([await units(sender.address), await lamports(sender.address)]).toEqual([
      1n + 7n * USDC,
      9_000_000n + above,
    ]);
  });

  test("makes the order's account where only the other was paid", async ({ scene }) => {
    const { refused, must, carry, units, sponsor } = scene;
    const order = await refused({});
    const account = await stray(scene, order, "c3");
    const close = closingOf(scene, order, account);
    expect((await carry([move(scene, order, account), close], order)).landed).toMatchObject({
      at: { move: 0, step: "pay" },
      error: "missing_account",
    });
    await must([move(scene, order, account, sponsor.address), close], order);
    expect(await units(order.address)).toBe(3n * USDC);
  });
});
