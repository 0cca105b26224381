/**
 * The months after a run in a few minutes: all clocks, the chain's too, are turned on and on until every deposit address
 * has closed, while the services that settle and sweep them are killed and the chain fails.
 */
// modules: private, webhooks
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { allOrders } from "./all-orders.ts";
import type { Child } from "./child.ts";
import type { Customers, Placed } from "./customers.ts";
import { type Deaths, dieAsDrawn } from "./deaths.ts";
import type { Life } from "./plan.ts";
import type { ChainDemand, ChainReady, ServiceSettings } from "./processes/settings.ts";
import { unrested } from "./rest.ts";
import { isWatched } from "../../src/workflow/watch-rows.ts";

/** Whose clocks are turned. */
export interface ClocksParts extends Deaths {
  readonly storage: PaymentStorage;
  readonly service: PaymentService;
  readonly chain: Child<ChainReady>;
  readonly customers: Customers;
  /** Those that come to rest. */
  readonly orders: () => readonly Placed[];
  /** What services are started with before any turn. */
  readonly settings: ServiceSettings;
}

/** Services die and the chain fails in so many turns: an address lingers, ages, is quiet, is slow, and cools down after each refund. */
const DEADLY_TURNS = 8;
/** After so many, the later ones in peace, whatever has not closed never will. */
const MOST_TURNS = 24;
/** A deposit window ends within it. */
const LEAST_TURN_MS = 31 * 60_000;
/** So much later than the last timer that is set. */
const MARGIN_MS = 60_000;

export class TurnedClocks {
  readonly #parts: ClocksParts;
  #aheadMs = 0;
  #turns = 0;

  constructor(parts: ClocksParts) {
    this.#parts = parts;
  }

  /** How often they were turned. */
  get turns(): number {
    return this.#turns;
  }

  /** Answers what did not come to rest. Of the deadly turns each kills as many processes as there are. */
  async untilAllIsClosed(lives: readonly Life[]): Promise<readonly string[]> {
    const { customers, victims } = this.#parts;
    const left = [...lives];
    customers.payLate();
    while (this.#turns < MOST_TURNS) {
      const aheadMs = await this.#nextTime();
      if (aheadMs === null) break;
      await this.#turnTo(aheadMs);
      if (this.#turns <= DEADLY_TURNS) await this.#dieMeanwhile(left.splice(0, victims.length));
      else await this.#startAll();
      const broken = await this.#rest();
      if (broken.length > 0) return broken;
    }
    return [];
  }

  /** When the last timer of an order that is set by now will have rung; null where every order has closed. */
  async #nextTime(): Promise<number | null> {
    const { storage } = this.#parts;
    const now = Date.now();
    let aheadMs: number | null = null;
    for (const { view } of await allOrders(storage)) {
      const { id } = view.order;
      const [tasks, record] = await Promise.all([
        storage.tasks({ order: "instance", instance: id, limit: 1 }),
        storage.load(id),
      ]);
      // One that has closed waits for nothing.
      if (tasks.length === 0 && (record === null || !isWatched(record))) continue;
      aheadMs ??= this.#aheadMs + LEAST_TURN_MS;
      for (const { visibleAt } of tasks) aheadMs = Math.max(aheadMs, visibleAt - now + MARGIN_MS);
    }
    return aheadMs;
  }

  /** While nobody is there. From then on one clock is everybody's: a clock that is off is tried before. */
  async #turnTo(aheadMs: number): Promise<void> {
    const { victims, settings, chain } = this.#parts;
    await Promise.all(victims.map((victim) => victim.end()));
    const { database } = settings;
    const turned = database.kind === "postgres" ? { ...database, clock: "caller" as const } : database;
    for (const victim of victims) victim.become({ ...settings, database: turned, clockOffMs: aheadMs });
    const byMs = aheadMs - this.#aheadMs;
    chain.process.send({ asks: "turn", byMs } satisfies ChainDemand);
    this.#aheadMs = aheadMs;
    this.#turns += 1;
  }

  async #dieMeanwhile(lives: readonly Life[]): Promise<void> {
    const { chain, customers } = this.#parts;
    const readers = new AbortController();
    chain.process.send({ asks: "spoil" } satisfies ChainDemand);
    const reading = customers.look(readers.signal);
    await dieAsDrawn(this.#parts, lives);
    chain.process.send({ asks: "heal" } satisfies ChainDemand);
    readers.abort();
    await Promise.all([reading, this.#startAll()]);
  }

  async #startAll(): Promise<void> {
    await Promise.all(this.#parts.victims.map((victim) => victim.start()));
  }

  #rest(): Promise<readonly string[]> {
    const { storage, service, orders } = this.#parts;
    const transactionIds = orders().map(({ transactionId }) => transactionId);
    return unrested({ storage, service, transactionIds, aheadMs: this.#aheadMs });
  }
}
