/** Reads what a finalized transaction changed, as enough endpoints tell it alike. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import { differ, toldAlike, weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { withRole } from "../endpoint.ts";
import { EndpointFailure, expectShape, tooFewWitnesses } from "../endpoint-failure.ts";
import {
  expectSigned,
  participantsOf,
  type LandedTransaction,
  type TokenBalance,
} from "../rpc/landed-transaction.ts";
import type { RpcNode } from "../rpc/rpc-node.ts";
import type { TransactionChange, TokenChange } from "./attribute-inflows.ts";

/** The changes of a landed transaction, with the balances before. */
export interface LandedChange extends TransactionChange {
  readonly slot: number;
  /** All accounts of the transaction, in lookup tables too: called programs can use no others. */
  readonly lamports: readonly {
    readonly account: Address;
    readonly before: bigint;
    readonly change: bigint;
  }[];
}

interface ListedTransaction {
  readonly signature: string;
  readonly slot: number;
}

interface ToldChanges {
  readonly endpoint: string;
  /** `absent`: it has the history of that time without the transaction. `no_history`: its ledger begins later. */
  readonly changes: LandedChange | "absent" | "no_history";
  readonly isArchive: boolean;
}

/**
 * The content that `nodes.witnesses` endpoints tell alike; where the others have no history of that time, an archive
 * node alone is enough. Null if so many have none, and no archive node tells it: nobody ever will. Throws
 * `EndpointsDifferError` where they differ, also about whether there is such a transaction, and `LedgerUnavailable` where too
 * few answer.
 */
export async function landedChanges(
  nodes: NodeContext,
  listed: ListedTransaction,
): Promise<Evidence<LandedChange> | null> {
  return await weigh(nodes, { of: "changesOfOrder", question: changesOf(listed) }, (told) =>
    changesTold(nodes, listed, told),
  );
}

function changesTold(
  nodes: NodeContext,
  { signature }: ListedTransaction,
  told: readonly ToldChanges[],
): LandedChange | null {
  const subject = `the content of transaction ${signature}`;
  const agreed = agreedChanges(told, nodes.witnesses);
  const forgotten = told.filter(({ changes }) => changes === "no_history").length;
  if (agreed !== null || forgotten >= nodes.witnesses) {
    nodes.disputes.end(subject);
    return agreed;
  }
  if (withRole(nodes.endpoints, "witness").length === 1) throw tooFewWitnesses(nodes, 0, []);
  throw differ(
    nodes,
    subject,
    told.map(({ endpoint }) => endpoint),
  );
}

function agreedChanges(told: readonly ToldChanges[], needed: number): LandedChange | null {
  const shown = told.flatMap(({ changes, isArchive }) =>
    typeof changes === "string" ? [] : [{ changes, isArchive, text: textOf(changes) }],
  );
  const texts = shown.map(({ text }) => text);
  const alike = toldAlike(texts, needed);
  if (alike !== null) return shown[alike]?.changes ?? null;
  // More than one thing is told by enough.
  if (texts.some((one) => texts.filter((other) => other === one).length >= needed)) return null;
  const archived = shown.find(({ isArchive }) => isArchive);
  const isUndoubted =
    told.every(({ changes }) => changes !== "absent") && shown.every((each) => each.text === archived?.text);
  return isUndoubted ? (archived?.changes ?? null) : null;
}

/** A text that is equal for equal content: nodes may list token balances in any order. */
function textOf({ lamports, tokens, ...rest }: LandedChange): string {
  return written([rest, [...lamports, ...tokens].map(written).toSorted()]);
}

function written(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));
}

function changesOf({ signature, slot }: ListedTransaction): EndpointCall<ToldChanges> {
  return async (endpoint) => {
    const { rpc, name, isArchive } = endpoint;
    const changes = changesIn(await rpc.getShownTransaction(signature, slot), signature);
    return { endpoint: name, changes: changes ?? (await whyMissing(rpc, slot)), isArchive };
  };
}

function changesIn(landed: LandedTransaction | null, signature: string): LandedChange | null {
  const meta = landed?.meta ?? null;
  if (landed === null || meta === null) return null;
  expectSigned(landed.transaction, signature);
  const { signers, accounts } = participantsOf(landed.transaction);
  const { preBalances, postBalances, preTokenBalances, postTokenBalances, loadedAddresses, fee } = meta;
  const keys = [...accounts, ...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])];
  expectShape(preBalances.length === keys.length && postBalances.length === keys.length, "balances");
  const lamports = keys.map((account, index) => {
    const before = BigInt(preBalances[index] ?? 0);
    return { account, before, change: BigInt(postBalances[index] ?? 0) - before };
  });
  return {
    signature,
    slot: landed.slot,
    signers,
    fee: BigInt(fee),
    lamports: exactly(lamports, BigInt(fee)),
    tokens: [
      ...(preTokenBalances ?? []).map((held) => tokenChange(keys, held, -1n)),
      ...(postTokenBalances ?? []).map((held) => tokenChange(keys, held, 1n)),
    ],
  };
}

/** The largest balance that a number of JSON tells to the lamport. */
const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The change of a larger balance follows from all others, for no transaction makes lamports or loses any but its fee: an
 * exchange that pays out of nine million SOL would seem to have given some lamports more or less than came.
 */
function exactly(lamports: LandedChange["lamports"], fee: bigint): LandedChange["lamports"] {
  const [large, another] = lamports.filter(
    ({ before, change }) => before > MOST_EXACT || before + change > MOST_EXACT,
  );
  if (large === undefined || another !== undefined) return lamports;
  const sum = lamports.reduce((total, each) => (each === large ? total : total + each.change), 0n);
  return lamports.map((each) => (each === large ? { ...large, change: -fee - sum } : each));
}

/** The reason why a node does not show a transaction of this slot. A node that is behind the slot tells nothing. */
async function whyMissing(rpc: RpcNode, slot: number): Promise<"absent" | "no_history"> {
  if ((await rpc.getSlot("finalized")) < slot) {
    throw new EndpointFailure("behind", "a finalized transaction it does not have");
  }
  return (await rpc.getFirstAvailableBlock()) > slot ? "no_history" : "absent";
}

function tokenChange(
  keys: readonly Address[],
  { accountIndex, mint, owner, uiTokenAmount }: TokenBalance,
  sign: bigint,
): TokenChange {
  const account = keys[accountIndex];
  expectShape(account !== undefined, "token balances");
  return {
    account,
    owner: owner ?? null,
    mint,
    change: sign * BigInt(uiTokenAmount.amount),
  };
}
