/** The methods of one Solana node that the ledger calls: https://solana.com/docs/rpc */
import { z } from "zod";
import type { Commitment } from "../../ledger/ledger.ts";
import { expectShape, isTooLarge } from "../endpoint-failure.ts";
import { accountShape, amountShape, type Account, readOwnedAccounts, type OwnedAccount } from "./account.ts";
import {
  blockShape,
  chainErrorShape,
  landedShape,
  type Block,
  type LandedTransaction,
} from "./landed-transaction.ts";
import type { RpcCall } from "./rpc-call.ts";
import { MOST_WITH_MEMOS } from "./bounded-fetch.ts";
import { untilKnown, type Patience } from "./until-known.ts";

/** The outcome of a run over a blockhash that the node does not know. */
export const BLOCKHASH_NOT_FOUND = "BlockhashNotFound";

/** The newest version that is read here; a request that names no version gets legacy transactions only. */
const NEWEST_TRANSACTION_VERSION = 1;

const count = z.int().nonnegative();

/** An answer with the slot that it is true at. */
function atSlot<Shape extends z.ZodType>(value: Shape) {
  return z.object({ context: z.object({ slot: count }), value });
}

const SHAPES = {
  count,
  text: z.string().min(1),
  epoch: z.object({ absoluteSlot: count, blockHeight: count }),
  blockhash: atSlot(z.object({ blockhash: z.string().min(1), lastValidBlockHeight: count })),
  isValid: atSlot(z.boolean()),
  lamports: atSlot(amountShape),
  account: atSlot(accountShape.nullable()),
  accounts: atSlot(z.array(accountShape.nullable())),
  ownedAccounts: atSlot(z.array(z.unknown())),
  statuses: atSlot(
    z.array(
      z
        .object({
          slot: count,
          confirmationStatus: z.enum(["processed", "confirmed", "finalized"]),
          err: chainErrorShape,
        })
        .nullable(),
    ),
  ),
  listed: z.array(z.object({ signature: z.string(), slot: count, err: chainErrorShape })),
  fee: atSlot(count.nullable()),
  fees: z.array(z.object({ prioritizationFee: amountShape })),
  slots: z.array(count),
  blockTime: z.int().nullable(),
  landed: landedShape.nullable(),
  block: blockShape.nullable(),
  simulatedAccounts: atSlot(
    z.object({ err: chainErrorShape, accounts: z.array(accountShape.nullable()).nullable() }),
  ),
  simulation: atSlot(z.object({ err: chainErrorShape, logs: z.array(z.string()).nullable() })),
};

/** Accounts as of the end of `slot`. */
interface AccountsReading {
  readonly slot: number;
  /** Accounts in the order asked; null for an absent account. */
  readonly accounts: readonly (Account | null)[];
}

/** The required commitment and age of an answer. */
interface Query {
  readonly commitment: Commitment;
  /** A node that is not there yet answers with an error. */
  readonly minContextSlot?: number;
}

export interface AccountQuery extends Query {
  /** Cuts what comes back of each account: a stranger's can be megabytes. */
  readonly dataSlice: { readonly offset: number; readonly length: number };
}

/** The part of a token account that both token programs have. */
const TOKEN_ACCOUNT_HEAD = { offset: 0, length: 165 };

/** The part of the transactions naming an address that is listed, newest first. */
interface ListQuery {
  /** At most 1,000. */
  readonly limit: number;
  /** Only older ones than this signature. */
  readonly before?: string;
  /** Only newer ones than this signature. */
  readonly until?: string;
  readonly minContextSlot?: number;
}

export type NodeSignatureStatus = z.output<typeof SHAPES.statuses>["value"][number];
export type TransactionListEntry = z.output<typeof SHAPES.listed>[number];

/**
 * A node. Its methods have the names that nodes use. Rejects with an `EndpointFailure` for a missing answer, or an
 * answer of the wrong shape: a node that garbles an answer is not believed. A node that does not know yet what it is asked
 * about is asked again until it should have caught up.
 */
export class RpcNode {
  readonly #call: RpcCall;
  readonly #patience: Patience;
  readonly #send: RpcCall;

  /** `send`: the way of broadcasts, which providers count apart. */
  constructor(call: RpcCall, patience: Patience, send: RpcCall = call) {
    this.#call = call;
    this.#patience = patience;
    this.#send = send;
  }

  /** The first answer from which `read` makes something: undefined for the answer of a node that is behind. */
  async #askUntil<Shape extends z.ZodType, T>(
    shape: Shape,
    [method, ...params]: readonly [method: string, ...params: unknown[]],
    read: (told: z.output<Shape>) => T | undefined,
  ): Promise<T> {
    return await untilKnown(this.#patience, async () => {
      const told = shape.safeParse(await this.#call(method, params));
      expectShape(told.success, method);
      return read(told.data);
    });
  }

  async #ask<Shape extends z.ZodType>(
    shape: Shape,
    method: string,
    params: readonly unknown[] = [],
  ): Promise<z.output<Shape>> {
    return await this.#askUntil(shape, [method, ...params], (told) => told);
  }

  async getGenesisHash(): Promise<string> {
    return await this.#ask(SHAPES.text, "getGenesisHash");
  }

  async getSlot(commitment: Commitment): Promise<number> {
    return await this.#ask(count, "getSlot", [{ commitment }]);
  }

  async getEpochInfo(commitment: Commitment): Promise<z.output<typeof SHAPES.epoch>> {
    return await this.#ask(SHAPES.epoch, "getEpochInfo", [{ commitment }]);
  }

  /** The first block of the node's ledger: its answers about older blocks mean nothing. */
  async getFirstAvailableBlock(): Promise<number> {
    return await this.#ask(count, "getFirstAvailableBlock");
  }

  /** Unix seconds; null where the node keeps none. */
  async getBlockTime(slot: number): Promise<number | null> {
    return await this.#ask(SHAPES.blockTime, "getBlockTime", [slot]);
  }

  async getLatestBlockhash(commitment: Commitment): Promise<z.output<typeof SHAPES.blockhash>> {
    return await this.#ask(SHAPES.blockhash, "getLatestBlockhash", [{ commitment }]);
  }

  async isBlockhashValid(blockhash: string, query: Query): Promise<z.output<typeof SHAPES.isValid>> {
    return await this.#ask(SHAPES.isValid, "isBlockhashValid", [blockhash, query]);
  }

  async getBalance(address: string, commitment: Commitment): Promise<z.output<typeof SHAPES.lamports>> {
    return await this.#ask(SHAPES.lamports, "getBalance", [address, { commitment }]);
  }

  async getAccountInfo(address: string, query: AccountQuery): Promise<z.output<typeof SHAPES.account>> {
    return await this.#ask(SHAPES.account, "getAccountInfo", [address, { ...query, encoding: "base64" }]);
  }

  /** At most as many as the node takes in one call. */
  async getMultipleAccounts(addresses: readonly string[], query: AccountQuery): Promise<AccountsReading> {
    const { minContextSlot = 0 } = query;
    const call = ["getMultipleAccounts", addresses, { ...query, encoding: "base64" }] as const;
    return await this.#askUntil(SHAPES.accounts, call, ({ context: { slot }, value }) => {
      expectShape(value.length === addresses.length, "number of accounts");
      return slot < minContextSlot ? undefined : { slot, accounts: value };
    });
  }

  /** The token accounts of an owner, of one mint or of one token program. */
  async getTokenAccountsByOwner(
    owner: string,
    filter: { readonly mint: string } | { readonly programId: string },
    commitment: Commitment,
  ): Promise<{ readonly slot: number; readonly accounts: readonly OwnedAccount[] }> {
    const params = [owner, filter, { commitment, encoding: "base64", dataSlice: TOKEN_ACCOUNT_HEAD }];
    const { context, value } = await this.#ask(SHAPES.ownedAccounts, "getTokenAccountsByOwner", params);
    return { slot: context.slot, accounts: await readOwnedAccounts(value) };
  }

  /** Looks in the node's history too. At most as many as it takes in one call. */
  async getSignatureStatuses(signatures: readonly string[]): Promise<z.output<typeof SHAPES.statuses>> {
    const params = [signatures, { searchTransactionHistory: true }];
    const told = await this.#ask(SHAPES.statuses, "getSignatureStatuses", params);
    expectShape(told.value.length === signatures.length, "number of statuses");
    return told;
  }

  /** Finalized ones that name the address, newest first: in parts where strangers' memos make the list too large. */
  async getSignaturesForAddress(address: string, query: ListQuery): Promise<readonly TransactionListEntry[]> {
    const { limit } = query;
    const params = [address, { ...query, commitment: "finalized" }];
    try {
      return await this.#ask(SHAPES.listed, "getSignaturesForAddress", params);
    } catch (error) {
      if (!isTooLarge(error) || limit <= MOST_WITH_MEMOS) throw error;
    }
    const part = await this.getSignaturesForAddress(address, { ...query, limit: MOST_WITH_MEMOS });
    const last = part[MOST_WITH_MEMOS - 1];
    if (last === undefined) return part;
    const rest = { ...query, limit: limit - MOST_WITH_MEMOS, before: last.signature };
    return [...part, ...(await this.getSignaturesForAddress(address, rest))];
  }

  /**
   * A transaction that a list or a status shows finalized in this slot. Null where the node's ledger begins later, and where it
   * does not have the transaction once it should have caught up.
   */
  async getShownTransaction(signature: string, slot: number): Promise<LandedTransaction | null> {
    return await untilKnown(this.#patience, async (hasCaughtUp) => {
      const told = await this.getTransaction(signature);
      if (told !== null || hasCaughtUp) return told;
      return (await this.getFirstAvailableBlock()) > slot ? null : undefined;
    });
  }

  /** A finalized transaction; null where the node does not have it. */
  async getTransaction(signature: string): Promise<LandedTransaction | null> {
    const query = {
      commitment: "finalized",
      encoding: "base64",
      maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION,
    };
    return await this.#ask(SHAPES.landed, "getTransaction", [signature, query]);
  }

  /** The slots of the finalized blocks from `first` to `last`. */
  async getBlocks(first: number, last: number): Promise<readonly number[]> {
    return await this.#ask(SHAPES.slots, "getBlocks", [first, last, { commitment: "finalized" }]);
  }

  /** A finalized block, with the signatures and accounts of its transactions; null where the node does not have it. */
  async getBlock(slot: number): Promise<Block | null> {
    const query = {
      commitment: "finalized",
      transactionDetails: "accounts",
      rewards: false,
      maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION,
    };
    return await this.#ask(SHAPES.block, "getBlock", [slot, query]);
  }

  /** Lamports. A node that does not know the message's blockhash is behind. */
  async getFeeForMessage(message: Uint8Array, commitment: Commitment): Promise<number> {
    const call = ["getFeeForMessage", Buffer.from(message).toString("base64"), { commitment }] as const;
    return await this.#askUntil(SHAPES.fee, call, ({ value }) => value ?? undefined);
  }

  /** Lamports that an account of so many bytes must hold. */
  async getMinimumBalanceForRentExemption(bytes: number, commitment: Commitment): Promise<number> {
    return await this.#ask(count, "getMinimumBalanceForRentExemption", [bytes, { commitment }]);
  }

  /** The least priority fee of each of the last blocks, in millionths of a lamport per compute unit. */
  async getRecentPrioritizationFees(): Promise<readonly number[]> {
    const told = await this.#ask(SHAPES.fees, "getRecentPrioritizationFees", []);
    return told.map(({ prioritizationFee }) => prioritizationFee);
  }

  /** Runs it at confirmed without sending it, over the blockhash in the bytes. */
  async simulateTransaction(
    bytes: Uint8Array,
    { sigVerify }: { readonly sigVerify: boolean },
  ): Promise<z.output<typeof SHAPES.simulation>["value"]> {
    const query = { encoding: "base64", commitment: "confirmed", sigVerify, replaceRecentBlockhash: false };
    const params = [Buffer.from(bytes).toString("base64"), query];
    return (await this.#ask(SHAPES.simulation, "simulateTransaction", params)).value;
  }

  /**
   * Runs it at confirmed without checking signatures, and reads these accounts as the run leaves them; null after an error.
   * The blockhash in the bytes is alive: a node that does not know it is behind.
   */
  async simulateAccounts(
    bytes: Uint8Array,
    addresses: readonly string[],
  ): Promise<z.output<typeof SHAPES.simulatedAccounts>["value"] & { readonly slot: number }> {
    const accounts = { encoding: "base64", addresses };
    const query = { encoding: "base64", commitment: "confirmed", sigVerify: false, accounts };
    const call = ["simulateTransaction", Buffer.from(bytes).toString("base64"), query] as const;
    return await this.#askUntil(SHAPES.simulatedAccounts, call, ({ context: { slot }, value }) =>
      value.err === BLOCKHASH_NOT_FOUND ? undefined : { slot, ...value },
    );
  }

  /** Sends it without trying it before, and leaves sending it again to us. */
  async sendTransaction(bytes: Uint8Array): Promise<void> {
    const query = { encoding: "base64", skipPreflight: true, maxRetries: 0 };
    const told = await this.#send("sendTransaction", [Buffer.from(bytes).toString("base64"), query]);
    expectShape(SHAPES.text.safeParse(told).success, "sendTransaction");
  }
}
