/** The transaction we hand to a wallet: every amount as asked for, and never more than fits. */
import { decodeTransferCheckedInstruction } from "@solana/spl-token";
import {
  Keypair,
  SystemInstruction,
  VersionedTransaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import {
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
} from "@solana/kit";
import fc from "fast-check";
import { expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import { paymentMoves } from "../../src/solana/build-payment.ts";
import { matchContent } from "../../src/solana/match-content.ts";
import { readInstruction } from "../../src/solana/read-instruction.ts";
import { planInstructions } from "../../src/solana/routing/plan-instructions.ts";
import { sharedChainTest as test } from "../kit/chain-test.ts";
import { runsOf } from "../kit/thorough.ts";

const address = (): Address => Keypair.generate().publicKey.toBase58() as Address;
const sender = address();
const usdc = address();
const to = (...amounts: bigint[]): DeclaredPayment["transfers"] =>
  amounts.map((amount) => ({ recipient: address(), amount }));
const payments = (transfers: DeclaredPayment["transfers"]): DeclaredPayment[] => [
  { sender, mint: null, decimals: 9, transfers },
  { sender, mint: usdc, decimals: 6, transfers },
];

const paymentInstructions = (payment: DeclaredPayment): TransactionInstruction[] =>
  planInstructions(paymentMoves(payment, new Uint8Array(32))).map(({ instruction }) => instruction);

const edges = [1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
const amount = fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.constantFrom(...edges));

test("every amount from 1 to 2^64 - 1 is encoded as requested, by the libraries' own decoders and by ours", () => {
  fc.assert(
    fc.property(amount, amount, (first, second) => {
      for (const payment of payments(to(first, second))) {
        const instructions = paymentInstructions(payment);
        const amounts = instructions.flatMap((each) => {
          if (payment.mint === null) return [SystemInstruction.decodeTransfer(each).lamports];
          // A transfer has four accounts, and the first one a reference behind them.
          return each.keys.length < 6 ? [decodeTransferCheckedInstruction(each).data.amount] : [];
        });
        expect(amounts).toEqual([first, second]);
        const meanings = instructions.map(({ programId, keys, data }) =>
          readInstruction({
            program: programId.toBase58(),
            accounts: keys.map(({ pubkey }) => pubkey.toBase58()),
            data,
          }),
        );
        expect(matchContent(meanings, payment)).not.toBeNull();
      }
    }),
    { numRuns: runsOf(50) },
  );
});

test("an unsigned payment is one zeroed signature and a message, at most 1,232 bytes", async ({ world }) => {
  for (const payment of payments(to(5n, 6n, 7n)).map((each) => ({
    ...each,
    mint: each.mint && world.mints.USDC,
  }))) {
    const { bytes } = await world.ledger.buildPayment(payment, new Uint8Array(32));
    expect(bytes.length).toBeLessThanOrEqual(1_232);
    expect([...bytes.subarray(0, 65)]).toEqual([1, ...Array<number>(64).fill(0)]);
    expect(VersionedTransaction.deserialize(bytes).message.staticAccountKeys[0]?.toBase58()).toBe(sender);
  }
});

test("N6: what is built in version 1 is read by @solana/kit as the same payment, with both limits and a bid, and written by it byte by byte", async ({
  world,
}) => {
  for (const payment of payments(to(5n, 6n, 7n)).map((each) => ({
    ...each,
    mint: each.mint && world.mints.USDC,
    transactionVersion: 1 as const,
  }))) {
    const { bytes, networkFee } = await world.ledger.buildPayment(payment, new Uint8Array(32).fill(9));
    const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
    expect(signatures).toEqual({ [sender]: null });
    const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
    expect(Buffer.from(getCompiledTransactionMessageEncoder().encode(compiled))).toEqual(
      Buffer.from(messageBytes),
    );
    const message = decompileTransactionMessage(compiled);
    if (message.version !== 1) throw new Error("version 1 was asked for");
    expect(message.feePayer.address).toBe(sender);
    const { computeUnitLimit = 0, priorityFeeLamports, loadedAccountsDataSizeLimit } = message.config ?? {};
    expect(computeUnitLimit).toBeGreaterThan(50_000);
    expect(loadedAccountsDataSizeLimit).toBe(64 * 1024 * 1024);
    expect(priorityFeeLamports).toBe(networkFee - 5_000n);
    const meanings = message.instructions.map(({ programAddress, accounts = [], data = new Uint8Array() }) =>
      readInstruction({
        program: programAddress,
        accounts: accounts.map(({ address: key }) => key),
        data: Uint8Array.from(data),
      }),
    );
    expect(await matchContent(meanings, payment)).not.toBeNull();
  }
});

test("more recipients than 1,232 bytes hold are a RangeError, whichever way they do not fit", async ({
  world,
}) => {
  const outcome = async (count: number, asset = 0): Promise<unknown> => {
    const payment = payments(to(...Array<bigint>(count).fill(1n)))[asset];
    if (payment === undefined) throw new Error("a payment in each asset");
    return await world.ledger.buildPayment(payment, new Uint8Array(32)).then(
      () => "fits",
      (error: unknown) => error,
    );
  };
  for (const count of [1, 10, 20]) expect(await outcome(count)).toBe("fits");
  for (const count of [22, 30, 38, 39, 64, 65, 200, 300]) {
    const wrong = new RangeError(`a payment to ${count} recipients does not fit in one transaction`);
    expect([await outcome(count, 0), await outcome(count, 1)]).toEqual([wrong, wrong]);
  }
});
