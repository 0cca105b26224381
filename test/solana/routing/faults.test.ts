/** Why a transaction of ours fails: every class of fault from a transaction that really fails on the chain. */
import { agreed } from "../../../src/ledger/agreed.ts";
import {
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createSetAuthorityInstruction,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, SYSVAR_RENT_PUBKEY } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Move, TransactionFault } from "../../../src/ledger/routing.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { keyOf, land } from "../signed-transaction.ts";
import type { Outcome, Party, RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;

/** What accounts cost. */
interface Scene extends RoutingFixture {
  readonly rentOfEmpty: bigint;
  readonly rentOfToken: bigint;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  rentOfEmpty: await world.ledger.rentMinimum(0),
  rentOfToken: await world.ledger.rentMinimum(165),
}));

/** Before it was sent and after it landed, the same was said. */
function expectFault(outcome: Outcome, kind: TransactionFault["kind"], move: number | null): void {
  expect(outcome.tried).toMatchObject({ kind, move });
  expect(outcome.landed).toEqual(outcome.tried);
}

async function freeze(scene: Scene, owner: Address): Promise<void> {
  const authority = new PublicKey(scene.chain.faucet.address);
  const mint = new PublicKey(scene.mints.USDC);
  await scene.asIssuer([createFreezeAccountInstruction(scene.ata(owner), mint, authority)]);
}

/** A recipient who opened a token account and handed it over to somebody else. */
async function hijacked(scene: Scene): Promise<Party> {
  const [victim, thief] = [scene.party({ lamports: SOL }), scene.nobody()];
  const [key, account] = [keyOf(victim), scene.ata(victim.address)];
  await land(scene, {
    signers: [victim],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(key, account, key, new PublicKey(scene.mints.USDC)),
      createSetAuthorityInstruction(account, key, AuthorityType.AccountOwner, new PublicKey(thief)),
    ],
  });
  return victim;
}

/** A recipient who had a token account when it was priced and closed it for its rent. */
async function closed(scene: Scene): Promise<Party> {
  const party = scene.party({ lamports: SOL });
  const [key, account] = [keyOf(party), scene.ata(party.address)];
  await land(scene, {
    signers: [party],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(key, account, key, new PublicKey(scene.mints.USDC)),
      createCloseAccountInstruction(account, key, key),
    ],
  });
  return party;
}

describe("a payee", () => {
  test("P17: whose token account is frozen fails, at whatever place, and pays nobody", async ({ scene }) => {
    const { plan, mark, usdc, party, nobody, carryOut, holds } = scene;
    const frozen = party({ usdc: 1n });
    await freeze(scene, frozen.address);
    for (const place of [0, 1, 2]) {
      const deposit = party({ usdc: 10n * USDC });
      const payees = [nobody(), nobody()].toSpliced(place, 0, frozen.address);
      const outcome = await carryOut(
        plan(mark(deposit), ...payees.map((to) => usdc(deposit, to, USDC))),
        deposit,
      );
      expect(outcome.tried).toMatchObject({ kind: "payee", move: place + 1 });
      // The error of the first transfer does not tell which end is frozen; nothing wrong is said of it.
      expect(outcome.landed).toMatchObject({ kind: place === 0 ? "other" : "payee", move: place + 1 });
      expect(await holds(deposit.address)).toEqual([0n, 10n * USDC]);
    }
  });

  test("P17: whose token account was handed over to a thief fails at once, and the thief is not paid", async ({
    scene,
  }) => {
    const { plan, mark, usdc, party, nobody, carryOut, holds } = scene;
    const deposit = party({ usdc: 10n * USDC });
    const victim = await hijacked(scene);
    for (const accountPayer of [scene.sponsor.address, deposit.address]) {
      const payout = plan(
        mark(deposit),
        usdc(deposit, nobody(), USDC),
        usdc(deposit, victim.address, USDC, accountPayer),
      );
      expectFault(await carryOut(payout, deposit), "payee", 2);
    }
    expect(await holds(deposit.address)).toEqual([0n, 10n * USDC]);
  });

  test("P16: who closed the token account after it was priced fails alone, at the cost of nobody", async ({
    scene,
  }) => {
    const { rentOfToken } = scene;
    const { plan, mark, usdc, party, nobody, carryOut, holds, sponsor } = scene;
    const deposit = party({ usdc: 10n * USDC });
    const [priced, harvester] = [nobody(), await closed(scene)];
    const present = party({ usdc: 1n });
    const spent = (await holds(sponsor.address))[0];
    const legs = {
      priced: usdc(deposit, priced, USDC),
      present: usdc(deposit, present.address, USDC, deposit.address),
      harvester: usdc(deposit, harvester.address, USDC, deposit.address),
    };
    const all = plan(mark(deposit), legs.present, legs.harvester, legs.priced);
    const failed = await carryOut(all, deposit);
    expectFault(failed, "payee", 2);
    const others = await carryOut(plan(mark(deposit), legs.present, legs.priced), deposit);
    expect(others.landed).toBeNull();
    expect(await holds(deposit.address)).toEqual([0n, 8n * USDC]);
    const bids = failed.priorityFee + others.priorityFee;
    // Two fees of two signatures and their bids, one marker, one token account.
    expect(spent - (await holds(sponsor.address))[0]).toBe(20_000n + bids + 2n * rentOfToken);
  });

  test("P16: who closed it fails alone too when somebody gave the deposit address lamports to pay with", async ({
    scene,
  }) => {
    const { rentOfToken, rentOfEmpty } = scene;
    const { plan, mark, usdc, party, carryOut } = scene;
    // Enough for one account, too little for what must then be left.
    const deposit = party({ usdc: 10n * USDC, lamports: rentOfToken + rentOfEmpty - 1n });
    const [present, harvester, another] = [party({ usdc: 1n }), await closed(scene), await closed(scene)];
    const leg = (to: Party): Move => usdc(deposit, to.address, USDC, deposit.address);
    const several = await carryOut(plan(mark(deposit), leg(present), leg(harvester)), deposit);
    expect(several.tried).toMatchObject({ kind: "payee", move: 2 });
    expect(several.tried?.error).toContain("InsufficientFundsForRent");
    // The chain names the deposit address, not the payee; it is one of those that it was to pay for.
    expect(several.landed).toMatchObject({ kind: "payee", move: null });
    expectFault(await carryOut(plan(mark(deposit), leg(harvester)), deposit), "payee", 1);
    const both = await carryOut(plan(mark(deposit), leg(harvester), leg(another)), deposit);
    expectFault(both, "payee", 2);
    expect((await carryOut(plan(mark(deposit), leg(present)), deposit)).landed).toBeNull();
  });

  test("without token account, where nobody creates one", async ({ scene }) => {
    const { plan, mark, usdc, party, nobody, carryOut } = scene;
    const deposit = party({ usdc: 10n * USDC });
    const first = plan(mark(deposit), usdc(deposit, nobody(), USDC, null));
    const outcome = await carryOut(first, deposit);
    expect(outcome.tried).toMatchObject({ kind: "payee", move: 1 });
    expect(outcome.landed).toMatchObject({ kind: "other", move: 1 });
    const second = plan(
      mark(deposit),
      usdc(deposit, party({ usdc: 1n }).address, USDC),
      usdc(deposit, nobody(), USDC, null),
    );
    expectFault(await carryOut(second, deposit), "payee", 2);
  });

  test("who would get SOL below the rent minimum", async ({ scene }) => {
    const { rentOfEmpty } = scene;
    const { plan, mark, sol, party, nobody, carryOut } = scene;
    const deposit = party({ lamports: 10n * SOL });
    const small = plan(mark(deposit), sol(deposit, nobody(), SOL), sol(deposit, nobody(), rentOfEmpty - 1n));
    expectFault(await carryOut(small, deposit), "payee", 2);
    const enough = plan(mark(deposit), sol(deposit, nobody(), rentOfEmpty));
    expect((await carryOut(enough, deposit)).landed).toBeNull();
  });

  test("who is an account of the runtime's own", async ({ scene }) => {
    const { plan, mark, sol, party, carryOut } = scene;
    const deposit = party({ lamports: 10n * SOL });
    const payout = plan(mark(deposit), sol(deposit, SYSVAR_RENT_PUBKEY.toBase58() as Address, SOL));
    expectFault(await carryOut(payout, deposit), "payee", 1);
  });

  test("to whom a swept marker's rent would be too little to exist", async ({ scene }) => {
    const { rentOfEmpty } = scene;
    const { plan, mark, sol, party, nobody, carryOut, chain } = scene;
    const deposit = party({ lamports: 10n * SOL });
    await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
    // So that an empty account costs more than a marker did.
    chain.setRent(3n * (rentOfEmpty / 128n));
    try {
      expectFault(await carryOut(plan(scene.unmark(deposit, "payout", nobody())), deposit), "payee", 0);
    } finally {
      chain.setRent(rentOfEmpty / 128n);
    }
  });
});

describe("a source", () => {
  test("with too little SOL, or with too little left", async ({ scene }) => {
    const { plan, mark, sol, party, nobody, carryOut } = scene;
    const deposit = party({ lamports: 10n * SOL });
    const legs = [sol(deposit, nobody(), 6n * SOL), sol(deposit, nobody(), 4n * SOL + 1n)];
    expectFault(await carryOut(plan(mark(deposit), ...legs), deposit), "source", 2);
    const tooMuch = plan(mark(deposit), sol(deposit, nobody(), SOL), sol(deposit, nobody(), 9n * SOL - 1n));
    const outcome = await carryOut(tooMuch, deposit);
    expectFault(outcome, "source", 2);
    expect(outcome.tried?.error).toContain("InsufficientFundsForRent");
  });

  test("that is lent its rent minimum is still the source where too little is left", async ({ scene }) => {
    const { rentOfEmpty } = scene;
    const { plan, mark, sol, party, nobody, carryOut, sponsor } = scene;
    const deposit = party({ lamports: 10n * SOL });
    const loan = (amount: bigint): Move => sol(sponsor, deposit.address, amount);
    const pay = sol(deposit, nobody(), 10n * SOL);
    const short = plan(mark(deposit), loan(rentOfEmpty - 1n), pay);
    expectFault(await carryOut(short, deposit), "source", 2);
    expect((await carryOut(plan(mark(deposit), loan(rentOfEmpty), pay), deposit)).landed).toBeNull();
  });

  test("with too few tokens, with none, or without token account", async ({ scene }) => {
    const { plan, mark, usdc, party, nobody, carryOut } = scene;
    const poor = party({ usdc: 2n * USDC - 1n });
    const legs = [usdc(poor, nobody(), USDC), usdc(poor, nobody(), USDC)];
    expectFault(await carryOut(plan(mark(poor), ...legs), poor), "source", 2);
    const without = party();
    expectFault(await carryOut(plan(mark(without), usdc(without, nobody(), 1n)), without), "source", 1);
    const unpriced = plan(mark(without), usdc(without, nobody(), 1n, null));
    expect((await carryOut(unpriced, without)).tried).toMatchObject({ kind: "source", move: 1 });
  });

  test("whose token account is frozen: the payee is not blamed", async ({ scene }) => {
    const { plan, mark, usdc, party, nobody, carryOut } = scene;
    const deposit = party({ usdc: 10n * USDC });
    await freeze(scene, deposit.address);
    const outcome = await carryOut(plan(mark(deposit), usdc(deposit, nobody(), USDC)), deposit);
    expect(outcome.tried).toMatchObject({ kind: "source", move: 1 });
    expect(outcome.landed).toMatchObject({ kind: "other", move: 1 });
  });

  test("whose token account belongs to somebody else", async ({ scene }) => {
    const { plan, mark, usdc, nobody, carryOut } = scene;
    const victim = await hijacked(scene);
    const outcome = await carryOut(plan(mark(victim), usdc(victim, nobody(), 1n)), victim);
    expectFault(outcome, "source", 1);
  });

  test("that is a nonce account or another program's, whose lamports no transfer can move", async ({
    scene,
  }) => {
    const { rentOfToken } = scene;
    const { plan, mark, sol, nobody, carryOut, sponsor } = scene;
    const nonce = Keypair.fromSeed(new Uint8Array(32).fill(9));
    await land(scene, {
      signers: [sponsor, nonce],
      instructions: SystemProgram.createNonceAccount({
        fromPubkey: keyOf(sponsor),
        noncePubkey: nonce.publicKey,
        authorizedPubkey: keyOf(sponsor),
        lamports: Number(rentOfToken) * 10,
      }).instructions,
    });
    const assigned = Keypair.fromSeed(new Uint8Array(32).fill(10));
    await land(scene, {
      signers: [sponsor, assigned],
      instructions: [
        SystemProgram.createAccount({
          fromPubkey: keyOf(sponsor),
          newAccountPubkey: assigned.publicKey,
          lamports: Number(SOL),
          space: 0,
          programId: new PublicKey(scene.mints.USDC),
        }),
      ],
    });
    for (const { secretKey } of [nonce, assigned]) {
      const signer = keypairSigner(secretKey);
      expectFault(await carryOut(plan(sol(signer, nobody(), SOL / 100n)), signer), "source", 0);
      const marking: Move = { ...mark(sponsor, signer.address.slice(0, 32)), payer: signer.address };
      expectFault(await carryOut(plan(marking), signer), "fee_payer", 0);
    }
  });

  test("P15: dust in a token account that is to be closed, or an account that is closed already", async ({
    scene,
  }) => {
    const { plan, usdc, party, carryOut, sponsor, mints, chain, holds } = scene;
    const deposit = party({ usdc: 10n * USDC });
    const close = { does: "close", mint: mints.USDC, owner: deposit.address, to: sponsor.address } as const;
    const sweep = plan(usdc(deposit, sponsor.address, 10n * USDC), close);
    chain.fund(deposit.address, { usdc: 1n });
    chain.advance(2);
    expectFault(await carryOut(sweep, deposit), "source", 1);
    const all = plan(usdc(deposit, sponsor.address, 10n * USDC + 1n), close);
    expect((await carryOut(all, deposit)).landed).toBeNull();
    expect(await holds(deposit.address)).toEqual([0n, 0n]);
    expectFault(await carryOut(plan(close), deposit), "source", 0);
  });

  test("that is to close a marker which was never made, was closed before, or holds nothing but sent lamports", async ({
    scene,
  }) => {
    const { plan, mark, unmark, sol, party, nobody, carryOut, chain, ledger } = scene;
    const deposit = party({ lamports: 10n * SOL });
    expectFault(await carryOut(plan(unmark(deposit)), deposit), "source", 0);
    chain.fund(ledger.markerAddress(deposit.address, "payout"), { lamports: SOL });
    expectFault(await carryOut(plan(unmark(deposit)), deposit), "source", 0);
    await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
    expect((await carryOut(plan(unmark(deposit)), deposit)).landed).toBeNull();
    expectFault(await carryOut(plan(unmark(deposit)), deposit), "source", 0);
  });
});

describe("P31: a fee payer", () => {
  /** The plan as somebody else than the sponsor would pay for it, tried and, where it lands at all, landed. */
  async function paidBy(
    scene: Scene,
    payer: Party,
    moves: readonly Move[],
    deposit: Party,
  ): Promise<Outcome> {
    return await scene.carryOut({ feePayer: payer.address, moves }, payer, deposit);
  }
  const markFor = (deposit: Party, payer: Party): Move => ({
    does: "mark",
    base: deposit.address,
    seed: "payout",
    payer: payer.address,
  });

  test("that does not exist, or cannot pay the fee, is told before anything is sent: nothing lands", async ({
    scene,
  }) => {
    const { rentOfEmpty } = scene;
    const { ledger, party, sol, nobody } = scene;
    const deposit = party({ lamports: SOL });
    for (const [payer, error] of [
      [party(), '"AccountNotFound"'],
      [party({ lamports: rentOfEmpty + 9_999n }), '{"InsufficientFundsForRent":{"account_index":0}}'],
    ] as const) {
      const plan = { feePayer: payer.address, moves: [sol(deposit, nobody(), SOL / 2n)] };
      const fault = await ledger.tryTransaction(plan, await ledger.buildTransaction(plan));
      expect(fault).toEqual({ kind: "fee_payer", move: null, error });
    }
  });

  test("that cannot pay the marker, a priced token account, or what it lends", async ({ scene }) => {
    const { rentOfToken, rentOfEmpty } = scene;
    const { party, sol, usdc, nobody } = scene;
    const fee = 10_000n;
    const deposit = party({ lamports: SOL, usdc: 10n * USDC });
    const poor = (lamports: bigint): Party => party({ lamports });
    const forMark = poor(rentOfToken + fee - 1n);
    const forPlan = poor(2n * rentOfToken + fee - 1n);
    const forToken = poor(rentOfToken + rentOfEmpty + fee);
    const forLoan = poor(rentOfToken + rentOfEmpty + fee);
    expectFault(await paidBy(scene, forMark, [markFor(deposit, forMark)], deposit), "fee_payer", 0);
    const replacing: Move = {
      does: "replace",
      base: deposit.address,
      payer: forPlan.address,
      seed: "payout",
      plan: "plan",
    };
    expectFault(await paidBy(scene, forPlan, [replacing], deposit), "fee_payer", 0);
    const priced = [markFor(deposit, forToken), usdc(deposit, nobody(), USDC, forToken.address)];
    expectFault(await paidBy(scene, forToken, priced, deposit), "fee_payer", 1);
    const loan = [markFor(deposit, forLoan), sol(forLoan, deposit.address, 2n * rentOfEmpty)];
    expectFault(await paidBy(scene, forLoan, loan, deposit), "fee_payer", 1);
  });

  test("that is left with less than the rent minimum", async ({ scene }) => {
    const { rentOfToken, rentOfEmpty } = scene;
    const { party } = scene;
    const deposit = party({ lamports: SOL });
    const payer = party({ lamports: rentOfToken + rentOfEmpty + 9_999n });
    expectFault(await paidBy(scene, payer, [markFor(deposit, payer)], deposit), "fee_payer", null);
  });

  test("a sponsor of marks who does not pay the fee runs dry like one who does", async ({ scene }) => {
    const { rentOfToken, rentOfEmpty } = scene;
    const { party, plan, carryOut, usdc, nobody } = scene;
    const deposit = party({ usdc: 10n * USDC });
    const dry = party({ lamports: rentOfToken });
    expectFault(await carryOut(plan(markFor(deposit, dry), markFor(dry, dry)), deposit, dry), "fee_payer", 1);
    const low = party({ lamports: rentOfToken + rentOfEmpty - 1n });
    expectFault(await carryOut(plan(markFor(deposit, low)), deposit, low), "fee_payer", null);
    const accounts = party({ lamports: rentOfToken + 1n });
    const leg = usdc(deposit, nobody(), USDC, accounts.address);
    expectFault(await carryOut(plan(leg), deposit, accounts), "fee_payer", null);
  });
});

describe("the bytes themselves", () => {
  test("whatever else the chain says is other, whatever the text: it never throws and blames nobody", async ({
    scene,
  }) => {
    const { ledger, plan, mark, sol, usdc, party, nobody } = scene;
    const deposit = party();
    const payout = plan(mark(deposit), sol(deposit, nobody(), SOL), usdc(deposit, nobody(), USDC));
    const errors = [
      "",
      "not JSON",
      "null",
      '"WouldExceedMaxBlockCostLimit"',
      '{"InstructionError":[0,"ComputationalBudgetExceeded"]}',
      '{"InstructionError":[99,{"Custom":0}]}',
      '{"InstructionError":[2,{"Custom":7}]}',
      '{"InsufficientFundsForRent":{"account_index":99}}',
    ];
    for (const error of errors) {
      expect(await ledger.explainError(payout, agreed(error))).toMatchObject({ kind: "other", error });
    }
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (error) => {
        expect((await ledger.explainError(payout, agreed(error))).error).toBe(error);
      }),
    );
  });
});
