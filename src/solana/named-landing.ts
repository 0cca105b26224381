/** Reads the evidence for a landing that an operator names. */
import type { Evidence } from "../ledger/belief.ts";
import type { Attempt, Landing, LandingRefusal } from "../ledger/ledger.ts";
import { gatherAny } from "./agree.ts";
import { isSameAs } from "./agreement.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { landedMessageHash } from "./find-message.ts";
import { withTipPaid } from "./tips.ts";
import { receiptOf, statusesOf } from "./statuses.ts";

/** A landing as one endpoint shows it. */
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
  return await gatherAny(nodes, shownUnder(signature, attempt), (shown) => {
    const answer = answerOf(shown, nodes.witnesses);
    return "landed" in answer ? { landed: withTipPaid(attempt, answer.landed) } : answer;
  });
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
      const messageHash = receipt === null ? null : await landedMessageHash(endpoint, signature);
      if (receipt !== null && messageHash !== null) {
        return messageHash === attempt.messageHash
          ? { landing: { ...receipt, signature }, isArchive: endpoint.isArchive }
          : "another_message";
      }
    }
    return (await endpoint.rpc.getFirstAvailableBlock()) > attempt.firstSlot ? "no_history" : "absent";
  };
}
