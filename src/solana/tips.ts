/**
 * The tip that a relay wants for what it passes on: a transfer of the fee payer's that stands last in a transaction, where its
 * bytes have room.
 */
import { createHash } from "node:crypto";
import { PublicKey, SystemProgram, VersionedMessage } from "@solana/web3.js";
import type { Address } from "../address.ts";
import type { Attempt, Landing, Transfer } from "../ledger/ledger.ts";
import { splitTransaction } from "../ledger/wire-format.ts";
import { withRole, type Endpoint, type Tip } from "./endpoint.ts";
import { SYSTEM_PROGRAM } from "./programs.ts";
import { readInstruction } from "./read-instruction.ts";
import type { StepOfTransaction } from "./routing/plan-instructions.ts";

/** The tip of the one relay that wants one; null where none of these does. */
export function tipOf(endpoints: readonly Pick<Endpoint, "roles" | "tip">[]): Tip | null {
  return endpoints.find(({ roles, tip }) => roles.includes("send") && tip !== null)?.tip ?? null;
}

/** The endpoints that take these bytes: a relay that wants a tip takes none without. */
export function sendersOf(endpoints: readonly Endpoint[], bytes: Uint8Array): readonly Endpoint[] {
  return withRole(endpoints, "send").filter(({ tip }) => tip === null || isTipped(bytes, tip));
}

/** One of the relay's accounts, always the same one for the same seed. Transactions that write to the same account wait for one another. */
export function transferOf({ accounts, lamports }: Tip, seed: Uint8Array): Transfer {
  const number = createHash("sha256").update(seed).digest().readUInt32LE();
  const recipient = accounts[number % accounts.length];
  if (recipient === undefined) throw new RangeError("a relay that wants a tip has an account for it");
  return { recipient, amount: lamports };
}

export function tipInstruction(payer: Address, { recipient, amount }: Transfer): StepOfTransaction {
  const instruction = SystemProgram.transfer({
    fromPubkey: new PublicKey(payer),
    toPubkey: new PublicKey(recipient),
    lamports: amount,
  });
  return { step: "fund", instruction };
}

/** The most instructions that the chain runs for a transaction, those that they call included. */
const MAX_TRACE = 64;
/** The creation of a token account whose address somebody has given lamports. Every other step calls nothing. */
const CREATION_TRACE = 7;

/** Whether these steps run at their worst, beside as many other instructions. */
export function fitsTrace(steps: readonly StepOfTransaction[], besides: number): boolean {
  const trace = steps.reduce((sum, { step }) => sum + (step === "create" ? CREATION_TRACE : 1), besides);
  return trace <= MAX_TRACE;
}

/** Whether these bytes pay what the relay wants. Never throws. */
function isTipped(bytes: Uint8Array, { accounts, lamports }: Tip): boolean {
  try {
    const message = VersionedMessage.deserialize(splitTransaction(bytes)?.message ?? new Uint8Array());
    const { staticAccountKeys: keys } = message;
    const name = (index: number): string => keys[index]?.toBase58() ?? "";
    return message.compiledInstructions.some(({ programIdIndex, accountKeyIndexes, data }) => {
      if (name(programIdIndex) !== SYSTEM_PROGRAM) return false;
      const read = readInstruction({ program: SYSTEM_PROGRAM, accounts: accountKeyIndexes.map(name), data });
      if (read.does !== "transfer_sol" || read.amount !== lamports) return false;
      return accounts.some((account) => account === read.to);
    });
  } catch {
    return false;
  }
}

/** A landing with what its bytes have tipped: one with an error has moved nothing but its fee. */
export function withTipPaid<T extends Pick<Landing, "fee" | "error">>({ tip = 0n }: Attempt, landing: T): T {
  return landing.error === null ? { ...landing, fee: landing.fee + tip } : landing;
}
