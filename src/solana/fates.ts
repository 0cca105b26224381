/**
 * Determines the fates of attempts without a marker: the only code that may conclude that an attempt can never land.
 */
import type { Evidence } from "../ledger/belief.ts";
import type { Attempt, AttemptFate, SignatureStatus } from "../ledger/ledger.ts";
import { weigh } from "./agree.ts";
import { agreedLanding, type AttemptReport, saidByMoving } from "./landings.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";
import { walkBlocks, type WalkCache } from "./block-proof.ts";
import { chainOf, type Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { findMessage, type FoundLanding } from "./find-message.ts";
import { finalizedEnd, type NewestBlock } from "./blockhash-window.ts";
import { statusesOf } from "./statuses.ts";

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
    result.push(...(await weigh(nodes, { of: "fates", question: testifyTo(nodes, batch) }, fatesOf)));
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
  if (witnesses.filter(hasPassed).length >= needed) return "unprovable";
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
function hasPassed({ finding }: Witness): boolean {
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

/**
 * The finding about one attempt. `landed`: finalized. `seen`: in a block that is not final. `dead`: proved never to
 * land. `lost`: past its last height and without a trace, but this endpoint's ledger begins later. `unclear`: past its
 * last height, and the endpoint contradicts itself. `unsaid`: the attempt may still land, as far as this endpoint
 * knows.
 */
type Finding =
  | { readonly kind: "landed"; readonly landing: FoundLanding; readonly isPast: boolean }
  | { readonly kind: "seen" | "dead" | "lost" | "unclear" | "unsaid" };

/** Findings of one endpoint about a batch, in its order. */
interface EndpointReport {
  readonly endpoint: string;
  readonly genesisHash: string;
  readonly isArchive: boolean;
  readonly findings: readonly Finding[];
}

// Walks of blocks that are remembered; one that is forgotten begins again.
const MAX_WALKS = 1_000;

/** The question for a batch of attempts. All answers of one look must agree, or nothing follows from it. */
function testifyTo(nodes: NodeContext, attempts: readonly Attempt[]): EndpointCall<EndpointReport> {
  return async (endpoint) => {
    const genesisHash = await chainOf(endpoint);
    // The order is the evidence: first a finalized height past the last one, then, at a later slot, no trace.
    const finalized = await finalizedEnd(endpoint);
    expectShape(finalized.blockHeight <= finalized.slot, "block height");
    const look = new Look(nodes, endpoint, finalized);
    const first = await look.read(attempts);
    const missing = attempts.filter((_, index) => first[index]?.kind === "missing");
    const verdicts = missing.length === 0 ? new Map<Attempt, Finding>() : await look.judge(missing);
    const findings = attempts.map((attempt, index): Finding => {
      const said = first[index] ?? UNSAID;
      return said.kind === "missing" ? (verdicts.get(attempt) ?? UNSAID) : said;
    });
    return { endpoint: endpoint.name, genesisHash, isArchive: endpoint.isArchive, findings };
  };
}

const UNSAID: Finding = { kind: "unsaid" };

/** A look at one endpoint, after reading its finalized block. */
class Look {
  readonly #nodes: NodeContext;
  readonly #endpoint: Endpoint;
  readonly #finalized: NewestBlock;

  constructor(nodes: NodeContext, endpoint: Endpoint, finalized: NewestBlock) {
    this.#nodes = nodes;
    this.#endpoint = endpoint;
    this.#finalized = finalized;
  }

  /** The statuses as findings; `missing` where there is none although the last height is past. */
  async read(attempts: readonly Attempt[]): Promise<readonly (Finding | { readonly kind: "missing" })[]> {
    const signatures = attempts.map(({ signature }) => signature);
    const { slot, statuses } = await statusesOf(signatures)(this.#endpoint);
    const isLater = slot > this.#finalized.slot;
    return attempts.map((attempt, index) => {
      const status = statuses[index] ?? null;
      const isPast = isLater && this.#isPast(attempt);
      if (status === null) return isPast ? { kind: "missing" } : UNSAID;
      if (status.commitment === "finalized") return landed(attempt.signature, status, isPast);
      // A block up to the finalized height cannot be less than final.
      return isPast ? { kind: "unclear" } : { kind: "seen" };
    });
  }

  /** Judges attempts that are absent from the node. */
  async judge(missing: readonly Attempt[]): Promise<ReadonlyMap<Attempt, Finding>> {
    const findings = new Map<Attempt, Finding>();
    const firstSlot = await this.#firstAvailable();
    for (const attempt of missing) if (attempt.firstSlot < firstSlot) findings.set(attempt, { kind: "lost" });
    const known = missing.filter((attempt) => !findings.has(attempt));
    const alive = await this.#stillValid(known);
    const expired = known.filter(({ blockhash }) => !alive.has(blockhash));
    if (expired.length === 0) return findings;
    // Again: a blockhash may have expired between the first statuses and the question for it.
    const again = await this.read(expired);
    for (const [index, attempt] of expired.entries()) {
      const said = again[index] ?? UNSAID;
      findings.set(attempt, said.kind === "missing" ? await this.#traces(attempt) : said);
    }
    // One address may stand for several nodes. Two nodes with different first blocks are not one witness.
    if ((await this.#firstAvailable()) === firstSlot) return findings;
    return new Map(missing.map((attempt) => [attempt, { kind: "unclear" }]));
  }

  /** The block at its last valid height + 1 still takes it; a finalized height above it is at least that block. */
  #isPast({ lastValidBlockHeight }: Attempt): boolean {
    return this.#finalized.blockHeight > lastValidBlockHeight;
  }

  /** The first block of the endpoint's ledger. Null answers for what is older mean nothing. */
  async #firstAvailable(): Promise<number> {
    const first = await this.#endpoint.rpc.getFirstAvailableBlock();
    expectShape(first <= this.#finalized.slot, "first block");
    return first;
  }

  /** Attempts whose blockhash is still accepted: the last height was answered by one endpoint, which may have lied. */
  async #stillValid(attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
    const alive = new Set<string>();
    for (const blockhash of new Set(attempts.map((attempt) => attempt.blockhash))) {
      const config = { commitment: "confirmed", minContextSlot: this.#finalized.slot } as const;
      const { value } = await this.#endpoint.rpc.isBlockhashValid(blockhash, config);
      if (value) alive.add(blockhash);
    }
    return alive;
  }

  /** Traces of an attempt other than its signature. */
  async #traces(attempt: Attempt): Promise<Finding> {
    const listed = await findMessage(this.#endpoint, attempt, this.#finalized.slot);
    if (listed === "unclear") return { kind: "unclear" };
    if (listed !== "absent") return { kind: "landed", landing: listed, isPast: true };
    return this.#nodes.deathProof === "blocks" ? await this.#walk(attempt) : { kind: "dead" };
  }

  async #walk(attempt: Attempt): Promise<Finding> {
    const { walks } = this.#nodes;
    const id = `${this.#endpoint.name} ${attempt.signature}`;
    const memory: WalkCache = {
      get: () => walks.get(id),
      set: (walk) => {
        walks.set(id, walk);
        const [oldest] = walks.keys();
        if (walks.size > MAX_WALKS && oldest !== undefined) walks.delete(oldest);
      },
    };
    const node = { rpc: this.#endpoint.rpc, finalizedSlot: this.#finalized.slot, memory };
    const proof = await walkBlocks(node, attempt);
    switch (proof) {
      case "none":
        return { kind: "dead" };
      case "gap":
        return { kind: "lost" };
      case "unfinished":
        return UNSAID;
      default:
        return { kind: "landed", landing: proof, isPast: true };
    }
  }
}

function landed(signature: string, { slot, error }: SignatureStatus, isPast: boolean): Finding {
  return { kind: "landed", landing: { signature, slot, error }, isPast };
}
