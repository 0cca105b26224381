/** Methods that bring transactions to the chain, or tell what would happen if. */
import { VersionedMessage } from "@solana/web3.js";
import bs58 from "bs58";
import { fundingTransaction } from "../funding.ts";
import { mostBytes, VERSION_1 } from "../../solana/message-v1.ts";
import type { Simulation } from "../bank.ts";
import type { View } from "../chain-state.ts";
import { type DecodedTransaction, decodeTransaction, MalformedTransaction } from "../transaction-bytes.ts";
import { describeTransactionError, type TransactionErrorJson } from "../transaction-errors.ts";
import { feeFor } from "../fees.ts";
import { encodeAccount } from "./account-data.ts";
import { type RpcCallOptions, readAddress, type RpcCall, type RpcHandler, withContext } from "./call.ts";
import { invalidParams, RPC_CODE, RpcError } from "./errors.ts";
import { describeInnerInstructions, encodeReturnData } from "./transaction-json.ts";

function sendTransaction(call: RpcCall): unknown {
  const config = call.config(1);
  const transaction = readTransaction(call.text(0), config["encoding"] ?? "base58");
  const view = call.view(config, "preflightCommitment");
  if (config["skipPreflight"] !== true) preflight(call, transaction, view);
  if (!call.dropsSends) call.chain.submit(transaction);
  return transaction.signature;
}

/** Throws -32003 for a wrong signature, -32002 for a transaction that would fail. */
function preflight(call: RpcCall, transaction: DecodedTransaction, view: View): void {
  const run = call.chain.simulate(transaction, view, { verifySignatures: true });
  if (run.err === "SignatureFailure") throw signatureFailure();
  const err = refusalAt(call, transaction, view) ?? run.err;
  if (err === null) return;
  throw new RpcError(
    RPC_CODE.preflightFailure,
    `Transaction simulation failed: ${describeTransactionError(err)}`,
    err === run.err ? outcome(run, err) : outcome(NOT_RUN, err),
  );
}

function signatureFailure(): RpcError {
  return new RpcError(RPC_CODE.signatureVerificationFailure, "Transaction signature verification failure");
}

/** Why the block of `view` would not even run the transaction: an unknown blockhash, or it is on the chain already. */
function refusalAt(
  call: RpcCall,
  { transaction, messageHash }: DecodedTransaction,
  view: View,
): string | undefined {
  if (!call.chain.blockhashes.isValid(transaction.message.recentBlockhash, view.slot)) {
    return "BlockhashNotFound";
  }
  const landed = call.chain.log.withMessage(messageHash);
  return landed !== undefined && landed.slot <= view.slot ? "AlreadyProcessed" : undefined;
}

type Run = Pick<Simulation, "logs" | "computeUnits" | "innerInstructions" | "returnData">;

const NOT_RUN: Run = { logs: [], computeUnits: 0n, innerInstructions: [], returnData: null };

function outcome(run: Run, err: TransactionErrorJson | null): object {
  return {
    err,
    logs: run.logs,
    accounts: null,
    unitsConsumed: run.computeUnits,
    returnData: run.returnData === null ? null : encodeReturnData(run.returnData),
    innerInstructions: null,
    replacementBlockhash: null,
  };
}

function simulateTransaction(call: RpcCall): unknown {
  const config = call.config(1);
  const transaction = readTransaction(call.text(0), config["encoding"] ?? "base58");
  const verifySignatures = config["sigVerify"] === true;
  const replacesBlockhash = config["replaceRecentBlockhash"] === true;
  if (verifySignatures && replacesBlockhash) {
    throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
  }
  const view = call.view(config);
  const run = call.chain.simulate(transaction, view, { verifySignatures });
  if (run.err === "SignatureFailure") throw signatureFailure();
  const refusal = replacesBlockhash ? undefined : refusalAt(call, transaction, view);
  const { blockhashes } = call.chain;
  return withContext(view.slot, {
    ...(refusal === undefined ? outcome(run, run.err) : outcome(NOT_RUN, refusal)),
    accounts: refusal === undefined ? accountsAfter(run, config, view) : null,
    innerInstructions:
      config["innerInstructions"] === true
        ? describeInnerInstructions(run.innerInstructions, run.keys)
        : null,
    replacementBlockhash: replacesBlockhash
      ? {
          blockhash: blockhashes.of(view.slot),
          lastValidBlockHeight: blockhashes.lastValidBlockHeight(view.slot),
        }
      : null,
  });
}

/** The accounts that the caller wants to see as the simulated transaction left them. */
function accountsAfter({ keys, after, err }: Simulation, config: RpcCallOptions, view: View): unknown {
  const wanted = config["accounts"] as { addresses?: unknown; encoding?: unknown } | null | undefined;
  if (wanted === undefined || wanted === null) return null;
  if (!Array.isArray(wanted.addresses)) {
    throw invalidParams("Invalid params: accounts.addresses is a sequence.");
  }
  if (wanted.addresses.length > keys.all.length) {
    throw invalidParams(`Too many accounts provided; max ${keys.all.length}`);
  }
  const seen: View = {
    ...view,
    account: (address) => {
      const changed = after.get(address);
      return changed === undefined ? view.account(address) : changed;
    },
  };
  const encoding = { encoding: wanted.encoding ?? "base64" };
  return wanted.addresses.map((value) => {
    const address = readAddress(value);
    return err === null ? encodeAccount(seen.account(address), encoding, seen) : null;
  });
}

function getFeeForMessage(call: RpcCall): unknown {
  const view = call.view(call.config(1));
  const message = readMessage(readBytes(call.text(0), "base64"));
  const isKnown = call.chain.blockhashes.isValid(message.recentBlockhash, view.slot);
  return withContext(view.slot, isKnown ? feeFor(message) : null);
}

function readMessage(bytes: Uint8Array): VersionedMessage {
  try {
    return VersionedMessage.deserialize(bytes);
  } catch {
    throw invalidParams("failed to deserialize the message");
  }
}

function requestAirdrop(call: RpcCall): unknown {
  const { chain } = call;
  const transaction = decodeTransaction(
    fundingTransaction({
      keys: chain.keys,
      recipient: call.address(0),
      funds: { lamports: BigInt(call.count(1)) },
      blockhash: chain.blockhashes.of(chain.currentSlot()),
      number: chain.log.length,
    }),
  );
  if (!call.dropsSends) chain.submit(transaction);
  return transaction.signature;
}

/** The methods of this file by name. */
export const submissionMethods: Readonly<Record<string, RpcHandler>> = {
  sendTransaction,
  simulateTransaction,
  getFeeForMessage,
  requestAirdrop,
};

/**
 * Length of the encoded form of the largest transaction: base58, which takes quadratic time, is for those of 1,232 bytes.
 * Nothing longer is decoded.
 */
const MAX_ENCODED = {
  base58: { length: 1683, bytes: mostBytes(0) },
  base64: { length: 5464, bytes: mostBytes(VERSION_1) },
} as const;

/** Standard alphabet, padded: the forms that agave's decoder accepts. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes and checks a transaction. Throws -32602 with agave's words. */
function readTransaction(encoded: string, encoding: unknown): DecodedTransaction {
  const bytes = readBytes(encoded, encoding);
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    if (error instanceof MalformedTransaction) throw invalidParams(`invalid transaction: ${error.message}`);
    throw error;
  }
}

/** Decodes at most the bytes of a transaction. Throws -32602. */
function readBytes(encoded: string, encoding: unknown): Uint8Array {
  if (encoding !== "base58" && encoding !== "base64") {
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  }
  const most = MAX_ENCODED[encoding];
  if (encoded.length > most.length) {
    throw invalidParams(
      `${encoding} encoded transaction too large: ${encoded.length} bytes (max: encoded/raw ${most.length}/${most.bytes})`,
    );
  }
  const bytes = encoding === "base58" ? bs58.decodeUnsafe(encoded) : decodeBase64(encoded);
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  return bytes;
}

function decodeBase64(encoded: string): Uint8Array | undefined {
  return BASE64.test(encoded) ? Uint8Array.from(Buffer.from(encoded, "base64")) : undefined;
}
