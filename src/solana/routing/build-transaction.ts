/** Compiles a plan to the message that its signers sign, builds its transaction, and tells its size and fee beforehand. */
import { PACKET_DATA_SIZE, type MessageV0, ComputeBudgetProgram, PublicKey } from "@solana/web3.js";
import { addressOf, type Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Bid, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import type { NodeContext } from "../ask.ts";
import { newestBlockhash } from "../blockhash-window.ts";
import { priorityFeeOf, MAX_COMPUTE_UNITS } from "../compute-budget.ts";
import { feeWithBid } from "../payment-cost.ts";
import { planInstructions, type StepOfTransaction } from "./plan-instructions.ts";
import { unitPrice as unitPriceOf } from "./unit-price.ts";
import { compileMessage } from "./compile-message.ts";
import { triesInVain } from "../associated-token-account.ts";

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

/** See `RoutingLedger.buildTransaction`. What is wrong with the plan is said before a node is asked. */
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

// Compute units per instruction, generously: the runtime's own programs take 150. Of the token programs the dearer
// version counts, the first one (transfer 6,200, close 3,000, create 21,000 with all that it calls); since p-token they
// take 105, 118 and 13,500.
const UNITS: Readonly<Record<StepOfTransaction["step"], number>> = {
  allocate: 500,
  fund: 500,
  create: 30_000,
  pay: 10_000,
  close: 5_000,
  empty: 500,
};
const BUDGET_UNITS = 500;

// Where an associated account lies is found by trying bump seeds from 255 down, in the program as here; each further try
// costs it 1,500 units (measured). A recipient who ground an address with a low bump would otherwise fail everybody's
// transaction.
const UNITS_PER_BUMP = 1_500;

export function computeLimit(planned: readonly StepOfTransaction[]): number {
  const units = planned.reduce((sum, each) => sum + UNITS[each.step] + searchUnits(each), BUDGET_UNITS);
  return Math.min(units, MAX_COMPUTE_UNITS);
}

function searchUnits({ step, instruction }: StepOfTransaction): number {
  if (step !== "create") return 0;
  const [, , owner = "", mint = "", , tokenProgram = ""] = instruction.keys.map(({ pubkey }) =>
    pubkey.toBase58(),
  );
  return UNITS_PER_BUMP * triesInVain(owner, mint, tokenProgram);
}
