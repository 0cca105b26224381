/** The effect `look` of an order: one whole reading, the event that follows from it, and the rows of both. */
import type { OrderEvent, LastPayout } from "../../../machines/order-context.ts";
import type { InstanceRecord } from "../../../storage/storage.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { PrivateContext, PrivateWrite, PrivateTables } from "./private-storage.ts";
import type { PriceSource } from "../frame/prices/prices.ts";
import type { ChunkRecord, OrderRecord } from "./tables.ts";
import { releaseReserved } from "../frame/purses/reserve.ts";
import { paidPlaces } from "./chunk-rows.ts";
import { isDead, lastHeightOf } from "./attempt-death.ts";
import { correctedFee, feeTaken } from "./fee-taken.ts";
import { findStrays } from "./find-strays.ts";
import { judgeLevels } from "./judge-levels.ts";
import { lookAtOrder, type OrderLook } from "./look.ts";
import { FailedLooks, LooksInTurn } from "./looks-in-turn.ts";
import { foreignMarkers, noteMatters, type OrderMatter } from "./marker-matters.ts";
import { transferId, type PlannedTransfer, type PlanTransfer } from "./plan-transfer.ts";
import { nextRest, reserveRest } from "./next-rest.ts";
import { isDue } from "./protocol/facts.ts";
import { nextOf, type OrderNews } from "./protocol/next-of.ts";
import type { OrderState } from "./protocol/rows.ts";
import { NOBODY } from "./protocol/outcome.ts";
import { confirmedPayout, pricelessSwap } from "./soft-facts.ts";
import { tellChunks } from "./tell-chunks.ts";

export interface ConcludingParts extends Pick<
  PrivateContext,
  "storage" | "ledger" | "assets" | "clock" | "disputes"
> {
  readonly prices: PriceSource;
  readonly plan: PlanTransfer;
}

/** The event and the writes that a reading leads to, before they are committed. */
interface Conclusion {
  readonly event: OrderEvent;
  readonly writes?: readonly PrivateWrite[];
  readonly set?: Partial<Omit<OrderRecord, "id" | "version">>;
  readonly starts?: readonly PlannedTransfer[];
}

type LookOutcome = EffectOutcome<OrderEvent, PrivateTables> | undefined;

/** Concludes from looks, in one process: notes when all bytes of earlier signers have died. */
export class OrderConcluder {
  readonly #deps: ConcludingParts;
  readonly #looks = new LooksInTurn();
  readonly #failed = new FailedLooks();
  /** The last bytes that another process may have signed before the first look of this one. */
  #othersLast: { readonly lastValidBlockHeight: number } | null = null;

  constructor(deps: ConcludingParts) {
    this.#deps = deps;
  }

  /**
   * Rejects, and is asked again after a growing pause, while the chain cannot be read or does not agree. `key` is the same for
   * every try of one look.
   */
  conclude(id: string, key: string): Promise<LookOutcome> {
    return this.#looks.take(id, async () => {
      const instance = await this.#deps.storage.load(id);
      const asked = { key, version: instance?.version ?? 0 };
      return this.#failed.take(asked, () => this.#look(id, instance));
    });
  }

  async #look(id: string, instance: InstanceRecord | null): Promise<LookOutcome> {
    // Before the reading: later it would miss a landing or a death.
    const isGoDead = await this.#isGoDead(id);
    const first = await lookAtOrder(this.#deps, id);
    // An end that is being written down: nothing else counts.
    if (first.view.order.ends !== null || instance === null) return undefined;
    if (await this.#isOvertaken(instance)) return undefined;
    const isEntry = isEntering(newsOf(first, isGoDead));
    const { look, writes, set, isWhole } = await judgeLevels(this.#deps, first, isEntry);
    if (!isWhole) return outcomeOf(look, instance.version, { event: { type: "NOTED" }, writes, set });
    this.#noteDispute(look);
    const next = newsOf(look, isGoDead);
    const found = await this.#concluded(look, next);
    if (found === null && writes.length === 0 && Object.keys(set).length === 0) return undefined;
    if (await this.#isOvertaken(instance)) return undefined;
    const event = found?.event ?? ({ type: "NOTED" } as const);
    return outcomeOf(look, instance.version, {
      event,
      writes: [...writes, ...(found?.writes ?? [])],
      set: { ...set, ...found?.set },
      starts: found?.starts ?? [],
    });
  }

  /** Whether the order has made a step since: each step of an order asks for a look of its own. */
  async #isOvertaken({ id, version }: Pick<InstanceRecord, "id" | "version">): Promise<boolean> {
    return (await this.#deps.storage.load(id))?.version !== version;
  }

  /** The order waits on while endpoints differ about what came within its window: a person is told. */
  #noteDispute({ view: { order }, facts, reading }: OrderLook): void {
    const { disputes } = this.#deps;
    const subject = `the money at deposit address ${order.address}`;
    const isDisputed = order.state === "waiting" && facts.afterWindow === "disputed";
    if (!isDisputed) return disputes.end(subject);
    const endpoints = reading.told.map(({ endpoint }) => endpoint);
    disputes.note(subject, endpoints);
  }

  /** Whether no go of the order can land any more: neither bytes that are stored here nor those of a lost database. */
  async #isGoDead(order: string): Promise<boolean> {
    const { storage, ledger } = this.#deps;
    this.#othersLast ??= { lastValidBlockHeight: await this.#lastHeight() };
    const { state, lastGoHeight = null } = (await storage.order(order)) ?? {};
    if (state !== "refusing" || lastGoHeight === null) return false;
    const { agreed } = await ledger.heights("finalized");
    const attempts = await storage.attemptsOf(transferId({ order, kind: "chunk", n: 0 }));
    const open = attempts.filter(({ error }) => error === null);
    const lost = { lastValidBlockHeight: lastGoHeight };
    return [this.#othersLast, lost, ...open].every((each) => isDead(each, agreed));
  }

  /** The last height for bytes that are signed by now. Where they are, the newest block is a confirmed one, some seconds after the finalized. */
  async #lastHeight(): Promise<number> {
    return lastHeightOf({ lastValidBlockHeight: 0 }, await this.#deps.ledger.heights("confirmed"));
  }

  async #concluded(look: OrderLook, next: OrderNews | null): Promise<Conclusion | null> {
    switch (next?.type) {
      case undefined:
        return this.#unprompted(look);
      case "GO":
      case "NO_GO":
      case "MARKS":
        return this.#marked(look, next);
      case "GONE":
        return this.#gone(look, next);
      case "FUNDED":
        return { event: { type: next.type }, starts: startsOf(this.#deps, look, [0]) };
      case "WINDOW_OVER": {
        const strays = await findStrays(this.#deps, look);
        return { event: next, writes: strays, starts: next.isRefused ? startsOf(this.#deps, look, [0]) : [] };
      }
      case "DECIDED": {
        // A marker that nobody tells of for an hour is told by its length now.
        const { chunks, writes } = await tellChunks(this.#deps, look);
        const fee = correctedFee(look, chunks);
        if (fee !== null) return { event: fee, writes };
        return {
          event: next,
          writes: [...writes, reserveRest(look), ...(await findStrays(this.#deps, look))],
        };
      }
      case "LATE": {
        const starts = look.facts.isDecided ? [] : startsOf(this.#deps, look, [0]);
        return {
          event: { type: next.type },
          writes: [reserveRest(look)],
          starts,
        };
      }
      case "EMPTY":
      case "BELOW_COST":
        return { event: { type: next.type }, writes: this.#givenBack(look) };
    }
  }

  /** The desk's reservation for an order that ends without a marker, and without bytes that can land. */
  #givenBack({ view: { order, transfers } }: OrderLook): readonly PrivateWrite[] {
    if (order.state !== "refusing") return [];
    return transfers
      .filter(({ reserved }) => reserved.length > 0)
      .flatMap(({ id, reserved }): readonly PrivateWrite[] => [
        ...releaseReserved(reserved, this.#deps.clock.now()),
        { table: "transfers", id, set: { reserved: [] } },
      ]);
  }

  /** Tells the chunks' transfers of new markers in one commit, chunk 0 first. */
  async #marked(look: OrderLook, next: OrderNews): Promise<Conclusion> {
    const { chunks, writes } = await tellChunks(this.#deps, look);
    if (next.type === "NO_GO") {
      const strays = await findStrays(this.#deps, look);
      return {
        event: { type: "NO_GO" },
        writes: [...writes, ...nobodyPaid(look), reserveRest(look), ...strays],
      };
    }
    const payout = lastPayout(look, chunks);
    if (next.type !== "GO") return { event: { type: "MARKS", ...payout }, writes };
    const open = chunks.filter(({ length }) => length === null).map(({ k }) => k);
    const { state, overState } = look.view.order;
    const isAfterEnd = state === "over" && overState !== "paying";
    const matters: readonly OrderMatter[] = isAfterEnd ? [{ kind: "paid_after_end" }] : [];
    return {
      event: { type: "GO", charged: feeTaken(look, chunks), ...payout },
      writes: [...writes, ...(await noteMatters(this.#deps, look, matters))],
      starts: startsOf(this.#deps, look, open),
    };
  }

  /** Conclusions beside markers and sums: stories of markers, a marker missed once, a swap's price, a rest to be made. */
  async #unprompted(look: OrderLook): Promise<Conclusion | null> {
    const missed = missedWrites(look);
    if (missed.length > 0) return noted({ writes: missed });
    const { chunks, writes } = await tellChunks(this.#deps, look);
    const matters = await noteMatters(this.#deps, look, foreignMarkers(look));
    const fee = look.facts.isUnclear ? null : correctedFee(look, chunks);
    if (fee !== null) return { event: fee, writes: [...writes, ...matters] };
    if (writes.length + matters.length > 0) return noted({ writes: [...writes, ...matters] });
    if (look.facts.isUnclear) return null;
    const { state, overState, lastGoHeight } = look.view.order;
    // A process that is thawed, or whose database is set back under it, does not know since when it refuses.
    if (state === "refusing" && lastGoHeight === null) {
      return noted({ set: { lastGoHeight: await this.#lastHeight() } });
    }
    const given = state === "deciding" ? givenUp(look) : null;
    if (given !== null) return given;
    const isShown = look.transaction.status !== "processing";
    if (state === "deciding" || state === "paying") return isShown ? null : confirmedPayout(this.#deps, look);
    // A rest that cannot go now is planned, too: its row tells a person of the price or the purse that is missing.
    if (overState !== "resting" || !isDue(look.facts.worth)) return null;
    const rest = nextRest(look);
    return rest === null ? null : noted({ starts: [this.#deps.plan(rest)] });
  }

  /** The chunk is made again as it was, or as nobody if a person wanted that. */
  async #gone(look: OrderLook, news: Extract<OrderNews, { type: "GONE" }>): Promise<Conclusion> {
    const { chunk: k, isNobodyWanted } = news;
    const chunk = look.view.chunks.find((each) => each.k === k);
    if (chunk === undefined) throw new Error(`order ${look.terms.id} has no chunk ${k}`);
    const wanted = isNobodyWanted ? NOBODY : (chunk.length ?? chunk.wanted);
    const told = { signature: null, blockTime: null, paid: null, isOwn: false, isLent: false, opened: 0n };
    const set = { length: null, slot: null, ...told, goneAt: null, wanted };
    const matter = { kind: "unexplained", detail: `marker ${k} stood and does not any more` } as const;
    return {
      event: news,
      writes: [{ table: "chunks", id: chunk.id, set }, ...(await noteMatters(this.#deps, look, [matter]))],
      starts: startsOf(this.#deps, look, [k]),
    };
  }
}

function noted(parts: Omit<Conclusion, "event">): Conclusion {
  return { event: { type: "NOTED" }, ...parts };
}

/** One commit: refused where the order or its instance has changed since the look. */
function outcomeOf({ view }: OrderLook, expectedVersion: number, conclusion: Conclusion): LookOutcome {
  const { id, version } = view.order;
  const { event, writes = [], set = {}, starts = [] } = conclusion;
  return {
    event,
    expectedVersion,
    writes: [
      { table: "orders", id, set, expectedVersion: version },
      ...writes,
      ...starts.map(({ write }) => write),
    ],
    starts: starts.map(({ start }) => start),
  };
}

function newsOf({ view, facts, judged }: OrderLook, isGoDead: boolean): OrderNews | null {
  return nextOf(stateOf(view.order), facts, { ...judged, rows: { ...judged.rows, isGoDead } });
}

/** Whether the order is about to be over or idle: then its history is listed first. */
function isEntering(next: OrderNews | null): boolean {
  if (next === null) return false;
  if (next.type === "WINDOW_OVER") return !next.isRefused;
  return (
    next.type === "NO_GO" || next.type === "DECIDED" || next.type === "EMPTY" || next.type === "BELOW_COST"
  );
}

function stateOf({ state, overState }: OrderRecord): OrderState {
  return state === "over" ? `over.${overState ?? "idle"}` : state;
}

/** Transfers of these chunks, as far as they have none: each chunk has one, for ever. */
function startsOf(
  { plan }: Pick<ConcludingParts, "plan">,
  { view, terms }: OrderLook,
  ks: readonly number[],
): readonly PlannedTransfer[] {
  const begun = new Set(view.transfers.filter(({ kind }) => kind === "chunk").map(({ n }) => n));
  return ks
    .filter((n) => !begun.has(n))
    .map((n) => plan({ order: terms.id, kind: "chunk", n, mint: terms.mint, to: null, subjects: [] }));
}

/** The payout that is last in the chain's order, of those that markers tell. */
function lastPayout(look: OrderLook, chunks: readonly ChunkRecord[]): LastPayout {
  const paying = chunks.filter((chunk) => paidPlaces(look, chunk).some((place) => place > 0 || chunk.k > 0));
  const last = paying.reduce<ChunkRecord | null>(
    (latest, each) => ((each.blockTime ?? 0) >= (latest?.blockTime ?? 0) ? each : latest),
    null,
  );
  // While no node lists the maker of a marker, its row has the time of the first look.
  if (last === null || (!last.isOwn && last.paid === null)) return { signature: null, blockTime: null };
  return { signature: last.signature, blockTime: last.blockTime };
}

/** A no-go has paid nobody. Markers that were told before it, and are gone, count no more. */
function nobodyPaid({ recipients }: OrderLook): readonly PrivateWrite[] {
  return recipients
    .filter(({ status }) => status === "paid")
    .map(({ id }) => ({ table: "recipients", id, set: { status: "unpaid", signature: null } }));
}

/** A marker of a row that this reading has not, for the first time; and one that is there again. */
function missedWrites({ view, facts, reading }: OrderLook): readonly PrivateWrite[] {
  return facts.chunks.flatMap(({ k, isMissed, isMissedLater }): readonly PrivateWrite[] => {
    const chunk = view.chunks.find((each) => each.k === k);
    const isKnown = chunk?.goneAt !== null;
    if (chunk === undefined || isMissed === isKnown || (isMissed && !isMissedLater)) return [];
    const goneAt = isMissed ? (reading.told[0]?.slot ?? 0) : null;
    return [{ table: "chunks", id: chunk.id, set: { goneAt } }];
  });
}

/** The finding of a transfer: that its chunk pays nobody, or that a swap finds no price. */
function givenUp(look: OrderLook): Conclusion | null {
  if (look.view.chunks[0]?.wanted === NOBODY) return { event: { type: "CULPRITS" } };
  const reason = pricelessSwap(look);
  return reason === null ? null : { event: { type: "BELOW", reason } };
}
