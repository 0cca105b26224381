/** Transactions as a wallet, or an attacker's wallet, would sign them: any instructions, any signers, any bytes. */
import { sign } from "node:crypto";
import {
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type AddressLookupTableAccount,
  type TransactionInstruction,
} from "@solana/web3.js";
import bs58 from "bs58";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { signingKey, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";

/** How a transaction is put together. */
export interface Signing {
  /** The fee payer first. */
  readonly signers: readonly Pick<Wallet, "secretKey">[];
  readonly instructions: readonly TransactionInstruction[];
  /** A v0 transaction over these tables; legacy when left out. */
  readonly tables?: readonly AddressLookupTableAccount[];
  /** The newest confirmed one when left out. */
  readonly blockhash?: string;
}

/** The signed transaction in base64. */
export async function signed({ chain }: Pick<ChainFixture, "chain">, signing: Signing): Promise<string> {
  const { signers } = signing;
  const [payerKey] = signers.map(publicKeyOf);
  if (payerKey === undefined) throw new TypeError("a transaction has a fee payer");
  const message = new TransactionMessage({
    payerKey,
    recentBlockhash: signing.blockhash ?? (await newestBlockhash(chain)),
    instructions: [...signing.instructions],
  });
  const compiled =
    signing.tables === undefined
      ? message.compileToLegacyMessage()
      : message.compileToV0Message([...signing.tables]);
  const transaction = new VersionedTransaction(compiled);
  const bytes = compiled.serialize();
  for (const signer of signers) transaction.addSignature(publicKeyOf(signer), signatureOf(bytes, signer));
  return Buffer.from(transaction.serialize()).toString("base64");
}

/** A message as its bytes have it: indices instead of addresses, nothing checked, nothing put in order. */
export interface RawMessage {
  /** Signatures required, read-only accounts among the signers, read-only accounts among the others. */
  readonly header: readonly [number, number, number];
  readonly keys: readonly PublicKey[];
  readonly blockhash: string;
  readonly instructions: readonly {
    readonly program: number;
    readonly accounts: readonly number[];
    readonly data: Uint8Array | readonly number[];
  }[];
  /** A v0 message with these lookups; legacy when left out. */
  readonly lookups?: readonly {
    readonly table: PublicKey;
    readonly writable: readonly number[];
    readonly readonly: readonly number[];
  }[];
}

/** How a message writes the length of a list: 7 bits a byte, the lowest first. */
export type WriteLength = (length: number) => readonly number[];

/** The only way that is canonical. */
export const compactLength: WriteLength = (length) =>
  length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...compactLength(length >> 7)];

/** The bytes of a message, whatever it says. */
export function rawMessage(
  { header, keys, blockhash, instructions, lookups }: RawMessage,
  lengthOf: WriteLength = compactLength,
): Buffer {
  const list = (items: readonly number[]): number[] => [...lengthOf(items.length), ...items];
  return Buffer.from([
    ...(lookups === undefined ? [] : [0x80]),
    ...header,
    ...lengthOf(keys.length),
    ...keys.flatMap((key) => [...key.toBytes()]),
    ...bs58.decode(blockhash),
    ...lengthOf(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      program,
      ...list(accounts),
      ...list([...data]),
    ]),
    ...(lookups === undefined ? [] : lengthOf(lookups.length)),
    ...(lookups ?? []).flatMap((lookup) => [
      ...lookup.table.toBytes(),
      ...list(lookup.writable),
      ...list(lookup.readonly),
    ]),
  ]);
}

/** A message of version 1 as its bytes have it. */
export interface RawVersion1 extends Omit<RawMessage, "lookups"> {
  /** Which settings there are. */
  readonly mask: number;
  /** The bytes of the settings. */
  readonly values: readonly number[];
}

/** Four bytes, the lowest first. */
export const u32 = (value: number): number[] => [0, 8, 16, 24].map((shift) => (value >>> shift) & 0xff);

/** The bytes of a message of version 1, whatever it says. */
export function rawVersion1({ header, mask, keys, blockhash, values, instructions }: RawVersion1): Buffer {
  return Buffer.from([
    0x81,
    ...header,
    ...u32(mask),
    ...bs58.decode(blockhash),
    instructions.length,
    keys.length,
    ...keys.flatMap((key) => [...key.toBytes()]),
    ...values,
    ...instructions.flatMap(({ program, accounts, data }) => [
      program,
      accounts.length,
      data.length & 0xff,
      data.length >> 8,
    ]),
    ...instructions.flatMap(({ accounts, data }) => [...accounts, ...data]),
  ]);
}

/** A transaction of these message bytes and these signatures, in base64. */
export function wire(message: Uint8Array, signatures: readonly Uint8Array[]): string {
  return Buffer.concat([Buffer.from([signatures.length]), ...signatures, message]).toString("base64");
}

/** The second half of a wallet's key. */
export function publicKeyOf({ secretKey }: Pick<Wallet, "secretKey">): PublicKey {
  return new PublicKey(secretKey.subarray(32));
}

/** What a wallet's key signs over any bytes: by node:crypto, which takes a tenth of the time of web3.js. */
export function signatureOf(bytes: Uint8Array, { secretKey }: Pick<Wallet, "secretKey">): Buffer {
  return sign(null, bytes, signingKey(secretKey));
}

/** Signs, sends and waits until it is finalized. Throws when it failed: a test's preparations must not. */
export async function land(fixture: ChainFixture, signing: Signing): Promise<string> {
  const bytes = Buffer.from(await signed(fixture, signing), "base64");
  const [signature = ""] = VersionedTransaction.deserialize(bytes).signatures.map((each) =>
    bs58.encode(each),
  );
  await fixture.ledger.broadcast(bytes);
  fixture.chain.advance(33);
  const [status] = await fixture.ledger.statuses([signature]);
  if (status?.commitment !== "finalized" || status.error !== null) {
    throw new Error(`a preparation did not land: ${JSON.stringify(status)}`);
  }
  return signature;
}

/** The reason why a transaction is refused, or "accepted". */
export async function verdict(
  ledger: Ledger,
  transaction: string,
  payment: Parameters<Ledger["verifyPayment"]>[1],
): Promise<string> {
  const answer = await ledger.verifyPayment(transaction, payment);
  return "refused" in answer ? answer.refused : "accepted";
}

/** A wallet's public key. */
export function keyOf({ address }: Pick<Wallet, "address">): PublicKey {
  return new PublicKey(address);
}

/** The newest confirmed blockhash. */
export async function newestBlockhash(chain: ChainFixture["chain"]): Promise<string> {
  const body = { jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params: [{ commitment: "confirmed" }] };
  const answer = await chain.fetch("http://local", { body: JSON.stringify(body) });
  return ((await answer.json()) as { result: { value: { blockhash: string } } }).result.value.blockhash;
}
