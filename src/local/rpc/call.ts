/** A call of an RPC method: its strictly read parameters, and the chain as the answering node knows it. */
import bs58 from "bs58";
import type { ChainState, Commitment, View } from "../chain-state.ts";
import { invalidParams, RPC_CODE, RpcError } from "./errors.ts";

/** Base58 of 32 bytes is at most this long; more is not decoded, since decoding is quadratic. */
const MAX_ADDRESS_LENGTH = 44;
/** Base58 of 64 bytes. */
const MAX_SIGNATURE_LENGTH = 88;

const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Answers one method. Its return value is the call's `result`. */
export type RpcHandler = (call: RpcCall) => unknown;

/** The optional last parameter of most methods. */
export type RpcCallOptions = Readonly<Record<string, unknown>>;

/** The node that answers. */
interface AnsweringNode {
  readonly head: number;
  readonly firstSlot: number;
  readonly dropsSends: boolean;
}

/** A call being answered. */
export class RpcCall {
  readonly chain: ChainState;
  /** The newest slot the answering node knows. */
  readonly head: number;
  /** The oldest slot in the answering node's ledger; 0 for a ledger since genesis. */
  readonly firstSlot: number;
  /** Whether a transaction that is sent is lost on its way to the leader. */
  readonly dropsSends: boolean;
  readonly #params: readonly unknown[];

  constructor(chain: ChainState, params: readonly unknown[], node: AnsweringNode) {
    this.chain = chain;
    this.#params = params;
    this.head = node.head;
    this.firstSlot = node.firstSlot;
    this.dropsSends = node.dropsSends;
  }

  /** The configuration object at `index`; absent and null count as empty. */
  config(index: number): RpcCallOptions {
    const value = this.#params[index] ?? {};
    if (typeof value !== "object" || Array.isArray(value)) {
      throw invalidParams("Invalid params: invalid type: expected a configuration object.");
    }
    return value as RpcCallOptions;
  }

  /** A parameter that may be missing. */
  optional(index: number): unknown {
    return this.#params[index] ?? undefined;
  }

  /** The address at `index`, checked to be 32 bytes of base58. */
  address(index: number): string {
    return readAddress(this.#params[index]);
  }

  /** The signature at `index`, checked to be 64 bytes of base58. */
  signature(index: number): string {
    return readSignature(this.#params[index]);
  }

  /** The list at `index`, of at most `max` items. */
  list(index: number, max: number): readonly unknown[] {
    const value = this.#params[index];
    if (!Array.isArray(value)) throw invalidParams("Invalid params: invalid type: expected a sequence.");
    if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
    return value as readonly unknown[];
  }

  /** The string at `index`. */
  text(index: number): string {
    const value = this.#params[index];
    if (typeof value !== "string") throw invalidParams("Invalid params: invalid type: expected a string.");
    return value;
  }

  /** The whole number at `index`, from 0 up. */
  count(index: number): number {
    return readCount(this.#params[index]);
  }

  /** The accounts at the commitment that `config` asks for (finalized unless it says otherwise). */
  view(config: RpcCallOptions, key: "commitment" | "preflightCommitment" = "commitment"): View {
    const slot = this.chain.slotAt(readCommitment(config[key]), this.head);
    const minimum = config["minContextSlot"];
    if (minimum !== undefined && minimum !== null && readCount(minimum) > slot) {
      throw new RpcError(RPC_CODE.minContextSlotNotReached, "Minimum context slot has not been reached", {
        contextSlot: slot,
      });
    }
    return this.chain.viewAt(slot);
  }
}

/** The `result` of methods that also report their slot. */
export function withContext(slot: number, value: unknown): unknown {
  return { context: { slot }, value };
}

/** Checks an address given by a caller. */
export function readAddress(value: unknown): string {
  return readBase58(value, MAX_ADDRESS_LENGTH, ADDRESS_BYTES);
}

/** Checks a signature given by a caller. */
export function readSignature(value: unknown): string {
  return readBase58(value, MAX_SIGNATURE_LENGTH, SIGNATURE_BYTES);
}

function readBase58(value: unknown, maxLength: number, byteLength: number): string {
  if (typeof value !== "string") throw invalidParams("Invalid params: invalid type: expected a string.");
  if (value.length > maxLength) throw invalidParams("Invalid param: WrongSize");
  const bytes = bs58.decodeUnsafe(value);
  if (bytes === undefined) throw invalidParams("Invalid param: Invalid");
  if (bytes.length !== byteLength) throw invalidParams("Invalid param: WrongSize");
  return value;
}

/** Checks a whole number from 0 up given by a caller. */
export function readCount(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidParams("Invalid params: invalid type: expected a whole number.");
}

/** The commitment named by a caller. The old names that web3.js still knows are understood. */
export function readCommitment(value: unknown): Commitment {
  switch (value) {
    case undefined:
    case null:
    case "finalized":
    case "max":
    case "root":
      return "finalized";
    case "confirmed":
    case "single":
    case "singleGossip":
      return "confirmed";
    case "processed":
    case "recent":
      return "processed";
    default:
      throw invalidParams("Invalid params: unknown commitment.");
  }
}
