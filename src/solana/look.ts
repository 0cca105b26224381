/**
 * Looks how attempts stand: how endpoints show them, where they landed, and whether they can still land. The only code that may
 * conclude that an attempt can never land.
 */
import type { Evidence } from "../ledger/belief.ts";
import type { Attempt, AttemptLook, SignatureStatus, Standing } from "../ledger/ledger.ts";
import { weigh } from "./agree.ts";
import { agreedLanding, type AttemptReport, saidByMoving } from "./landings.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";
import { walkBlocks, type WalkCache } from "./block-proof.ts";
import { chainOf, type Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { findMessage, type FoundLanding } from "./find-message.ts";
import { BLOCKHASH_LIFE_BLOCKS, finalizedEnd, type NewestBlock } from "./blockhash-window.ts";
import { isConfirmed, statusesOf } from "./statuses.ts";

/** See `Ledger.look`. Any doubt leaves a death `open` or `unprovable`: a silent endpoint, a lagging endpoint, or disagreement. */
export async function look(
  nodes: NodeContext,
  attempts: readonly Attempt[],
): Promise<Evidence<readonly AttemptLook[]>> {
  const result: Evidence<AttemptLook>[] = [];
  for (let start = 0; start < attempts.length; start += MAX_SIGNATURES_PER_CALL) {
    const batch = attempts.slice(start, start + MAX_SIGNATURES_PER_CALL);
    const conclude = (all: readonly EndpointReport[]): readonly AttemptLook[] =>
      batch.map((_, index) => lookIn(nodes, all, index));
    result.push(...(await weigh(nodes, { of: "look", question: reportOn(nodes, batch) }, conclude)));
  }
  return result;
}

function lookIn(nodes: NodeContext, all: readonly EndpointReport[], index: number): AttemptLook {
  const words = wordsOn(all, index);
  const landed = agreedLanding(words, nodes.witnesses);
  const standing = landed === null ? standingBy(words, nodes.witnesses) : "landed";
  return {
    standing,
    landed: landed === null ? null : { signature: landed.signature, slot: landed.slot },
    error: landed?.error ?? null,
    death: landed === null ? deathBy(nodes, all, index) : "open",
  };
}

function wordsOn(reports: readonly EndpointReport[], index: number): readonly Word[] {
  return reports.flatMap(({ words }) => words[index] ?? []);
}

/** Null while fewer answer than must agree. */
function standingBy(words: readonly Word[], needed: number): Standing | null {
  if (words.length < needed) return null;
  const shown = words.filter(isShown);
  if (shown.filter(({ status }) => isConfirmed(status)).length >= needed) return "confirmed";
  if (shown.length === words.length) return "seen";
  return shown.length > 0 ? "partly" : "absent";
}

function isShown({ status, landing }: Word): boolean {
  return status !== null || landing !== null;
}

/** By the configured number of witnesses, whatever is enough for now. */
function deathBy(nodes: NodeContext, all: readonly EndpointReport[], index: number): AttemptLook["death"] {
  const needed = nodes.ownWitnesses;
  const reports = saidByMoving({ ...nodes, witnesses: needed }, all);
  // An endpoint of another chain does not know the signature, at any height.
  if (new Set(reports.map(({ genesisHash }) => genesisHash)).size > 1) return "open";
  const words = wordsOn(reports, index);
  if (agreedLanding(words, needed) !== null) return "open";
  const judged = words.map(({ judgement }) => judgement);
  const isDoubted = words.some(isShown) || judged.includes("unclear");
  if (!isDoubted && judged.filter((each) => each === "dead").length >= needed) return "dead";
  return judged.filter((each) => each !== "open").length >= needed ? "unprovable" : "open";
}

/** One endpoint's word about an attempt. */
interface Word extends AttemptReport {
  /** The status of its own signature. */
  readonly status: SignatureStatus | null;
  readonly judgement: Judgement;
}

/**
 * The meaning of an endpoint's word for the death of an attempt. `open`: it may still land, as far as this endpoint knows.
 * The others are past its last height. `past`: it landed. `dead`: proved never to land. `lost`: without a trace, but this
 * endpoint's ledger begins later. `unclear`: the endpoint contradicts itself.
 */
type Judgement = "open" | "past" | "dead" | "lost" | "unclear";

/** Words of one endpoint about a batch, in its order. */
interface EndpointReport {
  readonly endpoint: string;
  readonly genesisHash: string;
  readonly words: readonly Word[];
}

/** A trace of an attempt beside its status, or the lack of a trace. */
type Finding = FoundLanding | Exclude<Judgement, "past">;

// Walks of blocks that are remembered; one that is forgotten begins again.
const MAX_WALKS = 1_000;

/** The question for a batch of attempts. All answers of one look must agree, or nothing follows from it. */
function reportOn(nodes: NodeContext, attempts: readonly Attempt[]): EndpointCall<EndpointReport> {
  return async (endpoint) => {
    const genesisHash = await chainOf(endpoint);
    const { slot, statuses } = await statusesOf(attempts.map(({ signature }) => signature))(endpoint);
    const old = attempts.filter((attempt) => mayBePast(attempt, slot));
    const judge = old.length === 0 ? null : new Judge(nodes, endpoint, await finalizedEnd(endpoint));
    const findings = await judge?.findings(old.filter((each) => !isFinal(statuses[attempts.indexOf(each)])));
    const hasArchive = nodes.endpoints.some(({ isArchive }) => isArchive);
    const firstSlot = old.length > 0 && hasArchive ? await endpoint.rpc.getFirstAvailableBlock() : 0;
    const words = attempts.map((attempt, index): Word => {
      const status = statuses[index] ?? null;
      const isPast = judge?.isPast(attempt) ?? false;
      const finding = findings?.get(attempt) ?? "open";
      return wordOf(endpoint, {
        attempt,
        status,
        isPast,
        finding,
        hasNoHistory: attempt.firstSlot < firstSlot,
      });
    });
    return { endpoint: endpoint.name, genesisHash, words };
  };
}

/** No block can be past the last height of an attempt before so many slots: a chain makes at most one block a slot. */
function mayBePast({ firstSlot }: Attempt, slot: number): boolean {
  return slot >= firstSlot + BLOCKHASH_LIFE_BLOCKS;
}

function isFinal(status: SignatureStatus | null | undefined): boolean {
  return status?.commitment === "finalized";
}

interface Said {
  readonly attempt: Attempt;
  readonly status: SignatureStatus | null;
  readonly isPast: boolean;
  readonly finding: Finding;
  /** The ledger of the endpoint begins later. */
  readonly hasNoHistory: boolean;
}

function wordOf({ isArchive }: Endpoint, { attempt, status, isPast, finding, hasNoHistory }: Said): Word {
  const own = status === null || !isFinal(status) ? null : landingOf(attempt, status);
  const landing = own ?? (typeof finding === "string" ? null : finding);
  const past = isPast ? "past" : "open";
  const judgement = landing !== null || typeof finding !== "string" ? past : finding;
  const isLost = judgement === "lost" || (hasNoHistory && status === null && landing === null);
  return { status, landing, hasNoHistory: isLost, isArchive, judgement };
}

function landingOf({ signature }: Attempt, { slot, error }: SignatureStatus): FoundLanding {
  return { signature, slot, error };
}

/** Judges attempts at one endpoint, after its finalized block was read. */
class Judge {
  readonly #nodes: NodeContext;
  readonly #endpoint: Endpoint;
  readonly #finalized: NewestBlock;

  constructor(nodes: NodeContext, endpoint: Endpoint, finalized: NewestBlock) {
    expectShape(finalized.blockHeight <= finalized.slot, "block height");
    this.#nodes = nodes;
    this.#endpoint = endpoint;
    this.#finalized = finalized;
  }

  /** The order is the evidence: a finalized height past the last one was read, and now, at a later slot, there is no trace. */
  async findings(old: readonly Attempt[]): Promise<ReadonlyMap<Attempt, Finding>> {
    const attempts = old.filter((attempt) => this.isPast(attempt));
    if (attempts.length === 0) return new Map();
    const first = await this.#read(attempts);
    const missing = attempts.filter((_, index) => first[index] === "missing");
    const judged = missing.length === 0 ? new Map<Attempt, Finding>() : await this.#judge(missing);
    return new Map(
      attempts.map((attempt, index) => {
        const said = first[index] ?? "open";
        return [attempt, said === "missing" ? (judged.get(attempt) ?? "open") : said];
      }),
    );
  }

  /** The block at its last valid height + 1 still takes it; a finalized height above it is at least that block. */
  isPast({ lastValidBlockHeight }: Attempt): boolean {
    return this.#finalized.blockHeight > lastValidBlockHeight;
  }

  /** The statuses of attempts past their last height as findings; `missing` where there is none. */
  async #read(attempts: readonly Attempt[]): Promise<readonly (Finding | "missing")[]> {
    const { slot, statuses } = await statusesOf(attempts.map(({ signature }) => signature))(this.#endpoint);
    const isLater = slot > this.#finalized.slot;
    return attempts.map((attempt, index) => {
      const status = statuses[index] ?? null;
      if (status !== null && isFinal(status)) return landingOf(attempt, status);
      if (!isLater) return "open";
      // A block up to the finalized height cannot be less than final.
      return status === null ? "missing" : "unclear";
    });
  }

  /** Judges attempts that are absent from the node. */
  async #judge(missing: readonly Attempt[]): Promise<ReadonlyMap<Attempt, Finding>> {
    const findings = new Map<Attempt, Finding>();
    const firstSlot = await this.#firstAvailable();
    for (const attempt of missing) if (attempt.firstSlot < firstSlot) findings.set(attempt, "lost");
    const known = missing.filter((attempt) => !findings.has(attempt));
    const alive = await this.#stillValid(known);
    const expired = known.filter(({ blockhash }) => !alive.has(blockhash));
    if (expired.length === 0) return findings;
    // Again: a blockhash may have expired between the first statuses and the question for it.
    const again = await this.#read(expired);
    for (const [index, attempt] of expired.entries()) {
      const said = again[index] ?? "open";
      findings.set(attempt, said === "missing" ? await this.#traces(attempt) : said);
    }
    // One address may stand for several nodes. Two nodes with different first blocks are not one witness.
    if ((await this.#firstAvailable()) === firstSlot) return findings;
    return new Map(missing.map((attempt) => [attempt, "unclear"]));
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
    if (listed !== "absent") return listed;
    return this.#nodes.deathProof === "blocks" ? await this.#walk(attempt) : "dead";
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
        return "dead";
      case "gap":
        return "lost";
      case "unfinished":
        return "open";
      default:
        return proof;
    }
  }
}
