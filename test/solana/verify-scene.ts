/** Who pays whom when a payment is attacked: Alice pays Bob, Mallory interferes, on a chain with the real programs. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  Connection,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  type AddressLookupTableAccount,
} from "@solana/web3.js";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { chainFixture, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";
import {
  keyOf,
  land,
  newestBlockhash,
  signatureOf,
  signed,
  verdict,
  wire,
  type Signing,
} from "./signed-transaction.ts";

/** What Bob is to get, in base units of whatever is paid. */
export const AMOUNT = 2_500_000n;

// What one transaction has room for.
const ADDRESSES_PER_EXTENSION = 25;

/** What an honest transfer of tokens says, each part of which an attacker may change. */
export interface TokenTransfer {
  readonly mint: Address;
  readonly source: PublicKey;
  readonly to: PublicKey;
  readonly authority: Wallet;
  readonly amount: bigint;
  readonly decimals: number;
}

/** The three, what was declared, and what it takes to attack it. */
export interface VerifyScene extends ChainFixture {
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly mallory: Wallet;
  /** Alice pays Bob `AMOUNT`. */
  readonly sol: DeclaredPayment;
  readonly usdc: DeclaredPayment;
  readonly usdt: DeclaredPayment;
  /** The token account in which somebody keeps a mint, USDC unless said otherwise. */
  ata(owner: Pick<Wallet, "address">, mint?: Address): PublicKey;
  /** Alice's transfer of `AMOUNT` lamports to Bob. */
  paySol(change?: { from?: Wallet; to?: Pick<Wallet, "address">; amount?: bigint }): TransactionInstruction;
  /** Alice's transfer of `AMOUNT` USDC to Bob's account. */
  payToken(change?: Partial<TokenTransfer>): TransactionInstruction;
  /** The creation of Bob's USDC account at Alice's cost. */
  createAta(change?: {
    owner?: Wallet;
    payer?: Wallet;
    account?: PublicKey;
    mint?: Address;
    program?: PublicKey;
  }): TransactionInstruction;
  /** An honest payment's instructions. */
  honest(payment: DeclaredPayment): TransactionInstruction[];
  /** What becomes of a transaction that Alice signs, unless `signing` says who else. */
  judge(
    payment: DeclaredPayment,
    instructions: readonly TransactionInstruction[],
    signing?: Partial<Signing>,
  ): Promise<string>;
  /** What becomes of these message bytes when Alice, or whoever is named, signs them. */
  judgeBytes(payment: DeclaredPayment, message: Uint8Array, signers?: readonly Wallet[]): Promise<string>;
  blockhash(): Promise<string>;
  /** A finalized lookup table of Alice's. */
  table(addresses: readonly PublicKey[]): Promise<AddressLookupTableAccount>;
}

/** Sets the scene: all three hold SOL, Alice and Mallory hold tokens, Bob has no token account. */
export async function verifyScene(): Promise<VerifyScene> {
  const fixture = await chainFixture();
  const { chain, ledger, mints } = fixture;
  const riches = { lamports: 10_000_000_000n, usdc: 1_000_000_000n, usdt: 1_000_000_000n };
  const alice = fixture.wallet("alice", riches);
  const bob = fixture.wallet("bob", { lamports: 1_000_000_000n });
  const mallory = fixture.wallet("mallory", riches);
  const transfers = [{ recipient: bob.address, amount: AMOUNT }];
  const declared = (mint: Address | null, decimals: number): DeclaredPayment => ({
    sender: alice.address,
    mint,
    decimals,
    transfers,
  });
  const ata: VerifyScene["ata"] = ({ address }, mint = mints.USDC) =>
    new PublicKey(associatedTokenAddress(address, mint));
  const paySol: VerifyScene["paySol"] = ({ from = alice, to = bob, amount = AMOUNT } = {}) =>
    SystemProgram.transfer({
      fromPubkey: keyOf(from),
      toPubkey: new PublicKey(to.address),
      lamports: amount,
    });
  const payToken: VerifyScene["payToken"] = ({ mint = mints.USDC, authority = alice, ...change } = {}) =>
    createTransferCheckedInstruction(
      change.source ?? ata(authority, mint),
      new PublicKey(mint),
      change.to ?? ata(bob, mint),
      keyOf(authority),
      change.amount ?? AMOUNT,
      change.decimals ?? 6,
    );
  const createAta: VerifyScene["createAta"] = ({
    owner = bob,
    payer = alice,
    mint = mints.USDC,
    ...change
  } = {}) =>
    createAssociatedTokenAccountIdempotentInstruction(
      keyOf(payer),
      change.account ?? ata(owner, mint),
      keyOf(owner),
      new PublicKey(mint),
      change.program,
    );
  return {
    ...fixture,
    alice,
    bob,
    mallory,
    sol: declared(null, 9),
    usdc: declared(mints.USDC, 6),
    usdt: declared(mints.USDT, 6),
    ata,
    paySol,
    payToken,
    createAta,
    honest: ({ mint }) => (mint === null ? [paySol()] : [createAta({ mint }), payToken({ mint })]),
    judge: async (payment, instructions, signing = {}) =>
      verdict(ledger, await signed(fixture, { signers: [alice], instructions, ...signing }), payment),
    judgeBytes: async (payment, message, signers = [alice]) =>
      verdict(
        ledger,
        wire(
          message,
          signers.map((signer) => signatureOf(message, signer)),
        ),
        payment,
      ),
    blockhash: () => newestBlockhash(chain),
    table: async (addresses) => {
      // A table's address follows from its authority and a recent slot: one slot, one table.
      chain.advance(1);
      const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({
        authority: keyOf(alice),
        payer: keyOf(alice),
        recentSlot: chain.slot() - 1,
      });
      await land(fixture, { signers: [alice], instructions: [create] });
      for (let at = 0; at < addresses.length; at += ADDRESSES_PER_EXTENSION) {
        const some = addresses.slice(at, at + ADDRESSES_PER_EXTENSION);
        await land(fixture, { signers: [alice], instructions: [extension(alice, lookupTable, some)] });
      }
      const connection = new Connection("http://local", { fetch: chain.fetch });
      const { value } = await connection.getAddressLookupTable(lookupTable, { commitment: "finalized" });
      if (value === null) throw new Error("the table did not land");
      return value;
    },
  };
}

/** Appends addresses to a table. */
export function extension(
  authority: Wallet,
  lookupTable: PublicKey,
  addresses: readonly PublicKey[],
): TransactionInstruction {
  const key = keyOf(authority);
  return AddressLookupTableProgram.extendLookupTable({
    authority: key,
    payer: key,
    lookupTable,
    addresses: [...addresses],
  });
}

/** An instruction of any program with any data. Nobody it names has to sign, nothing is written. */
export function instruction(
  programId: string | PublicKey,
  data: Uint8Array | readonly number[],
  keys: readonly PublicKey[] = [],
): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(programId),
    keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from(data),
  });
}

/** The same instruction, naming as signers only those who are left. */
export function unsignedBy(
  { address }: Pick<Wallet, "address">,
  { programId, data, keys }: TransactionInstruction,
): TransactionInstruction {
  const named = keys.map((key) => ({ ...key, isSigner: key.isSigner && key.pubkey.toBase58() !== address }));
  return new TransactionInstruction({ programId, data, keys: named });
}
