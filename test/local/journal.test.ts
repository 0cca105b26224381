/** A chain goes on after its process died, as if nothing had happened. */
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PublicKey } from "@solana/web3.js";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createLocalChain, type LocalChain, type LocalChainOptions } from "paystate/local";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { connect, keyOf, NEW_YEAR, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

function newJournal(): string {
  const directory = mkdtempSync(join(tmpdir(), "paystate-local-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "chain.jsonl");
}

/** A chain that is not closed: its journal is what a killed process leaves. */
function killedChain(options: Partial<LocalChainOptions>): Promise<LocalChain> {
  return createLocalChain({ clock: { now: () => NEW_YEAR }, slotMs: 0, ...options });
}

/** Everything a client could hold on to. */
async function observed(chain: LocalChain, addresses: readonly PublicKey[]): Promise<unknown> {
  const connection = connect(chain, "confirmed");
  const signatures = await connection.getSignaturesForAddress(new PublicKey(chain.faucet.address));
  return {
    genesis: await connection.getGenesisHash(),
    slot: await connection.getSlot(),
    height: await connection.getBlockHeight(),
    blockhash: await connection.getLatestBlockhash(),
    wallets: chain.wallets(),
    signatures,
    transactions: await Promise.all(
      signatures.map(({ signature }) =>
        connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }),
      ),
    ),
    accounts: await connection.getMultipleAccountsInfo([...addresses]),
    finalized: await connection.getMultipleAccountsInfo([...addresses], "finalized"),
    tokens: await Promise.all(
      addresses.map((owner) =>
        connection.getTokenAccountsByOwner(owner, { mint: new PublicKey(chain.mints.USDC) }),
      ),
    ),
  };
}

async function pay(chain: LocalChain, recipient: PublicKey, lamports: bigint): Promise<string> {
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: 100n * SOL, usdc: 5_000_000n }));
  const { blockhash } = await connection.getLatestBlockhash();
  return connection.sendTransaction(signed(blockhash, [transfer(alice, recipient, lamports)], [alice]));
}

test("after the death of the process, accounts, signatures, slots and hashes are the same", async () => {
  const journal = newJournal();
  const recipient = somebody();
  const before = await killedChain({ journal });
  await pay(before, recipient, SOL);
  before.advance(20);
  await pay(before, recipient, 2n * SOL);
  await connect(before).requestAirdrop(recipient, 5000);
  before.advance(1);
  const addresses = [recipient, ...before.wallets().map(({ address }) => new PublicKey(address))];
  const expected = await observed(before, addresses);

  const after = await stillChain({ journal });
  expect(await observed(after, addresses)).toEqual(expected);
  expect(after.createWallet("alice", { lamports: 1n })).toEqual(before.wallets()[0]);
  expect(await observed(after, addresses)).toEqual(expected);
});

test("a transaction sent before the death of the process is still a duplicate after it", async () => {
  const journal = newJournal();
  const before = await killedChain({ journal });
  const alice = keyOf(before.createWallet("alice", { lamports: 10n * SOL }));
  const recipient = somebody();
  const { blockhash } = await connect(before, "processed").getLatestBlockhash();
  const bytes = signed(blockhash, [transfer(alice, recipient, SOL)], [alice]).serialize();
  await connect(before, "processed").sendRawTransaction(bytes);

  const after = connect(await stillChain({ journal }), "processed");
  await expect(after.sendRawTransaction(bytes)).rejects.toThrow("already been processed");
  await after.sendRawTransaction(bytes, { skipPreflight: true });
  expect(await after.getBalance(recipient)).toBe(Number(SOL));
});

test("a line torn by the death of the process is cut off, and the chain goes on writing after it", async () => {
  const journal = newJournal();
  const recipient = somebody();
  await pay(await killedChain({ journal }), recipient, SOL);
  const whole = readFileSync(journal);
  await pay(await killedChain({ journal }), recipient, 2n * SOL);
  truncateSync(journal, whole.length + 30);

  const after = await killedChain({ journal });
  expect(await connect(after, "processed").getBalance(recipient)).toBe(Number(SOL));
  await pay(after, recipient, 3n * SOL);
  const again = await stillChain({ journal });
  expect(await connect(again, "processed").getBalance(recipient)).toBe(Number(4n * SOL));
});

test("a genesis line torn by the death of the process begins a new chain", async () => {
  const journal = newJournal();
  writeFileSync(journal, '{"kind":"genesis","for');
  const chain = await stillChain({ journal });
  expect(chain.wallets()).toEqual([]);
});

test("damage in the middle of the journal is refused with a sentence that names the line", async () => {
  const journal = newJournal();
  await pay(await killedChain({ journal }), somebody(), SOL);
  appendFileSync(journal, "nonsense\n");
  await expect(killedChain({ journal })).rejects.toThrow(
    /cannot be read at line 4: restore it from a copy, or delete/,
  );
});

test("a slot that somebody was told never comes again, and a long stop is no long jump", async () => {
  const journal = newJournal();
  let now = NEW_YEAR;
  const start = (): Promise<LocalChain> =>
    createLocalChain({ clock: { now: () => now }, slotMs: 400, journal, finalizedAfter: 10 });
  const first = await start();
  now += 400 * 75;
  const told = first.slot();
  const { lastValidBlockHeight } = await connect(first, "processed").getLatestBlockhash();
  now += 30 * 24 * 3600 * 1000;
  const killed = await start();
  expect(killed.slot()).toBeGreaterThanOrEqual(told);
  expect(killed.slot()).toBeLessThan(told + 40);
  expect(killed.blockHeight()).toBeLessThan(lastValidBlockHeight);

  now += 400 * 7;
  const last = killed.slot();
  await killed.close();
  now += 3600 * 1000;
  const closed = await start();
  onTestFinished(() => closed.close());
  expect(closed.slot()).toBe(last);
  now += 400;
  expect(closed.slot()).toBe(last + 1);
});

test("block times go forward through restarts and clocks that are set back", async () => {
  const journal = newJournal();
  let now = NEW_YEAR;
  const start = (): Promise<LocalChain> =>
    createLocalChain({ clock: { now: () => now }, slotMs: 400, journal });
  const first = await start();
  now += 4000;
  await pay(first, somebody(), SOL);
  const slot = first.slot();
  const time = await connect(first).getBlockTime(slot);
  now -= 60_000;
  expect(first.slot()).toBe(slot);
  now += 400;
  expect(first.slot()).toBe(slot + 1);
  const second = await start();
  onTestFinished(() => second.close());
  await pay(second, somebody(), SOL);
  expect(await connect(second).getBlockTime(slot)).toBe(time);
  expect(await connect(second).getBlockTime(second.slot())).toBeGreaterThanOrEqual(time ?? Infinity);
});

test("a journal that another process writes to is refused, and what was sent did not happen", async () => {
  const journal = newJournal();
  const first = await killedChain({ journal });
  const recipient = somebody();
  await pay(first, recipient, SOL);
  await pay(await stillChain({ journal }), recipient, SOL * 2n);
  await expect(pay(first, recipient, SOL * 3n)).rejects.toThrow("was written to by another process");
  expect(await connect(first, "processed").getBalance(recipient)).toBe(Number(SOL));
});

test("only its owner may read the journal", async () => {
  const journal = newJournal();
  await stillChain({ journal });
  expect(statSync(journal).mode & 0o777).toBe(0o600);
});

test("a journal of another seed is refused", async () => {
  const journal = newJournal();
  await killedChain({ journal, seed: "one" });
  await expect(killedChain({ journal, seed: "two" })).rejects.toThrow("another seed");
});

test("rollbacks, rent changes and failed transactions replay", async () => {
  const journal = newJournal();
  const recipient = somebody();
  const before = await killedChain({ journal });
  await pay(before, recipient, SOL);
  before.advance(3);
  const fork = before.slot();
  before.advance(1);
  await pay(before, recipient, 2n * SOL);
  before.rollback(fork);
  before.setRent(1000n);
  await pay(before, recipient, 4n * SOL);
  before.advance(1);
  const expected = await observed(before, [recipient]);
  const after = await stillChain({ journal });
  expect(await observed(after, [recipient])).toEqual(expected);
  expect(await connect(after).getMinimumBalanceForRentExemption(0)).toBe(128_000);
});

/** What may happen to a chain, by a number that each takes. */
const ACTS: readonly ((chain: LocalChain, recipient: PublicKey, n: number) => unknown)[] = [
  // Refused where it was sent in this slot already.
  (chain, recipient, n) => pay(chain, recipient, BigInt(n) * 10_000_000n).catch(String),
  (chain, _, n) => pay(chain, somebody(), BigInt(n)).catch(String),
  (chain, recipient, n) => chain.fund(recipient.toBase58(), { lamports: SOL, usdt: BigInt(n) }),
  (chain, _, n) => chain.advance(n),
  (chain, _, n) => chain.rollback(Math.max(1000, chain.slot() - (n % 30))),
  (chain, _, n) => chain.setRent(BigInt(6_000 + n)),
];

test(
  "whatever happened to a chain, its replay answers as it did, and both go on alike",
  async () => {
    const acts = fc.array(fc.tuple(fc.constantFrom(...ACTS), fc.integer({ min: 1, max: 60 })), {
      minLength: 5,
      maxLength: 40,
    });
    const lives = fc.asyncProperty(acts, async (drawn) => {
      const journal = newJournal();
      const recipient = somebody();
      const lived = await killedChain({ journal });
      for (const [act, n] of drawn) await act(lived, recipient, n);
      const expected = await observed(lived, [recipient]);
      const copy = newJournal();
      writeFileSync(copy, readFileSync(journal));
      const replayed = await stillChain({ journal: copy });
      expect(await observed(replayed, [recipient])).toEqual(expected);
      for (const chain of [lived, replayed]) {
        chain.fund(recipient.toBase58(), { lamports: SOL });
        chain.advance(40);
      }
      expect(await observed(replayed, [recipient])).toEqual(await observed(lived, [recipient]));
      await replayed.close();
    });
    await fc.assert(lives, { numRuns: byDepth({ quick: 3, ci: 20, long: 300 }) });
  },
  EXPLORING_MS,
);
