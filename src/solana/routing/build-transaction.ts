/** Compiles a plan to the message that its signers sign, builds its transaction, and tells its size and fee beforehand. */
import {
  PACKET_DATA_SIZE,
  MessageV0,
  ComputeBudgetProgram,
  PublicKey,
  type TransactionInstruction,
} from "@solana/web3.js";
import { addressOf, type Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Bid, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import type { NodeContext } from "../ask.ts";
import { newestBlockhash } from "../blockhash-window.ts";
import { priorityFeeOf } from "../compute-budget.ts";
import { feeWithBid } from "../payment-cost.ts";
import { computeLimit, planInstructions, type StepOfTransaction } from "./plan-instructions.ts";
import { unitPrice as unitPriceOf } from "./unit-price.ts";

/** The bytes of the plan with its signatures. Asks no node. */
export function sizeOf(plan: TransactionPlan): number {
  return signedSize(draftOf(plan));
}

/** See `RoutingLedger.feeOf`. */
export async function feeOfPlan(
  nodes: NodeContext,
  plan: TransactionPlan,
  from: "estimate" | "floor",
): Promise<Evidence<bigint>> {
  const planned = planInstructions(plan.moves);
  const draft = compilePlan(plan.feePayer, planned, ANY_TERMS);
  expectFits(draft);
  const units = computeLimit(planned);
  return feeWithBid(nodes, draft, priorityFeeOf(units, await unitPriceOf(nodes, units, { from })));
}

function expectFits(draft: MessageV0): void {
  const size = signedSize(draft);
  if (size <= PACKET_DATA_SIZE) return;
  throw new RangeError(`a plan of ${size} bytes does not fit in one transaction`);
}

/** See `RoutingLedger.buildTransaction`. Faults of the plan are told before a node is asked. */
export async function buildTransaction(
  nodes: NodeContext,
  plan: TransactionPlan,
  bid: Bid = { from: "estimate" },
): Promise<UnsignedTransaction> {
  const { feePayer } = plan;
  const draft = draftOf(plan);
  expectFits(draft);
  const planned = planInstructions(plan.moves);
  const units = computeLimit(planned);
  const price = await unitPriceOf(nodes, units, bid);
  const priorityFee = priorityFeeOf(units, price);
  // The blockhash last: its 150 blocks are running.
  const { blockhash, lastValidBlockHeight, firstSlot } = await newestBlockhash(nodes);
  const message = compilePlan(feePayer, planned, { unitPrice: price, blockhash });
  return {
    message: message.serialize(),
    signers: message.staticAccountKeys
      .slice(0, message.header.numRequiredSignatures)
      .map((key) => addressOf(key.toBytes())),
    blockhash,
    lastValidBlockHeight,
    firstSlot,
    networkFee: await feeWithBid(nodes, draft, priorityFee),
    priorityFee,
  };
}

/** The message without a bid: its length, its accounts and the fee of its signatures depend on no answer of a node. */
function draftOf({ feePayer, moves }: TransactionPlan): MessageV0 {
  return compilePlan(feePayer, planInstructions(moves), ANY_TERMS);
}

/** Every message begins with the compute limit and the priority fee. */
export const BUDGET_INSTRUCTIONS = 2;

/** Terms of a message, besides its moves. */
interface MessageTerms {
  /** The priority fee in millionths of a lamport per compute unit. */
  readonly unitPrice: bigint;
  readonly blockhash: string;
}

/** Terms for a message of which the length, the accounts or the fee of the signatures is asked: none depends on them. */
export const ANY_TERMS: MessageTerms = { unitPrice: 0n, blockhash: PublicKey.default.toBase58() };

/** A v0 message without lookup tables. Throws `RangeError` for more accounts than a message can name. */
export function compilePlan(
  feePayer: Address,
  planned: readonly StepOfTransaction[],
  { unitPrice, blockhash }: MessageTerms,
): MessageV0 {
  return compileMessage({
    feePayer: new PublicKey(feePayer),
    blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: computeLimit(planned) }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }),
      ...planned.map(({ instruction }) => instruction),
    ],
  });
}

/** Bytes of the message with its signatures. Counted, since web3.js writes nothing that is longer than 1,232 bytes. */
function signedSize({ header, staticAccountKeys, compiledInstructions }: MessageV0): number {
  const instructions = compiledInstructions.map(
    ({ accountKeyIndexes, data }) => 1 + listSize(accountKeyIndexes.length, 1) + listSize(data.length, 1),
  );
  return (
    listSize(header.numRequiredSignatures, SIGNATURE_BYTES) +
    VERSION_AND_HEADER_BYTES +
    listSize(staticAccountKeys.length, KEY_BYTES) +
    KEY_BYTES +
    listSize(instructions.length, 0) +
    instructions.reduce((sum, size) => sum + size, 0) +
    listSize(0, 0)
  );
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_AND_HEADER_BYTES = 4;

/** A list begins with its length, which takes one byte up to 127, and two bytes for all lengths that occur here. */
function listSize(length: number, itemBytes: number): number {
  return (length < 0x80 ? 1 : 2) + length * itemBytes;
}

interface MessageParts {
  readonly feePayer: PublicKey;
  readonly blockhash: string;
  readonly instructions: readonly TransactionInstruction[];
}

// Instructions name accounts by one byte. No transaction holds nearly so many, but a message can be compiled of them.
const MAX_ACCOUNTS = 256;

interface Mentioned {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
}

/**
 * Compiles the message. Throws `RangeError` for more accounts than a message can name. web3.js compiles the same, but writes
 * the key in base58 for each mention of an account. That takes ten times as long as all the rest.
 */
export function compileMessage({ feePayer, blockhash, instructions }: MessageParts): MessageV0 {
  const accounts = mentionedIn(feePayer, instructions);
  if (accounts.size > MAX_ACCOUNTS) {
    throw new RangeError(`a plan over ${accounts.size} accounts does not fit in one transaction`);
  }
  const all = [...accounts];
  const signers = all.filter(([, { isSigner }]) => isSigner);
  const others = all.filter(([, { isSigner }]) => !isSigner);
  const ordered = [...writableFirst(signers), ...writableFirst(others)];
  const indexes = new Map(ordered.map(([name], index) => [name, index]));
  const indexOf = (key: PublicKey): number => indexes.get(nameOf(key)) ?? 0;
  return new MessageV0({
    header: {
      numRequiredSignatures: signers.length,
      numReadonlySignedAccounts: readonlyIn(signers),
      numReadonlyUnsignedAccounts: readonlyIn(others),
    },
    staticAccountKeys: ordered.map(([, { key }]) => key),
    recentBlockhash: blockhash,
    compiledInstructions: instructions.map(({ programId, keys, data }) => ({
      programIdIndex: indexOf(programId),
      accountKeyIndexes: keys.map(({ pubkey }) => indexOf(pubkey)),
      data,
    })),
    addressTableLookups: [],
  });
}

type Entry = readonly [string, Mentioned];

/** Mentioned accounts by their bytes, in order: the fee payer, then by instruction its program and accounts. */
function mentionedIn(
  feePayer: PublicKey,
  instructions: readonly TransactionInstruction[],
): ReadonlyMap<string, Mentioned> {
  const accounts = new Map<string, Mentioned>();
  const mention = (key: PublicKey, isSigner: boolean, isWritable: boolean): void => {
    const name = nameOf(key);
    const known = accounts.get(name);
    if (known === undefined) {
      accounts.set(name, { key, isSigner, isWritable });
      return;
    }
    known.isSigner ||= isSigner;
    known.isWritable ||= isWritable;
  };
  mention(feePayer, true, true);
  for (const { programId, keys } of instructions) {
    mention(programId, false, false);
    for (const { pubkey, isSigner, isWritable } of keys) mention(pubkey, isSigner, isWritable);
  }
  return accounts;
}

/** The key as text, one character for each byte. */
function nameOf(key: PublicKey): string {
  return Buffer.from(key.toBytes()).toString("latin1");
}

function writableFirst(entries: readonly Entry[]): readonly Entry[] {
  return [
    ...entries.filter(([, { isWritable }]) => isWritable),
    ...entries.filter(([, { isWritable }]) => !isWritable),
  ];
}

function readonlyIn(entries: readonly Entry[]): number {
  return entries.filter(([, { isWritable }]) => !isWritable).length;
}
