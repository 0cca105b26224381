/**
 * What surfpool tells, as of an earlier slot. Accounts are those of the tip, as they are at every commitment of surfpool.
 */
import { VersionedTransaction } from "@solana/web3.js";
import { CLOCK_SYSVAR } from "../../../src/solana/programs.ts";
import type { Fetch } from "../../../src/solana/index.ts";
import type { NodeWay } from "../../kit/node-proxy.ts";

/** A call that the node has answered. */
interface Answered {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** What a node that lags knows. */
interface Known {
  readonly slots: number;
  readonly slot: number;
  readonly height: number;
}

interface InSlot {
  readonly slot: number;
}

/** So many blocks after its own, surfpool calls a transaction finalized. */
export const FINALIZED_BEHIND = 31;
const BEHIND: Readonly<Record<string, number>> = { processed: 0, confirmed: 1 };
/** They tell the tip at every commitment; getSlot and isBlockhashValid know better. */
const OF_THE_TIP = new Set(["getEpochInfo", "getLatestBlockhash"]);

/** The way to surfpool, and to one that is behind. */
export const wayToSurfpool: NodeWay = (own) => {
  if (own === undefined) return atItsCommitment;
  if (own.kind === "restored") throw new Error("surfpool is never restored from a snapshot");
  return laggingNode(atItsCommitment, own.slots);
};

const atItsCommitment: Fetch = async (url, init) => {
  const answer = await fetch(url, init);
  const { method, params = [] } = callIn(init);
  if (!OF_THE_TIP.has(method)) return answer;
  const { commitment = "finalized" } = (params[0] ?? {}) as { readonly commitment?: string };
  const { result, ...rest } = (await answer.json()) as { readonly result: unknown };
  const slots = BEHIND[commitment] ?? FINALIZED_BEHIND;
  const known = { slots, slot: 0, height: 0 };
  return Response.json({ ...rest, result: inContext(asKnown({ method, params, result }, known), slots) });
};

function callIn(init: RequestInit | undefined): Call {
  return JSON.parse(typeof init?.body === "string" ? init.body : "") as Call;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The way to a node that is `slots` behind this one. */
function laggingNode(node: Fetch, slots: number): Fetch {
  return async (url, init) => {
    const { id, method, params = [] } = callIn(init);
    const told = (members: object): Response => Response.json({ jsonrpc: "2.0", id, ...members });
    const ask = async (
      asked: Pick<Answered, "method" | "params">,
    ): Promise<{ readonly result?: unknown }> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id, ...asked });
      return (await (await node(url, { ...init, body })).json()) as { readonly result?: unknown };
    };
    const end = await ask({ method: "getEpochInfo", params: [{ commitment: "processed" }] });
    const { absoluteSlot, blockHeight } = end.result as Epoch;
    const known = { slots, slot: absoluteSlot - slots, height: blockHeight - slots };
    const { minContextSlot = 0 } = (params.at(-1) ?? {}) as { readonly minContextSlot?: number };
    if (minContextSlot > known.slot) return told({ error: { code: -32016, message: "not reached yet" } });
    const honest = await ask({ method, params });
    if (honest.result === undefined || honest.result === null) return told(honest);
    return told({ result: inContext(asKnown({ method, params, result: honest.result }, known), slots) });
  };
}

interface Epoch {
  readonly absoluteSlot: number;
  readonly blockHeight: number;
}

function inContext(result: unknown, slots: number): unknown {
  const { context } = result as { readonly context?: InSlot };
  if (context === undefined) return result;
  return { ...(result as object), context: { ...context, slot: context.slot - slots } };
}

function asKnown({ method, params, result }: Answered, { slots, slot, height }: Known): unknown {
  const isKnown = (each: InSlot | null): each is InSlot => each !== null && each.slot <= slot;
  const isFinal = (each: InSlot): boolean => each.slot <= slot - FINALIZED_BEHIND;
  const valued = (change: (value: never) => unknown): unknown => {
    const { value, ...rest } = result as { readonly value: unknown };
    return { ...rest, value: change(value as never) };
  };
  switch (method) {
    case "getSlot":
    case "getBlockHeight":
      return (result as number) - slots;
    case "getEpochInfo": {
      const { absoluteSlot, blockHeight, ...rest } = result as Epoch;
      return { ...rest, absoluteSlot: absoluteSlot - slots, blockHeight: blockHeight - slots };
    }
    case "getLatestBlockhash":
      return valued((value: { readonly blockhash: string; readonly lastValidBlockHeight: number }) => ({
        blockhash: earlier(value.blockhash, slots),
        lastValidBlockHeight: value.lastValidBlockHeight - slots,
      }));
    case "isBlockhashValid":
      return valued((value: boolean) => value && numberOf(String(params[0])) < height);
    case "simulateTransaction": {
      const { message } = VersionedTransaction.deserialize(Buffer.from(String(params[0]), "base64"));
      const isTooNew = numberOf(message.recentBlockhash) >= height;
      return isTooNew ? valued(() => ({ err: "BlockhashNotFound", logs: [], accounts: null })) : result;
    }
    case "getSignatureStatuses":
      return valued((statuses: readonly (InSlot | null)[]) =>
        statuses.map((each) => {
          if (!isKnown(each)) return null;
          const confirmationStatus = isFinal(each) ? "finalized" : "confirmed";
          return { ...each, confirmationStatus, confirmations: isFinal(each) ? null : slot - each.slot };
        }),
      );
    case "getTransaction":
      return isKnown(result as InSlot) && isFinal(result as InSlot) ? result : null;
    case "getSignaturesForAddress":
      return (result as readonly InSlot[]).filter((each) => isKnown(each) && isFinal(each));
    case "getMultipleAccounts":
      return valued((accounts: readonly ClockAccount[]) => {
        const asked = params[0] as readonly string[];
        return accounts.map((account, at) => (asked[at] === CLOCK_SYSVAR ? clockAt(slot, account) : account));
      });
    default:
      return result;
  }
}

interface ClockAccount {
  readonly data: readonly [string, string];
}

function clockAt(slot: number, account: ClockAccount): ClockAccount {
  const data = Buffer.from(account.data[0], "base64");
  data.writeBigUInt64LE(BigInt(slot), 0);
  return { ...account, data: [data.toString("base64"), "base64"] };
}

/** The number of a blockhash stands in the blockhash, in hexadecimal whose noughts are written as x. */
const HASH = /^(SURFNETxSAFEHASH)(.+)$/;

function numberOf(blockhash: string): number {
  const [, , digits = "x"] = HASH.exec(blockhash) ?? [];
  return Number.parseInt(digits.replaceAll("x", "0"), 16);
}

/** The blockhash of so many blocks before. */
function earlier(blockhash: string, blocks: number): string {
  const [, prefix = "", digits = ""] = HASH.exec(blockhash) ?? [];
  const number = (numberOf(blockhash) - blocks).toString(16);
  return prefix + number.padStart(digits.length, "0").replaceAll("0", "x");
}
