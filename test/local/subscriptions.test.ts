/** An unmodified web3.js Connection, told the HTTP port alone, hears over its websocket what happens on the chain. */
import {
  type AccountInfo,
  type Context,
  PublicKey,
  type SlotInfo,
  TransactionExpiredBlockheightExceededError,
  type KeyedAccountInfo,
  type Logs,
  type SignatureResult,
  type VersionedTransaction,
} from "@solana/web3.js";
import { TOKEN_PROGRAM_ID, getAssociatedTokenAddressSync } from "@solana/spl-token";
import bs58 from "bs58";
import { expect, onTestFinished, test } from "vitest";
import { createLocalChain } from "paystate/local";
import { virtualClock } from "../kit/virtual-clock.ts";
import { keyOf, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";
import { connectOverPort, connectTo, listening, rawSocket, taken } from "./sockets.ts";

/** Everything that a subscriber hears, in order. */
function ear<T>(): { readonly hear: (heard: T) => void; next(): Promise<T> } {
  const heard: T[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    hear: (item) => {
      const taker = waiting.shift();
      if (taker === undefined) heard.push(item);
      else taker(item);
    },
    next: () => {
      const [first] = heard;
      if (first === undefined) return new Promise((resolve) => waiting.push(resolve));
      heard.shift();
      return Promise.resolve(first);
    },
  };
}

/** The id that a signed transaction will have on the chain. */
function idOf({ signatures: [first] }: VersionedTransaction): string {
  return bs58.encode(first ?? new Uint8Array());
}

/** What confirmTransaction asks once it has subscribed; it does not catch the failure of a call it no longer needs. */
const STATUS = /^getSignatureStatuses$/;

test("confirmTransaction resolves when the transaction reaches its commitment", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  chain.advance(1);
  const latest = await connection.getLatestBlockhash();
  const recipient = somebody();
  const transaction = signed(latest.blockhash, [transfer(alice, recipient, SOL)], [alice]);
  const signature = await connection.sendTransaction(transaction);
  const asked = taken(chain, 1, STATUS);
  const confirmation = connection.confirmTransaction({ signature, ...latest }, "finalized");
  await asked;
  chain.advance(31);
  expect((await connection.getSignatureStatus(signature)).value?.confirmationStatus).toBe("confirmed");
  chain.advance(1);
  expect((await confirmation).value).toEqual({ err: null });
});

test("confirmTransaction reports the error that a transaction landed with", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  chain.advance(1);
  const latest = await connection.getLatestBlockhash();
  const transaction = signed(latest.blockhash, [transfer(alice, somebody(), 5n * SOL)], [alice]);
  const signature = idOf(transaction);
  const asked = taken(chain, 1, STATUS);
  const confirmation = connection.confirmTransaction({ signature, ...latest });
  await asked;
  await connection.sendTransaction(transaction, { skipPreflight: true });
  chain.advance(1);
  expect((await confirmation).value.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
});

test("confirmTransaction of something that was never sent ends with its blockhash", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const latest = await connection.getLatestBlockhash();
  const transaction = signed(latest.blockhash, [transfer(alice, somebody(), 1n)], [alice]);
  const signature = idOf(transaction);
  const asked = taken(chain, 1, STATUS);
  const confirmation = connection.confirmTransaction({ signature, ...latest });
  await asked;
  chain.advance(300);
  // web3.js looks at the block height once a second.
  await expect(confirmation).rejects.toThrow(TransactionExpiredBlockheightExceededError);
});

test("an account's changes are told to each subscriber at its own commitment", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const recipient = somebody();
  const heard = ear<[string, number, number]>();
  const asked = taken(chain, 3);
  for (const commitment of ["processed", "confirmed", "finalized"] as const) {
    connection.onAccountChange(
      recipient,
      ({ lamports }: AccountInfo<Buffer>, { slot }: Context) => heard.hear([commitment, lamports, slot]),
      { commitment },
    );
  }
  await asked;
  const slot = chain.slot();
  chain.fund(recipient.toBase58(), { lamports: SOL });
  expect(await heard.next()).toEqual(["processed", Number(SOL), slot]);
  chain.advance(1);
  expect(await heard.next()).toEqual(["confirmed", Number(SOL), slot]);
  chain.fund(recipient.toBase58(), { lamports: SOL });
  expect(await heard.next()).toEqual(["processed", Number(2n * SOL), slot + 1]);
  chain.advance(31);
  expect(await heard.next()).toEqual(["confirmed", Number(2n * SOL), slot + 31]);
  expect(await heard.next()).toEqual(["finalized", Number(SOL), slot]);
});

test("a signature is told when it is received, and when it is confirmed; then the subscription is over", async () => {
  const chain = await stillChain();
  const listener = await listening(chain);
  const connection = connectTo(listener);
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  const { blockhash } = await connection.getLatestBlockhash("processed");
  const transaction = signed(blockhash, [transfer(alice, somebody(), SOL)], [alice]);
  const signature = idOf(transaction);
  const received = ear<string>();
  const confirmed = ear<SignatureResult>();
  const asked = taken(chain, 2);
  // web3.js ends such a subscription at the first notice, whichever it is.
  const options = { commitment: "confirmed", enableReceivedNotification: true } as const;
  connection.onSignatureWithOptions(signature, ({ type }) => received.hear(type), options);
  connection.onSignature(signature, confirmed.hear, "confirmed");
  await asked;
  const raw = await rawSocket(listener.webSocketUrl);
  const { result: subscription } = await raw.call("signatureSubscribe", signature, options);

  const slot = chain.slot();
  await connection.sendTransaction(transaction, { preflightCommitment: "processed" });
  expect(await received.next()).toBe("received");
  const result = (value: unknown): object => ({ context: { slot }, value });
  expect((await raw.next()).params).toEqual({ subscription, result: result("receivedSignature") });
  chain.advance(1);
  expect(await confirmed.next()).toEqual({ err: null });
  expect((await raw.next()).params).toEqual({ subscription, result: result({ err: null }) });
  expect((await raw.call("signatureUnsubscribe", subscription)).error?.code).toBe(-32602);
});

test("a signature that landed before it was asked about is told at once", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const signature = chain.fund(somebody().toBase58(), { lamports: SOL });
  const heard = ear<SignatureResult>();
  connection.onSignature(signature, heard.hear, "processed");
  expect(await heard.next()).toEqual({ err: null });
});

test("slots and roots are told one by one, and a far jump by its end", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const slots = ear<SlotInfo>();
  const roots = ear<number>();
  const asked = taken(chain, 2);
  connection.onSlotChange(slots.hear);
  connection.onRootChange(roots.hear);
  await asked;
  const first = chain.slot();
  chain.advance(2);
  expect(await slots.next()).toEqual({ parent: first, root: first - 31, slot: first + 1 });
  expect(await slots.next()).toEqual({ parent: first + 1, root: first - 30, slot: first + 2 });
  expect([await roots.next(), await roots.next()]).toEqual([first - 31, first - 30]);
  chain.advance(100_000);
  expect((await slots.next()).slot).toBe(first + 100_002 - 511);
});

test("logs are told of all transactions, or of those that mention an address", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const all = ear<Logs>();
  const mentioning = ear<Logs>();
  const asked = taken(chain, 2);
  connection.onLogs("all", all.hear, "processed");
  connection.onLogs(alice.publicKey, mentioning.hear, "processed");
  await asked;
  const gift = chain.fund(somebody().toBase58(), { lamports: SOL });
  const { blockhash } = await connection.getLatestBlockhash("processed");
  const failing = signed(blockhash, [transfer(alice, somebody(), 5n * SOL)], [alice]);
  const failed = await connection.sendTransaction(failing, { skipPreflight: true });
  expect((await all.next()).signature).toBe(gift);
  expect((await all.next()).signature).toBe(failed);
  const heard = await mentioning.next();
  expect(heard).toMatchObject({ signature: failed, err: { InstructionError: [0, { Custom: 1 }] } });
  expect(heard.logs.join("\n")).toContain("insufficient lamports");
});

test("a program's accounts are told when they change, those that pass the filters", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const [alice, bob] = [chain.createWallet("alice", {}), chain.createWallet("bob", {})];
  const owner = new PublicKey(bob.address);
  const heard = ear<KeyedAccountInfo>();
  const asked = taken(chain, 1);
  connection.onProgramAccountChange(TOKEN_PROGRAM_ID, heard.hear, {
    commitment: "processed",
    filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: owner.toBase58() } }],
  });
  await asked;
  chain.fund(alice.address, { usdc: 5n });
  chain.fund(bob.address, { usdc: 7n });
  const { accountId, accountInfo } = await heard.next();
  expect(accountId).toEqual(getAssociatedTokenAddressSync(new PublicKey(chain.mints.USDC), owner));
  expect(accountInfo.data.readBigUInt64LE(64)).toBe(7n);
});

test("a rollback is not told; what lands again on the other fork is", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  const { blockhash } = await connection.getLatestBlockhash("processed");
  const recipient = somebody();
  const heard = ear<[number, number]>();
  const asked = taken(chain, 1);
  connection.onAccountChange(recipient, ({ lamports }, { slot }) => heard.hear([lamports, slot]), {
    commitment: "processed",
  });
  await asked;
  const fork = chain.slot();
  chain.advance(1);
  const transaction = signed(blockhash, [transfer(alice, recipient, SOL)], [alice]);
  await connection.sendTransaction(transaction, { skipPreflight: true });
  expect(await heard.next()).toEqual([Number(SOL), fork + 1]);
  chain.rollback(fork);
  chain.fund(alice.publicKey.toBase58(), { lamports: SOL });
  chain.advance(1);
  await connection.sendTransaction(transaction, { skipPreflight: true });
  expect(await heard.next()).toEqual([Number(SOL), fork + 2]);
});

test("where slots follow the clock, it alone brings them to subscribers", async () => {
  const clock = virtualClock();
  const chain = await createLocalChain({ clock, slotMs: 400 });
  onTestFinished(() => chain.close());
  const connection = await connectOverPort(chain);
  const heard = ear<SlotInfo>();
  const asked = taken(chain, 1);
  connection.onSlotChange(heard.hear);
  await asked;
  const first = chain.slot();
  clock.advance(400);
  clock.advance(400);
  expect((await heard.next()).slot).toBe(first + 1);
  expect((await heard.next()).slot).toBe(first + 2);
});

test("a subscription on a chain whose clock cannot sleep is refused with the reason", async () => {
  const chain = await stillChain({ slotMs: 400 });
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  expect((await raw.call("slotSubscribe")).error?.message).toContain("need a clock with `sleep`");
});
