/** The price of storage is the chain's to say, and may change. */
import { expect, test } from "vitest";
import { connect, keyOf, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

test("a new rent counts for new accounts, leaves old ones alone, and a rollback does not take it back", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  const before = await connection.getMinimumBalanceForRentExemption(0);
  const { blockhash } = await connection.getLatestBlockhash();
  const [early, late] = [somebody(), somebody()];
  const pay = (to: typeof early, lamports: number): Promise<string> =>
    connection.sendTransaction(signed(blockhash, [transfer(alice, to, BigInt(lamports))], [alice]));
  await pay(early, before);
  const fork = chain.slot();
  chain.advance(1);

  chain.setRent(2n * (BigInt(before) / 128n) + 1n);
  const after = await connection.getMinimumBalanceForRentExemption(0);
  expect(after).toBe(2 * before + 128);
  expect(await connection.getMinimumBalanceForRentExemption(165)).toBe((after / 128) * (128 + 165));
  expect(await connection.getBalance(early)).toBe(before);
  await expect(pay(late, after - 1)).rejects.toThrow("insufficient funds for rent");
  await pay(late, after);
  expect(await connection.getBalance(late)).toBe(after);

  chain.rollback(fork);
  expect(await connection.getBalance(late)).toBe(0);
  expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(after);
});

test("a rent that is none is refused", async () => {
  const chain = await stillChain();
  expect(() => chain.setRent(-1n)).toThrow(RangeError);
  expect(() => chain.setRent(SOL + 1n)).toThrow(RangeError);
});
