/**
 * Determines the fates of attempts without a marker: the only code that may conclude that an attempt can never land.
 */
import type { Evidence } from "../ledger/belief.ts";
import type { Attempt, AttemptFate } from "../ledger/ledger.ts";
import { gather } from "./agree.ts";
import { agreedLanding, type AttemptReport, saidByMoving } from "./agreement.ts";
import type { NodeContext } from "./ask.ts";
import { MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";
import { testifyTo, type Finding, type EndpointReport } from "./endpoint-report.ts";

/** The finding of one endpoint, reduced to the needs of a verdict. */
interface Witness {
  readonly finding: Finding;
  readonly isArchive: boolean;
}

/** Any doubt makes a fate `open` or `unprovable`: a silent endpoint, a lagging endpoint, or disagreement. */
export async function fates(
  nodes: NodeContext,
  attempts: readonly Attempt[],
): Promise<Evidence<readonly AttemptFate[]>> {
  const result: Evidence<AttemptFate>[] = [];
  for (let start = 0; start < attempts.length; start += MAX_SIGNATURES_PER_CALL) {
    const batch = attempts.slice(start, start + MAX_SIGNATURES_PER_CALL);
    const fatesOf = (all: readonly EndpointReport[]): readonly AttemptFate[] => {
      const testimonies = saidByMoving(nodes, all);
      return batch.map((_, index) => verdict(testimonies, index, nodes.witnesses));
    };
    result.push(...(await gather(nodes, testifyTo(nodes, batch), fatesOf)));
  }
  return result;
}

function verdict(testimonies: readonly EndpointReport[], index: number, needed: number): AttemptFate {
  // An endpoint of another chain does not know the signature, at any height.
  if (new Set(testimonies.map(({ genesisHash }) => genesisHash)).size > 1) return "open";
  const witnesses = testimonies.flatMap(({ findings, isArchive }): Witness[] => {
    const finding = findings[index];
    return finding === undefined ? [] : [{ finding, isArchive }];
  });
  if (agreedLanding(witnesses.map(wordOf), needed) !== null) return "landed";
  const isTraceless = witnesses.every(({ finding: { kind } }) => kind !== "landed" && kind !== "seen");
  const dead = witnesses.filter(({ finding: { kind } }) => kind === "dead").length;
  const isDoubted = witnesses.some(({ finding: { kind } }) => kind === "unclear");
  if (isTraceless && !isDoubted && dead >= needed) return "dead";
  if (witnesses.filter(isPast).length >= needed) return "unprovable";
  return witnesses.length >= needed && isSeenByAll(witnesses) ? "seen" : "open";
}

function wordOf({ finding, isArchive }: Witness): AttemptReport {
  return {
    landing: finding.kind === "landed" ? finding.landing : null,
    hasNoHistory: finding.kind === "lost",
    isArchive,
  };
}

/** Whether every endpoint shows the attempt in a block, at least one of them not final yet. */
function isSeenByAll(witnesses: readonly Witness[]): boolean {
  const kinds = witnesses.map(({ finding: { kind } }) => kind);
  return kinds.includes("seen") && kinds.every((kind) => kind === "seen" || kind === "landed");
}

/** Whether this endpoint is past the last block that accepts the attempt, so that waiting alone decides nothing. */
function isPast({ finding }: Witness): boolean {
  switch (finding.kind) {
    case "landed":
      return finding.isPast;
    case "dead":
    case "lost":
    case "unclear":
      return true;
    case "seen":
    case "unsaid":
      return false;
  }
}
