/** What is executed, confirmed and finalized, and what a fork takes back. */
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLocalChain } from "paystate/local";
import { connect, keyOf, NEW_YEAR, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";
import { runsOf } from "../kit/thorough.ts";

test("a transaction is processed at once, confirmed after one slot and finalized after 32", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  const recipient = somebody();
  const signature = chain.fund(recipient.toBase58(), { lamports: SOL });
  const levels = async (): Promise<unknown[]> => [
    (await connection.getSignatureStatus(signature)).value?.confirmationStatus,
    await connection.getBalance(recipient, "processed"),
    await connection.getBalance(recipient, "confirmed"),
    await connection.getBalance(recipient, "finalized"),
  ];
  const one = Number(SOL);
  expect(await levels()).toEqual(["processed", one, 0, 0]);
  chain.advance(1);
  expect(await levels()).toEqual(["confirmed", one, one, 0]);
  chain.advance(30);
  expect(await levels()).toEqual(["confirmed", one, one, 0]);
  chain.advance(1);
  expect(await levels()).toEqual(["finalized", one, one, one]);
  expect((await connection.getSignatureStatus(signature)).value?.confirmations).toBeNull();
});

test("with slots of 400 ms the clock alone brings finality", async () => {
  let now = NEW_YEAR;
  const chain = await createLocalChain({ clock: { now: () => now }, finalizedAfter: 5 });
  const connection = connect(chain, "finalized");
  const recipient = somebody();
  chain.fund(recipient.toBase58(), { lamports: SOL });
  now += 5 * 400 - 1;
  expect(await connection.getBalance(recipient)).toBe(0);
  now += 1;
  expect(await connection.getBalance(recipient)).toBe(Number(SOL));
  await chain.close();
});

test("without history search a status is forgotten after 300 slots", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  const signature = chain.fund(somebody().toBase58(), { lamports: SOL });
  chain.advance(301);
  expect((await connection.getSignatureStatuses([signature])).value).toEqual([null]);
  const searched = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
  expect(searched.value[0]?.confirmationStatus).toBe("finalized");
});

test("a view of any commitment holds what the accounts held in its slot, whatever happened since", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ pays: fc.array(fc.nat(2), { maxLength: 3 }), slots: fc.integer({ min: 1, max: 3 }) }),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
      async (steps) => {
        const chain = await createLocalChain({
          clock: { now: () => NEW_YEAR },
          slotMs: 0,
          confirmedAfter: 2,
          finalizedAfter: 5,
        });
        const connection = connect(chain);
        const recipients = [somebody(), somebody(), somebody()];
        const balances = recipients.map(() => 0);
        const atSlot = new Map<number, number[]>();
        for (const { pays, slots } of steps) {
          for (const index of pays) {
            chain.fund(String(recipients[index]), { lamports: SOL });
            balances[index] = (balances[index] ?? 0) + Number(SOL);
          }
          for (let passed = 0; passed < slots; passed += 1) atSlot.set(chain.slot() + passed, [...balances]);
          chain.advance(slots);
          atSlot.set(chain.slot(), [...balances]);
          for (const [commitment, depth] of [
            ["processed", 0],
            ["confirmed", 2],
            ["finalized", 5],
          ] as const) {
            const infos = await connection.getMultipleAccountsInfo(recipients, commitment);
            const expected = atSlot.get(chain.slot() - depth) ?? [0, 0, 0];
            expect(infos.map((info) => info?.lamports ?? 0)).toEqual(expected);
          }
        }
        await chain.close();
      },
    ),
    { numRuns: runsOf(25) },
  );
});

test("preflight at finalized does not see money that arrived later", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  chain.advance(32);
  chain.fund(alice.publicKey.toBase58(), { lamports: 5n * SOL });
  chain.advance(1);
  const { blockhash } = await connection.getLatestBlockhash("finalized");
  const transaction = signed(blockhash, [transfer(alice, somebody(), 3n * SOL)], [alice]);
  const send = (preflightCommitment: "finalized" | "confirmed"): Promise<string> =>
    connection.sendTransaction(transaction, { preflightCommitment });
  await expect(send("finalized")).rejects.toThrow("custom program error: 0x1");
  expect(await connection.getBalance(alice.publicKey)).toBe(Number(6n * SOL));
  await send("confirmed");
});

test("a rollback takes back what the abandoned blocks did, and the same bytes can land again", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL, usdc: 9n }));
  const bob = keyOf(chain.createWallet("bob", { usdc: 0n }));
  const mint = new PublicKey(chain.mints.USDC);
  const [from, to] = [alice, bob].map(({ publicKey }) => getAssociatedTokenAddressSync(mint, publicKey));
  if (from === undefined || to === undefined) throw new Error("Two token accounts were expected.");
  const { blockhash } = await connection.getLatestBlockhash();
  chain.advance(1);
  const fork = chain.slot();
  chain.advance(1);
  const abandoned = await connection.getLatestBlockhash();
  const transaction = signed(
    blockhash,
    [createTransferCheckedInstruction(from, mint, to, alice.publicKey, 4n, 6)],
    [alice],
  );
  const signature = await connection.sendTransaction(transaction);
  chain.advance(1);
  expect((await connection.getTokenAccountBalance(to)).value.amount).toBe("4");

  chain.rollback(fork);
  expect((await connection.getTokenAccountBalance(to)).value.amount).toBe("0");
  expect(await connection.getBalance(alice.publicKey)).toBe(Number(SOL));
  expect((await connection.getSignatureStatuses([signature])).value).toEqual([null]);
  expect(await connection.getSignaturesForAddress(to, {}, "confirmed")).toHaveLength(1);
  expect((await connection.isBlockhashValid(abandoned.blockhash)).value).toBe(false);
  expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);

  await connection.sendTransaction(transaction);
  expect((await connection.getTokenAccountBalance(to)).value.amount).toBe("4");
});

test("finalized blocks are never rolled back", async () => {
  const chain = await stillChain();
  chain.advance(100);
  expect(() => chain.rollback(chain.slot() - 33)).toThrow(RangeError);
  expect(() => chain.rollback(chain.slot() + 1)).toThrow(RangeError);
  chain.rollback(chain.slot() - 32);
});

test("blocks are listed with their transactions, linked by their hashes", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  chain.advance(1);
  const signature = chain.fund(somebody().toBase58(), { lamports: SOL });
  const slot = chain.slot();
  chain.advance(2);
  const config = { maxSupportedTransactionVersion: 0 } as const;
  const block = await connection.getBlock(slot, config);
  expect(block?.transactions.map(({ transaction }) => transaction.signatures)).toEqual([[signature]]);
  expect((await connection.getBlock(slot + 1, config))?.previousBlockhash).toBe(block?.blockhash);
  expect(await connection.getBlocks(slot - 1, slot + 1)).toEqual([slot - 1, slot, slot + 1]);
  await expect(connection.getBlock(chain.slot(), config)).rejects.toThrow("Block not available");
});
