/** A landed transaction with its meta, in the encodings a caller may ask for. */
import { MessageV1 } from "@solana/web3.js";
import bs58 from "bs58";
import type { AccountKeys } from "../account-keys.ts";
import type { InnerInstruction } from "../bank.ts";
import type { LandedTransaction } from "../transaction-history.ts";
import { type RpcCallOptions, readCount } from "./call.ts";
import { invalidParams, RPC_CODE, RpcError } from "./errors.ts";

/** `transaction`, `meta` and `version` of a landed transaction. Throws -32015 for a version the caller cannot read. */
export function encodeLandedTransaction(landed: LandedTransaction, config: RpcCallOptions): object {
  const version = answeredVersion(landed, config);
  return {
    transaction: encodeTransaction(landed, config),
    meta: transactionMeta(landed, config),
    ...version,
  };
}

function unsupportedVersion(version: number): RpcError {
  return new RpcError(
    RPC_CODE.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      `Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

/** A landed transaction with `transactionDetails: "accounts"`: its accounts, and their balances. */
export function encodeParticipants(landed: LandedTransaction, config: RpcCallOptions): object {
  const version = answeredVersion(landed, config);
  const { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } =
    transactionMeta(landed, config);
  return {
    transaction: { accountKeys: describedKeys(landed), signatures: signatures(landed) },
    meta: { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances },
    ...version,
  };
}

/**
 * The transaction's `version`, for callers that know of it; a refusal for others when the version is not legacy.
 */
function answeredVersion(
  { version }: LandedTransaction,
  config: RpcCallOptions,
): { version?: LandedTransaction["version"] } {
  const supported = config["maxSupportedTransactionVersion"];
  if (supported === undefined || supported === null) {
    if (version !== "legacy") throw unsupportedVersion(version);
    return {};
  }
  if (version !== "legacy" && version > readCount(supported)) throw unsupportedVersion(version);
  return { version };
}

function encodeTransaction(landed: LandedTransaction, config: RpcCallOptions): unknown {
  const encoding = config["encoding"] ?? "json";
  switch (encoding) {
    case "base64":
      return [Buffer.from(landed.bytes).toString("base64"), "base64"];
    case "base58":
      return [bs58.encode(landed.bytes), "base58"];
    case "json":
      return { signatures: signatures(landed), message: rawMessage(landed) };
    case "jsonParsed":
      return { signatures: signatures(landed), message: parsedMessage(landed) };
    default:
      throw invalidParams(
        `Invalid params: this chain does not write the encoding ${JSON.stringify(encoding)}.`,
      );
  }
}

function signatures({ transaction }: LandedTransaction): string[] {
  return transaction.signatures.map((signature) => bs58.encode(signature));
}

function rawMessage(landed: LandedTransaction): unknown {
  const { transaction, staticKeys } = landed;
  const { message } = transaction;
  return {
    accountKeys: staticKeys,
    header: message.header,
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: [...accountKeyIndexes],
      data: bs58.encode(data),
      stackHeight: 1,
    })),
    ...partsOf(landed),
  };
}

/** The parts of a message that messages of other versions do not have. */
function partsOf({ transaction, version }: LandedTransaction): object {
  const { message } = transaction;
  if (message instanceof MessageV1) return { transactionConfig: message.transactionConfig };
  return version === "legacy" ? {} : { addressTableLookups: lookups({ transaction }) };
}

function parsedMessage(landed: LandedTransaction): unknown {
  const { transaction, keys } = landed;
  const { message } = transaction;
  return {
    accountKeys: describedKeys(landed),
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
      describeCompiled({ programIdIndex, accounts: accountKeyIndexes, data }, keys, 1),
    ),
    ...partsOf(landed),
  };
}

function describedKeys({ transaction, keys, staticKeys }: LandedTransaction): unknown[] {
  const { numRequiredSignatures } = transaction.message.header;
  return keys.all.map(({ address, isWritable }, index) => ({
    pubkey: address,
    signer: index < numRequiredSignatures,
    writable: isWritable,
    source: index < staticKeys.length ? "transaction" : "lookupTable",
  }));
}

/** An instruction that names its accounts by their indices. */
interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: Iterable<number>;
  readonly data: Uint8Array;
}

function describeCompiled(
  { programIdIndex, accounts, data }: CompiledInstruction,
  { all }: AccountKeys,
  stackHeight: number,
): object {
  const addressAt = (index: number): string => all[index]?.address ?? "";
  return {
    programId: addressAt(programIdIndex),
    accounts: [...accounts].map(addressAt),
    data: bs58.encode(data),
    stackHeight,
  };
}

function lookups({ transaction }: Pick<LandedTransaction, "transaction">): unknown {
  return transaction.message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
    accountKey: accountKey.toBase58(),
    writableIndexes: [...writableIndexes],
    readonlyIndexes: [...readonlyIndexes],
  }));
}

function transactionMeta(landed: LandedTransaction, config: RpcCallOptions) {
  const { err, fee, balances, tokenBalances, logs, computeUnits, keys, returnData } = landed;
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee,
    preBalances: balances.before,
    postBalances: balances.after,
    preTokenBalances: tokenBalances.before,
    postTokenBalances: tokenBalances.after,
    innerInstructions:
      config["encoding"] === "jsonParsed"
        ? describeInnerInstructions(landed.innerInstructions, keys)
        : encodeInnerInstructions(landed.innerInstructions),
    logMessages: logs,
    rewards: [],
    computeUnitsConsumed: computeUnits,
    loadedAddresses: keys.loaded,
    ...(returnData === null ? {} : { returnData: encodeReturnData(returnData) }),
  };
}

/** Inner instructions by the index of the instruction that caused them; instructions without any are left out. */
function encodeInnerInstructions(groups: readonly (readonly InnerInstruction[])[]): unknown[] {
  return groupInnerInstructions(groups, ({ programIdIndex, accounts, data, stackHeight }) => ({
    programIdIndex,
    accounts: [...accounts],
    data: bs58.encode(data),
    stackHeight,
  }));
}

/** Inner instructions in words. */
export function describeInnerInstructions(
  groups: readonly (readonly InnerInstruction[])[],
  keys: AccountKeys,
): unknown[] {
  return groupInnerInstructions(groups, (called) => describeCompiled(called, keys, called.stackHeight));
}

function groupInnerInstructions(
  groups: readonly (readonly InnerInstruction[])[],
  encode: (called: InnerInstruction) => unknown,
): unknown[] {
  return groups.flatMap((inner, index) =>
    inner.length === 0 ? [] : [{ index, instructions: inner.map(encode) }],
  );
}

/** The return data of a program, as nodes write it. */
export function encodeReturnData(returned: { program: string; data: Uint8Array }): unknown {
  return { programId: returned.program, data: [Buffer.from(returned.data).toString("base64"), "base64"] };
}
