/** Runs a transaction on nodes without sending it, its bytes as they would be sent, and reads what the chain says of its failure. */
import type { Evidence } from "../ledger/belief.ts";
import { failureOf, untilAgreed } from "./agree.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { isDead } from "./blockhash-window.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { BLOCKHASH_NOT_FOUND } from "./rpc/rpc-node.ts";
import type { FaultError } from "../ledger/order-fault.ts";

/** A simulated run: the chain's error in its JSON form (null: none), and the log. */
export interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
}

// A node refuses the signature before it runs anything: OpenSSL takes a few keys that the chain does not.
const SIGNATURE_REFUSED = -32003;

/**
 * Simulates at confirmed, over the blockhash in the bytes; null when it succeeds. `sigVerify` has the node check the
 * signatures too.
 *
 * The success of a single run is enough: a transaction that then fails on the chain costs its fee and moves nothing. An
 * error is believed when `nodes.witnesses` endpoints tell the same, since payees are left out and callers are refused
 * because of it. A node that does not know the blockhash may only lag: it is asked again for about two seconds, unless the
 * blockhash is dead.
 */
export async function simulate(
  nodes: NodeContext,
  { bytes, blockhash }: { readonly bytes: Uint8Array; readonly blockhash: string },
  sigVerify: boolean,
): Promise<Evidence<Simulation> | null> {
  return await untilAgreed(nodes, async () => {
    const failure = await failureOf(nodes, {
      of: "tryOrder",
      subject: "a simulated transaction",
      question: runOf(bytes, sigVerify),
      textOf: ({ err }) => JSON.stringify(err),
      passes: ({ err }) => err === null,
      mayLag: ({ err }) => err === BLOCKHASH_NOT_FOUND,
    });
    if (failure?.err !== BLOCKHASH_NOT_FOUND) return failure;
    return (await isDead(nodes, blockhash)) ? failure : undefined;
  });
}

function runOf(bytes: Uint8Array, sigVerify: boolean): EndpointCall<Simulation> {
  return async ({ rpc }) => {
    try {
      const { err, logs } = await rpc.simulateTransaction(bytes, { sigVerify });
      return { err, logs: logs ?? [] };
    } catch (error) {
      if (!isSignatureRefused(error)) throw error;
      return { err: "SignatureFailure", logs: [] };
    }
  };
}

function isSignatureRefused(error: unknown): boolean {
  return error instanceof EndpointFailure && error.kind === "rpc" && error.facts.code === SIGNATURE_REFUSED;
}

/** An error of the transaction as a whole, of an account that is left with too little, or of one instruction. */
export type ChainError =
  | { readonly of: "transaction"; readonly error: FaultError }
  | { readonly of: "account"; readonly index: number; readonly error: "rent" }
  | { readonly of: "instruction"; readonly index: number; readonly error: FaultError };

/** Errors of a transaction as a whole. An account without lamports does not exist, and so cannot pay the fee. */
const WHOLE: Readonly<Record<string, FaultError>> = {
  BlockhashNotFound: "blockhash",
  AlreadyProcessed: "already_processed",
  AccountNotFound: "fee",
  InsufficientFundsForFee: "fee",
  InvalidAccountForFee: "fee",
};

// The runtime's names for an account that is not there or is something else; they differ between program versions.
const NO_SUCH_ACCOUNT: ReadonlySet<unknown> = new Set([
  "InvalidAccountData",
  "UninitializedAccount",
  "InvalidAccountOwner",
  "IncorrectProgramId",
  "IllegalOwner",
]);

/** An unknown fault is an `other` error of the transaction. */
export function readChainError(err: unknown): ChainError {
  const poor = field(field(err, "InsufficientFundsForRent"), "account_index");
  if (typeof poor === "number") return { of: "account", index: poor, error: "rent" };
  const failure = field(err, "InstructionError");
  const index = field(failure, "0");
  if (typeof index === "number") return { of: "instruction", index, error: errorOf(field(failure, "1")) };
  return { of: "transaction", error: (typeof err === "string" ? WHOLE[err] : undefined) ?? "other" };
}

function errorOf(cause: unknown): FaultError {
  const custom = field(cause, "Custom");
  if (typeof custom === "number") return { custom };
  if (cause === "ReadonlyLamportChange") return "readonly_lamports";
  return NO_SUCH_ACCOUNT.has(cause) ? "missing_account" : "other";
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
