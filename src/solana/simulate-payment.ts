/** Simulates a verified payment, and explains to its payer why it would fail. */
import type { Evidence } from "../ledger/belief.ts";
import {
  LedgerUnavailable,
  type DeclaredPayment,
  type SimulationFault,
  type VerifiedPayment,
} from "../ledger/ledger.ts";
import type { NodeContext } from "./ask.ts";
import { decodeTransaction } from "./decode-transaction.ts";
import { readInstruction } from "./read-instruction.ts";
import { askAnew } from "./answer-cache.ts";
import { resolveInstructions } from "./resolve-instructions.ts";
import { simulate, type Simulation } from "./simulation.ts";
import { follows } from "./agree.ts";
import { rentMinimum } from "./payment-cost.ts";
import { lamportShortage, missingTokenAccount, tokenShortage, type ReadPayment } from "./shortages.ts";

/** Simulates with the signatures checked. The bytes are taken apart again only to explain a failure. */
export async function simulatePayment(
  nodes: NodeContext,
  verified: VerifiedPayment,
  payment: DeclaredPayment,
): Promise<Evidence<SimulationFault> | null> {
  const failure = await simulate(nodes, verified, true);
  if (failure === null) return null;
  const decoding = decodeTransaction(Buffer.from(verified.bytes).toString("base64"));
  if ("refused" in decoding) throw new TypeError("only verified bytes can be simulated");
  const { decoded } = decoding;
  const instructions = await resolveInstructions(nodes, decoded);
  if (instructions === null) {
    throw new LedgerUnavailable("a lookup table that was found before is not found now");
  }
  const meanings = instructions.map(readInstruction);
  // A price that rose may be the very reason.
  const asking = { ...nodes, remembered: askAnew };
  return await explainFailure(asking, failure, { payment, message: decoded.message, meanings });
}

// Both the System and the Token program number "insufficient funds" 1, so the failed instruction decides whose it is.
const CUSTOM_INSUFFICIENT_FUNDS = 1;
const CUSTOM_ACCOUNT_FROZEN = 0x11;
// The fee payer is the first account of every message.
const FEE_PAYER_INDEX = 0;
// The end of the log names the failure; the rest is noise of successful instructions.
const LOG_LINES = 20;

async function explainFailure(
  nodes: NodeContext,
  failure: Evidence<Simulation>,
  read: ReadPayment,
): Promise<Evidence<SimulationFault>> {
  const fault = await faultOf(nodes, failure, read);
  return follows(failure, () => fault);
}

async function faultOf(
  nodes: NodeContext,
  { err, logs }: Evidence<Simulation>,
  read: ReadPayment,
): Promise<SimulationFault> {
  if (err === "BlockhashNotFound") return { kind: "blockhash_expired" };
  if (err === "AlreadyProcessed") return { kind: "already_processed" };
  // An account without lamports does not exist, and one that does not exist cannot pay the fee.
  if (err === "AccountNotFound" || err === "InsufficientFundsForFee") {
    return await lamportShortage(nodes, read, "fee");
  }
  const poorAccount = field(field(err, "InsufficientFundsForRent"), "account_index");
  if (poorAccount === FEE_PAYER_INDEX) return await lamportShortage(nodes, read, "leftover");
  if (poorAccount !== undefined && read.payment.mint === null) {
    const { payment, message } = read;
    const poor = message.staticAccountKeys[Number(poorAccount)]?.toBase58();
    const transfer = payment.transfers.findIndex(({ recipient }) => recipient === poor);
    return {
      kind: "recipient_below_rent",
      minimum: await rentMinimum(nodes, 0),
      transfer: transfer < 0 ? null : transfer,
    };
  }
  const explained = await explainInstructionError(nodes, field(err, "InstructionError"), read);
  if ("kind" in explained) return explained;
  return { kind: "would_fail", reason: explained.reason, logs: logs.slice(-LOG_LINES) };
}

type Explained =
  | Extract<SimulationFault, { kind: "insufficient_balance" }>
  | { reason: "no_token_account" | "frozen" | "program_error" };

/** `error` is `[index of the instruction, its error]`. */
async function explainInstructionError(
  nodes: NodeContext,
  error: unknown,
  read: ReadPayment,
): Promise<Explained> {
  const custom = field(field(error, "1"), "Custom");
  const index = field(error, "0");
  const meaning = typeof index === "number" ? read.meanings[index] : undefined;
  switch (meaning?.does) {
    case "transfer_sol":
      if (custom === CUSTOM_INSUFFICIENT_FUNDS) return await lamportShortage(nodes, read, "fee");
      break;
    case "create_token_account":
      if (custom === CUSTOM_INSUFFICIENT_FUNDS) return await lamportShortage(nodes, read, "rent");
      break;
    case "transfer_token": {
      if (custom === CUSTOM_ACCOUNT_FROZEN) return { reason: "frozen" };
      if (custom === CUSTOM_INSUFFICIENT_FUNDS) return await tokenShortage(nodes, read, meaning.source);
      // The program's word for an account that is not there differs between its versions; the chain's does not.
      const missing = await missingTokenAccount(nodes, meaning);
      if (missing === "source") return await tokenShortage(nodes, read, meaning.source);
      const isCreated = read.meanings.some(
        (each) => each.does === "create_token_account" && each.account === meaning.destination,
      );
      if (missing === "destination" && !isCreated) return { reason: "no_token_account" };
      break;
    }
    default:
  }
  return { reason: "program_error" };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
