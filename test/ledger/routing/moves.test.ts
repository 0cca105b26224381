/** What a plan asks for is what the transaction says, to the base unit, and what the chain then does. */
import { SystemInstruction, TransactionInstruction, VersionedMessage } from "@solana/web3.js";
import { decodeTransferCheckedInstruction } from "@solana/spl-token";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import { routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const LARGEST = 2n ** 64n - 1n;

let fixture: RoutingFixture;
let deposit: Party;
let rentOfEmpty: bigint;
let rentOfToken: bigint;
beforeAll(async () => {
  fixture = await routingFixture();
  deposit = fixture.party();
  rentOfEmpty = await fixture.ledger.rentMinimum(0);
  rentOfToken = await fixture.ledger.rentMinimum(165);
});
afterAll(() => fixture.close());

/** The instructions of a message with their accounts in full. */
function instructionsOf(bytes: Uint8Array): TransactionInstruction[] {
  const message = VersionedMessage.deserialize(bytes);
  const keys = message.staticAccountKeys;
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => {
    const [programId, ...pubkeys] = [programIdIndex, ...accountKeyIndexes].map((index) => keys[index]);
    if (programId === undefined) throw new RangeError("an instruction of no program");
    return new TransactionInstruction({
      programId,
      keys: pubkeys.flatMap((pubkey) =>
        pubkey === undefined ? [] : [{ pubkey, isSigner: false, isWritable: false }],
      ),
      data: Buffer.from(data),
    });
  });
}

describe("encoding", () => {
  const amounts = fc.bigInt({ min: 1n, max: LARGEST });

  test("every amount of 1 to 2^64 - 1 is encoded as it was asked for", async () => {
    const { ledger, plan, sol, usdc, nobody, sponsor } = fixture;
    const [first, second, treasury] = [nobody(), nobody(), nobody()];
    await fc.assert(
      fc.asyncProperty(amounts, amounts, amounts, async (lamports, units, marked) => {
        const unmark: Move = {
          does: "unmark",
          base: deposit.address,
          seed: "a",
          to: treasury,
          lamports: marked,
        };
        const built = await ledger.buildTransaction(
          plan(sol(deposit, first, lamports), usdc(deposit, second, units), unmark),
        );
        const [, , pay, create, payTokens, sweep] = instructionsOf(built.message);
        if (pay === undefined || payTokens === undefined || sweep === undefined) {
          throw new RangeError("an instruction is missing");
        }
        const transfer = SystemInstruction.decodeTransfer(pay);
        expect(transfer.lamports).toBe(lamports);
        expect([transfer.fromPubkey, transfer.toPubkey].map(String)).toEqual([deposit.address, first]);
        const { data, keys } = decodeTransferCheckedInstruction(payTokens);
        expect([data.amount, data.decimals]).toEqual([units, 6]);
        expect(
          [keys.source, keys.mint, keys.destination, keys.owner].map((each) => String(each.pubkey)),
        ).toEqual(
          [fixture.ata(deposit.address), fixture.mints.USDC, fixture.ata(second), deposit.address].map(
            String,
          ),
        );
        expect(create?.keys.slice(0, 3).map((each) => String(each.pubkey))).toEqual(
          [sponsor.address, fixture.ata(second), second].map(String),
        );
        const swept = SystemInstruction.decodeTransferWithSeed(sweep);
        expect(swept).toMatchObject({ lamports: marked, seed: "a" });
        expect([swept.fromPubkey, swept.basePubkey, swept.toPubkey].map(String)).toEqual([
          ledger.markerAddress(deposit.address, "a"),
          deposit.address,
          treasury,
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test("an amount outside 1 … 2^64 - 1 is a RangeError, and never another amount", async () => {
    const { ledger, plan, sol, usdc, nobody } = fixture;
    const wrong = fc.oneof(
      fc.bigInt({ max: 0n, min: -(2n ** 70n) }),
      fc.bigInt({ min: LARGEST + 1n, max: 2n ** 70n }),
      fc.constantFrom(0n, -1n, 2n ** 64n, 2n ** 64n + 5n),
    );
    const to = nobody();
    await fc.assert(
      fc.asyncProperty(wrong, async (amount) => {
        const moves: Move[] = [
          sol(deposit, to, amount),
          usdc(deposit, to, amount),
          { does: "unmark", base: deposit.address, seed: "a", to, lamports: amount },
        ];
        for (const move of moves) {
          await expect(ledger.buildTransaction(plan(move))).rejects.toThrow(RangeError);
          await expect(ledger.sizeOf(plan(move))).rejects.toThrow(RangeError);
        }
      }),
      { numRuns: 50 },
    );
  });

  test("a plan that fits no transaction, and a seed of no marker, are RangeErrors before a node is asked", async () => {
    const { plan, sol, usdc, nobody, ledgerOf } = fixture;
    const ledger = ledgerOf([{ url: "http://never", fetch: () => Promise.reject(new Error("was asked")) }]);
    const payouts = (count: number): Move[] =>
      Array.from({ length: count }, () => sol(deposit, nobody(), 1n));
    for (const moves of [payouts(25), payouts(60), payouts(100), payouts(500)]) {
      await expect(ledger.buildTransaction(plan(...moves))).rejects.toThrow(RangeError);
    }
    const tokens = Array.from({ length: 60 }, () => usdc(deposit, nobody(), 1n));
    await expect(ledger.buildTransaction(plan(...tokens))).rejects.toThrow(RangeError);
    for (const seed of ["", "x".repeat(33), "ü"]) {
      const mark = fixture.mark(deposit, seed);
      await expect(ledger.buildTransaction(plan(mark))).rejects.toThrow(RangeError);
    }
    // Whoever asks SOL to make a token account has mixed two things up.
    const mixed = { ...sol(deposit, nobody(), 1n), accountPayer: deposit.address } as Move;
    await expect(ledger.buildTransaction(plan(mixed))).rejects.toThrow(TypeError);
    await ledger.close();
  });

  test("signers stand in the order of the message, the fee payer first, each once", async () => {
    const { ledger, plan, mark, sol, usdc, nobody, sponsor, party } = fixture;
    const other = party();
    const { message, signers } = await ledger.buildTransaction(
      plan(mark(deposit), usdc(other, nobody(), 1n), sol(deposit, nobody(), 1n)),
    );
    const { header, staticAccountKeys } = VersionedMessage.deserialize(message);
    expect(signers).toEqual(
      staticAccountKeys.slice(0, header.numRequiredSignatures).map((key) => key.toBase58()),
    );
    expect(signers[0]).toBe(sponsor.address);
    expect([...signers].toSorted()).toEqual(
      [sponsor, deposit, other].map(({ address }) => address).toSorted(),
    );
  });
});

describe("on the chain", () => {
  test("the network fee is what the sponsor is charged, and feeOf says it beforehand", async () => {
    const { ledger, plan, mark, sol, party, nobody, carryOut, holds, sponsor } = fixture;
    const payer = party({ lamports: 10n * SOL });
    const payout = plan(mark(payer), sol(payer, nobody(), SOL));
    const fee = await ledger.feeOf(payout);
    const before = (await holds(sponsor.address))[0];
    const { networkFee } = await ledger.buildTransaction(payout);
    await carryOut(payout, payer);
    expect(networkFee).toBe(fee);
    expect(before - (await holds(sponsor.address))[0]).toBe(fee + rentOfEmpty);
  });

  test("P15: a payout succeeds when one lamport and one base unit arrive just before it lands", async () => {
    const { ledger, plan, mark, sol, usdc, party, nobody, sign, holds, chain, sponsor } = fixture;
    const payer = party({ lamports: 10n * SOL, usdc: 10n * USDC });
    const [alice, bob] = [nobody(), nobody()];
    // All of it, so that what arrives is what is left: the sponsor's loan keeps the address above the rent minimum.
    const signed = await sign(
      plan(
        mark(payer),
        sol(sponsor, payer.address, rentOfEmpty),
        sol(payer, alice, 10n * SOL),
        usdc(payer, bob, 10n * USDC),
      ),
      payer,
    );
    chain.fund(payer.address, { lamports: 1n, usdc: 1n });
    await ledger.broadcast(signed.bytes);
    chain.advance(33);
    expect((await ledger.statuses([signed.signature]))[0]).toMatchObject({ error: null });
    expect(await holds(alice)).toEqual([10n * SOL, 0n]);
    expect(await holds(bob)).toEqual([0n, 10n * USDC]);
    expect(await holds(payer.address)).toEqual([rentOfEmpty + 1n, 1n]);
  });

  test("P18: a sweep leaves exactly nothing: tokens, token account, markers and lamports are gone", async () => {
    const { ledger, plan, mark, sol, usdc, party, nobody, carryOut, holds, mints, sponsor } = fixture;
    const payer = party({ lamports: 10n * SOL, usdc: 10n * USDC });
    const treasury = party({ lamports: SOL, usdc: 1n });
    const payout = plan(
      mark(payer, "payout"),
      sol(payer, nobody(), 9n * SOL),
      usdc(payer, nobody(), 9n * USDC),
    );
    expect((await carryOut(payout, payer)).landed).toBeNull();
    const sweep = plan(
      mark(payer, "sweep"),
      usdc(payer, treasury.address, USDC, null),
      { does: "close", mint: mints.USDC, owner: payer.address, to: sponsor.address },
      sol(payer, treasury.address, SOL),
      ...["payout", "sweep"].map((seed): Move => ({
        does: "unmark",
        base: payer.address,
        seed,
        to: sponsor.address,
        lamports: rentOfEmpty,
      })),
    );
    const before = (await holds(sponsor.address))[0];
    expect(await carryOut(sweep, payer)).toMatchObject({ tried: null, landed: null });
    // One marker came and went within the sweep; the other one's rent and the token account's came back.
    expect((await holds(sponsor.address))[0] - before).toBe(rentOfEmpty + rentOfToken - 10_000n);
    expect(await holds(treasury.address)).toEqual([2n * SOL, USDC + 1n]);
    const gone = [
      payer.address,
      ...["payout", "sweep"].map((seed) => ledger.markerAddress(payer.address, seed)),
    ];
    for (const address of [...gone, fixture.ata(payer.address).toBase58() as Address]) {
      expect(await ledger.accountKinds([address])).toEqual(["absent"]);
    }
  });

  test("P16: a deposit address without a lamport stands for the token accounts that exist, at no cost", async () => {
    const { plan, mark, usdc, party, carryOut, holds } = fixture;
    const payer = party({ usdc: 10n * USDC });
    const payee = party({ usdc: 1n });
    const outcome = await carryOut(plan(mark(payer), usdc(payer, payee.address, USDC, payer.address)), payer);
    expect(outcome).toMatchObject({ tried: null, landed: null });
    expect(await holds(payee.address)).toEqual([0n, USDC + 1n]);
  });

  test("a recipient whose token account address somebody funded is paid all the same", async () => {
    const { plan, mark, usdc, party, nobody, carryOut, holds, chain, ledger, mints } = fixture;
    const payer = party({ usdc: 10n * USDC });
    const payee = nobody();
    chain.fund(fixture.ata(payee).toBase58(), { lamports: rentOfEmpty });
    chain.advance(2);
    expect(await ledger.haveTokenAccounts([payee, payer.address], mints.USDC)).toEqual([false, true]);
    expect((await carryOut(plan(mark(payer), usdc(payer, payee, USDC)), payer)).landed).toBeNull();
    expect(await holds(payee)).toEqual([0n, USDC]);
    expect(await ledger.haveTokenAccounts([payee], mints.USDC)).toEqual([true]);
  });
});
