/** Reads how attempts landed, where enough endpoints agree on the block and the outcome, or an operator names it. */
import type { Evidence } from "../ledger/belief.ts";
import type { Attempt, Landing, Receipt, LandingRefusal } from "../ledger/ledger.ts";
import { weigh } from "./agree.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";
import { expectShape } from "./endpoint-failure.ts";
import { findMessage, landedMessageHash, type FoundLanding } from "./find-message.ts";
import { agreedReceipt, receiptOf, statusesOf } from "./statuses.ts";

// getTransaction takes one signature; so many are asked for at a time.
const RECEIPTS_AT_ONCE = 16;

/** See `Ledger.landings`. */
export async function landings(
  nodes: NodeContext,
  attempts: readonly Attempt[],
): Promise<Evidence<readonly (Landing | null)[]>> {
  const result: Evidence<Landing | null>[] = [];
  for (let start = 0; start < attempts.length; start += MAX_SIGNATURES_PER_CALL) {
    const batch = attempts.slice(start, start + MAX_SIGNATURES_PER_CALL);
    const agreed = await weigh(nodes, { of: "landings", question: wordsOn(batch) }, (answers) =>
      batch.map((_, index) =>
        agreedLanding(
          answers.flatMap((words) => words[index] ?? []),
          nodes.witnesses,
        ),
      ),
    );
    for (let next = 0; next < agreed.length; next += RECEIPTS_AT_ONCE) {
      const few = agreed.slice(next, next + RECEIPTS_AT_ONCE);
      const landed = few.map((found, index) => landingOf(nodes, found, batch[next + index]));
      result.push(...(await Promise.all(landed)));
    }
  }
  return result;
}

/**
 * The answer of one endpoint about each attempt: about its own signature first, then about a second signature of the
 * same message.
 */
function wordsOn(attempts: readonly Attempt[]): EndpointCall<readonly AttemptReport[]> {
  return async (endpoint) => {
    const { rpc, isArchive } = endpoint;
    const { slot, statuses } = await statusesOf(attempts.map(({ signature }) => signature))(endpoint);
    const firstSlot = statuses.includes(null) ? await rpc.getFirstAvailableBlock() : 0;
    expectShape(firstSlot <= slot, "first block");
    return await Promise.all(
      attempts.map(async (attempt, index): Promise<AttemptReport> => {
        const status = statuses[index] ?? null;
        const hasNoHistory = status === null && attempt.firstSlot < firstSlot;
        if (status !== null) {
          const { slot: landedAt, error } = status;
          const own = { signature: attempt.signature, slot: landedAt, error };
          return { landing: status.commitment === "finalized" ? own : null, hasNoHistory, isArchive };
        }
        // The slot is that of the tip, which the finalized block that is asked of here has not reached.
        const other = await findMessage(endpoint, attempt, 0);
        return { landing: typeof other === "string" ? null : other, hasNoHistory, isArchive };
      }),
    );
  };
}

interface ToldReceipt {
  readonly receipt: Receipt | null;
  readonly isArchive: boolean;
}

/**
 * Adds fee and time, as enough endpoints tell them that tell the same block and outcome; null while too few do. Where
 * archive nodes alone have shown the landing, the receipt of one of them is enough.
 */
async function landingOf(
  nodes: NodeContext,
  found: Evidence<FoundLanding | null>,
  attempt: Attempt | undefined,
): Promise<Evidence<Landing> | null> {
  if (found === null || attempt === undefined) return null;
  const question: EndpointCall<ToldReceipt> = async (endpoint) => ({
    receipt: await receiptOf(found.signature)(endpoint),
    isArchive: endpoint.isArchive,
  });
  return weigh(nodes, { of: "landings", question }, (told) => receivedLanding(nodes, found, told));
}

function receivedLanding(
  nodes: NodeContext,
  { signature, slot, error }: FoundLanding,
  told: readonly ToldReceipt[],
): Landing | null {
  const fitting = told.filter(({ receipt }) => receipt?.slot === slot && receipt.error === error);
  const isByArchives = fitting.length < nodes.witnesses && fitting.some(({ isArchive }) => isArchive);
  const receipts = fitting.flatMap(({ receipt }) => receipt ?? []);
  const receipt = agreedReceipt(receipts, isByArchives ? 1 : nodes.witnesses);
  const subject = `the receipt of ${signature}`;
  const shown = told.filter(({ receipt: each }) => each !== null).length;
  if (receipt !== null) nodes.disputes.end(subject);
  else if (shown >= nodes.witnesses) nodes.disputes.note(subject);
  return receipt === null ? null : { ...receipt, signature };
}

interface ShownLanding {
  readonly landing: Landing;
  readonly isArchive: boolean;
}

/** The transaction under the signature, at one endpoint. */
type Shown = ShownLanding | "another_message" | "absent" | "no_history";
type NamedAnswer = { readonly landed: Landing } | { readonly refused: LandingRefusal };

/**
 * See `Ledger.namedLanding`. An operator who names a signature has seen the transaction somewhere else: that counts as
 * a second witness of the landing, but not of its outcome. An endpoint that has the history of that time and does not
 * show it stands against both.
 */
export async function namedLanding(
  nodes: NodeContext,
  attempt: Attempt,
  signature: string,
): Promise<Evidence<NamedAnswer>> {
  return await weigh(nodes, { of: "namedLanding", question: shownUnder(signature, attempt) }, (shown) =>
    answerOf(shown, nodes.witnesses),
  );
}

function answerOf(shown: readonly Shown[], witnesses: number): NamedAnswer {
  if (shown.includes("another_message")) return { refused: "another_message" };
  const landed = shown.filter((each) => typeof each !== "string");
  const [first] = landed;
  if (first === undefined) return { refused: "unknown" };
  const isSame = isSameAs(first.landing);
  const isAgreed = landed.every(({ landing }) => isSame(landing)) && !shown.includes("absent");
  if (!isAgreed) return { refused: "contradicted" };
  const isFirm = landed.length >= witnesses || landed.some(({ isArchive }) => isArchive);
  if (first.landing.error !== null && !isFirm) return { refused: "failed_alone" };
  return { landed: first.landing };
}

function shownUnder(signature: string, attempt: Attempt): EndpointCall<Shown> {
  return async (endpoint) => {
    const { statuses } = await statusesOf([signature])(endpoint);
    if (statuses[0]?.commitment === "finalized") {
      const receipt = await receiptOf(signature)(endpoint);
      const messageHash =
        receipt === null ? null : await landedMessageHash(endpoint, { signature, slot: receipt.slot });
      if (receipt !== null && messageHash !== null) {
        return messageHash === attempt.messageHash
          ? { landing: { ...receipt, signature }, isArchive: endpoint.isArchive }
          : "another_message";
      }
    }
    return (await endpoint.rpc.getFirstAvailableBlock()) > attempt.firstSlot ? "no_history" : "absent";
  };
}

export interface AttemptReport {
  /** Null where it does not know it as finalized. */
  readonly landing: FoundLanding | null;
  /** The endpoint does not know the attempt, and cannot: its ledger begins later. */
  readonly hasNoHistory: boolean;
  /** The operator vouches for it. */
  readonly isArchive: boolean;
}

/**
 * The landing that at least `needed` endpoints show, in the same block with the same outcome; null where no landing or
 * more than one is shown by so many. An archive node alone is enough where none of the others can know better.
 */
export function agreedLanding(words: readonly AttemptReport[], needed: number): FoundLanding | null {
  const shown = words.flatMap(({ landing }) => (landing === null ? [] : [landing]));
  const supported = shown.filter((landing) => shown.filter(isSameAs(landing)).length >= needed);
  const [agreed] = supported;
  if (agreed !== undefined) return supported.every(isSameAs(agreed)) ? agreed : null;
  return words.length >= needed ? landingOfArchives(words) : null;
}

/** Two that differ are a contradiction, and so is one that has the history and does not know the transaction. */
function landingOfArchives(words: readonly AttemptReport[]): FoundLanding | null {
  const told = words.find(({ landing, isArchive }) => landing !== null && isArchive)?.landing ?? null;
  if (told === null) return null;
  const isLikely = ({ landing, hasNoHistory }: AttemptReport): boolean =>
    landing === null ? hasNoHistory : isSameAs(told)(landing);
  return words.every(isLikely) ? told : null;
}

/** Whether two landings are the same transaction in the same block with the same outcome. */
function isSameAs(one: FoundLanding): (other: FoundLanding) => boolean {
  return ({ signature, slot, error }) =>
    signature === one.signature && slot === one.slot && error === one.error;
}

/** The answer of an endpoint of this name. */
interface Said {
  readonly endpoint: string;
}

/**
 * The words of endpoints whose slot has moved within ten minutes, where as many are left as must agree; else all words: too
 * few are no evidence, and what stands still may be the chain.
 */
export function saidByMoving<T extends Said>(nodes: NodeContext, all: readonly T[]): readonly T[] {
  const still = new Set(nodes.endpoints.filter(({ health }) => health.standsStill).map(({ name }) => name));
  const moving = all.filter(({ endpoint }) => !still.has(endpoint));
  return moving.length >= nodes.witnesses ? moving : all;
}
