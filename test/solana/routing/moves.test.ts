/** What a plan asks for is what the transaction says, to the base unit, and what the chain then does. */
import { SystemInstruction, TransactionInstruction, VersionedMessage } from "@solana/web3.js";
import { decodeTransferCheckedInstruction } from "@solana/spl-token";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";
import { runsOf } from "../../kit/thorough.ts";

const USDC = 1_000_000n;
const LARGEST = 2n ** 64n - 1n;

/** A deposit address, and what an account costs. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
  readonly rentOfEmpty: bigint;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party(),
  rentOfEmpty: await world.ledger.rentMinimum(0),
}));

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

  test("every amount of 1 to 2^64 - 1 is encoded as it was asked for", async ({ scene }) => {
    const { deposit } = scene;
    const { ledger, plan, sol, usdc, nobody, sponsor } = scene;
    const [first, second] = [nobody(), nobody()];
    await fc.assert(
      fc.asyncProperty(amounts, amounts, async (lamports, units) => {
        const built = await ledger.buildTransaction(
          plan(sol(deposit, first, lamports), usdc(deposit, second, units)),
        );
        const [, , pay, create, payTokens] = instructionsOf(built.message);
        if (pay === undefined || payTokens === undefined) {
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
          [scene.ata(deposit.address), scene.mints.USDC, scene.ata(second), deposit.address].map(String),
        );
        expect(create?.keys.slice(0, 3).map((each) => String(each.pubkey))).toEqual(
          [sponsor.address, scene.ata(second), second].map(String),
        );
      }),
      { numRuns: runsOf(50) },
    );
  });

  test("an amount outside 1 … 2^64 - 1 is a RangeError, and never another amount", async ({ scene }) => {
    const { deposit } = scene;
    const { ledger, plan, sol, usdc, nobody } = scene;
    const wrong = fc.oneof(
      fc.bigInt({ max: 0n, min: -(2n ** 70n) }),
      fc.bigInt({ min: LARGEST + 1n, max: 2n ** 70n }),
      fc.constantFrom(0n, -1n, 2n ** 64n, 2n ** 64n + 5n),
    );
    const to = nobody();
    await fc.assert(
      fc.asyncProperty(wrong, async (amount) => {
        for (const move of [sol(deposit, to, amount), usdc(deposit, to, amount)]) {
          await expect(ledger.buildTransaction(plan(move))).rejects.toThrow(RangeError);
          await expect(ledger.sizeOf(plan(move))).rejects.toThrow(RangeError);
        }
      }),
      { numRuns: runsOf(50) },
    );
  });

  test("whoever asks SOL to make a token account has mixed two things up", async ({ scene }) => {
    const { deposit } = scene;
    const { ledger, plan, sol, nobody } = scene;
    const mixed = { ...sol(deposit, nobody(), 1n), accountPayer: deposit.address } as Move;
    await expect(ledger.buildTransaction(plan(mixed))).rejects.toThrow(TypeError);
  });
});

describe("on the chain", () => {
  test("a recipient whose token account address somebody funded is paid all the same", async ({ scene }) => {
    const { rentOfEmpty } = scene;
    const { plan, mark, usdc, party, nobody, carryOut, holds, chain, ledger, mints } = scene;
    const payer = party({ usdc: 10n * USDC });
    const payee = nobody();
    const states = (...owners: readonly Address[]): Promise<readonly string[]> =>
      ledger.tokenAccountStates(owners.map((owner) => ({ owner, mint: mints.USDC })));
    chain.fund(scene.ata(payee).toBase58(), { lamports: rentOfEmpty });
    chain.advance(2);
    expect(await states(payee, payer.address)).toEqual(["absent", "usable"]);
    expect((await carryOut(plan(mark(payer), usdc(payer, payee, USDC)), payer)).landed).toBeNull();
    expect(await holds(payee)).toEqual([0n, USDC]);
    expect(await states(payee)).toEqual(["usable"]);
  });
});
