/** Simulates a verified payment, and explains to its payer why it would fail. */
import { VersionedTransaction } from "@solana/web3.js";
import {
  LedgerUnavailable,
  type DeclaredPayment,
  type SimulationFault,
  type VerifiedPayment,
} from "../ledger/ledger.ts";
import { askUntil, type Nodes, type Question } from "./ask.ts";
import { decodeTransaction } from "./decode-transaction.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { explainFailure } from "./explain-failure.ts";
import { readInstruction } from "./read-instruction.ts";
import { askAnew } from "./remembered.ts";
import { resolveInstructions } from "./resolve-instructions.ts";

/** What a node says of a simulated run: the chain's error in its JSON form (null: none), and the log. */
interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
}

// A node refuses the signature before it runs anything: OpenSSL takes a few keys that the chain does not.
const SIGNATURE_REFUSED = -32003;

/**
 * Simulates at confirmed with the signatures checked and the blockhash as signed. A node that does not know the
 * blockhash may only lag (it was seen valid when the bytes were verified), so the next one is asked.
 */
export async function simulatePayment(
  nodes: Nodes,
  verified: VerifiedPayment,
  payment: DeclaredPayment,
): Promise<SimulationFault | null> {
  const decoding = decodeTransaction(Buffer.from(verified.bytes).toString("base64"));
  if ("refused" in decoding) throw new TypeError("only verified bytes can be simulated");
  const { decoded } = decoding;
  const question = simulate(new VersionedTransaction(decoded.message, [...decoded.signatures]));
  const { err, logs } = await askUntil(
    nodes,
    (simulation) => simulation.err !== "BlockhashNotFound",
    question,
  );
  if (err === null) return null;
  const instructions = await resolveInstructions(nodes, decoded);
  if (instructions === null) {
    throw new LedgerUnavailable("a lookup table that was found before is not found now");
  }
  const meanings = instructions.map(readInstruction);
  // A price that rose may be the very reason.
  const asking = { ...nodes, remembered: askAnew };
  return await explainFailure(asking, { err, logs }, { payment, message: decoded.message, meanings });
}

function simulate(transaction: VersionedTransaction): Question<Simulation> {
  return async (connection) => {
    try {
      const { value } = await connection.simulateTransaction(transaction, {
        commitment: "confirmed",
        sigVerify: true,
        replaceRecentBlockhash: false,
      });
      return { err: value.err, logs: value.logs ?? [] };
    } catch (error) {
      if (
        error instanceof EndpointFailure &&
        error.kind === "rpc" &&
        error.facts.code === SIGNATURE_REFUSED
      ) {
        return { err: "SignatureFailure", logs: [] };
      }
      throw error;
    }
  };
}
