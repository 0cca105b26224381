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
import { explainFailure } from "./explain-failure.ts";
import { readInstruction } from "./read-instruction.ts";
import { askAnew } from "./answer-cache.ts";
import { resolveInstructions } from "./resolve-instructions.ts";
import { simulate } from "./simulation.ts";

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
