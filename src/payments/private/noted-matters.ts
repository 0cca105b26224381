/** Matters about an order that no other row tells: written down with what they tell of, and listed until a person drops them. */
import type { PrivateStorage, PrivateWrite } from "./private-storage.ts";
import type { OrderRecord } from "./tables.ts";

const SENTENCES = {
  unexplained: "the chain shows at its address what nobody here can explain",
  paid_after_end:
    "recipients were paid after it had ended: the markers show that another copy of this database paid them",
  fee_left_out:
    "its go has not paid the fee, which goes back with the rest: the treasury could not take it, or another hand made the marker",
  purse_frozen:
    "the sponsor's account of the token is frozen or missing, so that what a rest costs is not withheld: open it again",
} as const;

/** The kind of such a matter. */
export type NotedKind = keyof typeof SENTENCES;

export const NOTED_KINDS: ReadonlySet<string> = new Set(Object.keys(SENTENCES));

/** A matter of an order. */
export interface NotedMatter {
  readonly kind: NotedKind;
  readonly order: Pick<OrderRecord, "id" | "accountId">;
  /** The observation, as a sentence without its period. */
  readonly detail?: string;
  /** When it began, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** Each look sees it again: one that a person has dropped does not come back. */
  readonly isLasting?: boolean;
}

/** The writes that note a matter, for the commit of what it tells of; none while it is noted already. */
export async function noteMatter(
  storage: Pick<PrivateStorage, "matters">,
  { kind, order, detail, since, isLasting }: NotedMatter,
): Promise<readonly PrivateWrite[]> {
  const id = `${kind}:${order.id}`;
  const [row] = await storage.matters([id]);
  const message = `order ${order.id}: ${SENTENCES[kind]}${detail === undefined ? "" : `: ${detail}`}`;
  const isDropped = isLasting === true && row?.message === message;
  if (row?.state === "waiting" || isDropped) return [];
  const noted = { state: "waiting" as const, message, since, toldAt: null, tellingUntil: null, seenAt: null };
  if (row !== undefined) return [{ table: "matters", id, set: noted, expectedVersion: row.version }];
  const of = { kind, transactionId: order.id, accountId: order.accountId };
  return [{ table: "matters", insert: { id, version: 1, ...of, ...noted } }];
}
