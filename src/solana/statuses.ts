/** Reads statuses and receipts of signatures. */
import type { Evidence, Hint } from "../ledger/belief.ts";
import type { Receipt, Sighting, SignatureStatus } from "../ledger/ledger.ts";
import { weigh } from "./agree.ts";
import { ask, type NodeContext, type EndpointCall } from "./ask.ts";
import { expectShape } from "./endpoint-failure.ts";
import { MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";
import { signatureOf } from "./rpc/landed-transaction.ts";
import type { NodeSignatureStatus } from "./rpc/rpc-node.ts";

/** The answer of one node about some signatures, and the slot since when the whole answer is true. */
interface StatusAnswer {
  readonly slot: number;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/** Statuses in the order asked, from any node, its history included. */
export async function statuses(
  nodes: NodeContext,
  signatures: readonly string[],
): Promise<Hint<readonly (SignatureStatus | null)[]>> {
  const found: Hint<SignatureStatus | null>[] = [];
  for (const batch of batches(signatures, MAX_SIGNATURES_PER_CALL)) {
    const answer = await ask(nodes, statusesOf(batch));
    found.push(...answer.statuses);
  }
  return found;
}

/** The question for some signatures, in calls of the size that the endpoint takes. */
export function statusesOf(signatures: readonly string[]): EndpointCall<StatusAnswer> {
  return async ({ rpc, signaturesPerCall }) => {
    const found: (SignatureStatus | null)[] = [];
    let oldest = Infinity;
    for (const batch of batches(signatures, signaturesPerCall)) {
      const { context, value } = await rpc.getSignatureStatuses(batch);
      oldest = Math.min(oldest, context.slot);
      found.push(...value.map(readStatus));
    }
    return { slot: oldest, statuses: found };
  };
}

function readStatus(status: NodeSignatureStatus): SignatureStatus | null {
  if (status === null) return null;
  const { confirmationStatus: commitment, slot, err } = status;
  return { commitment, slot, error: errorText(err) };
}

/** See `Ledger.sightings`. */
export async function sightings(
  nodes: NodeContext,
  signatures: readonly string[],
): Promise<Evidence<readonly Sighting[]>> {
  const found: Evidence<Sighting>[] = [];
  for (const batch of batches(signatures, MAX_SIGNATURES_PER_CALL)) {
    const ofEach = (answers: readonly StatusAnswer[]): readonly Sighting[] =>
      batch.map((_, index) => {
        const told = answers.map(({ statuses: each }) => each[index] ?? null);
        if (told.filter(isConfirmed).length >= nodes.witnesses) return "confirmed";
        return told.some((status) => status !== null) ? "seen" : "absent";
      });
    found.push(...(await weigh(nodes, { of: "sightings", question: statusesOf(batch) }, ofEach)));
  }
  return found;
}

/** Whether a block shows it without an error, which may still vanish unless it is final. */
export function isConfirmed(status: SignatureStatus | null): boolean {
  return status !== null && status.commitment !== "processed" && status.error === null;
}

/** The receipt that `needed` endpoints tell alike; null where no receipt or more than one is told by so many. */
export function agreedReceipt(told: readonly (Receipt | null)[], needed: number): Receipt | null {
  const known = told.filter((receipt) => receipt !== null);
  const agreed = known.filter((one) => known.filter((other) => isSame(one, other)).length >= needed);
  const [first] = agreed;
  return first !== undefined && agreed.every((other) => isSame(first, other)) ? first : null;
}

function isSame(one: Receipt, other: Receipt): boolean {
  return (
    one.slot === other.slot &&
    one.blockTime === other.blockTime &&
    one.fee === other.fee &&
    one.error === other.error
  );
}

/** The receipt of one finalized transaction; null where the node does not have it. */
export function receiptOf(signature: string): EndpointCall<Receipt | null> {
  return async ({ rpc }) => {
    const landed = await rpc.getTransaction(signature);
    if (landed === null || landed.meta === null) return null;
    expectShape(signatureOf(landed.transaction) === signature, "signature");
    const { fee, err } = landed.meta;
    return {
      slot: landed.slot,
      blockTime: landed.blockTime ?? null,
      fee: BigInt(fee),
      error: errorText(err),
    };
  };
}

/** The chain's error as JSON text, null when there is none. */
export function errorText(err: unknown): string | null {
  return err === null || err === undefined ? null : JSON.stringify(err);
}

function batches<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let start = 0; start < items.length; start += size) result.push(items.slice(start, start + size));
  return result;
}
