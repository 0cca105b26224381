/** Tells the other processes how endpoints are used here, once a second while they are, and keeps to what they tell. */
import { createHash } from "node:crypto";
import type { EndpointUse, ExchangeUse, OthersUse } from "../../ledger/endpoint-use.ts";
import { asksForRest, EndpointFailure } from "../endpoint-failure.ts";
import { noteOthersRest, ownRestOf, type HealthWatch, type Patient } from "../health.ts";
import type { Pace } from "./pace.ts";
import type { Outcome, Post } from "./rpc-call.ts";

const EVERY_MS = 1_000;
/** A process that has told nothing for so long makes no calls. */
const FORGET_AFTER_MS = 3_000;
// Of a hash: enough to tell a few endpoints apart.
const KEY_CHARACTERS = 16;

/** An endpoint whose use is shared. */
export interface UsedEndpoint extends Patient {
  readonly url: string;
  /** Null where its rate is not limited. */
  readonly pace: Pace | null;
}

/** How many calls another process made within a second, and when it told so. */
interface Told {
  readonly calls: EndpointUse["calls"];
  readonly at: number;
}

/** Keeps quiet until it is given a way to the other processes. */
export class SharedUse {
  readonly #watch: HealthWatch;
  readonly #closed: AbortSignal;
  readonly #endpoints = new Map<string, UsedEndpoint>();
  readonly #others = new Map<string, Told>();
  #exchange: ExchangeUse | null = null;
  #isTelling = false;

  constructor(watch: HealthWatch, closed: AbortSignal) {
    this.#watch = watch;
    this.#closed = closed;
  }

  /** From now on these are told; the ones before, where there were any, are not any more. */
  with(exchange: ExchangeUse): void {
    this.#exchange = exchange;
    this.#others.clear();
  }

  /** Wraps `post` of this endpoint: its calls are counted, and reported to the other processes. */
  postOf(endpoint: UsedEndpoint, post: Post): Post {
    this.#endpoints.set(keyOf(endpoint), endpoint);
    return async (calls) => {
      if (endpoint.pace !== null) void this.#tellWhileUsed();
      const outcomes = await post(calls);
      if (outcomes.some(asksForRestIn)) void this.#tellWhileUsed();
      return outcomes;
    };
  }

  /** One exchange a second while there is something to tell. */
  async #tellWhileUsed(): Promise<void> {
    const exchange = this.#exchange;
    if (this.#isTelling || exchange === null) return;
    this.#isTelling = true;
    const { clock, log } = this.#watch;
    try {
      for (;;) {
        await clock.sleep(EVERY_MS, this.#closed);
        if (this.#closed.aborted) return;
        const own = this.#own();
        const isUsed = [own.calls, own.rests].some((each) => Object.keys(each).length > 0);
        if (isUsed) this.#hear(await exchange(own));
        this.#leaveToOthers();
        if (!isUsed) return;
      }
    } catch (err) {
      log.debug({ err }, "how other processes use the endpoints could not be read");
    } finally {
      this.#isTelling = false;
    }
  }

  #own(): EndpointUse {
    const now = this.#watch.clock.now();
    const endpoints = [...this.#endpoints];
    const calls = endpoints.map(([key, { pace }]) => [key, pace?.takeMade() ?? 0] as const);
    const rests = endpoints.map(([key, endpoint]) => [key, ownRestOf(endpoint, now)] as const);
    const isSome = ([, value]: readonly [string, number]): boolean => value > 0;
    return {
      calls: Object.fromEntries(calls.filter(isSome)),
      rests: Object.fromEntries(rests.filter(isSome)),
    };
  }

  #hear(told: readonly OthersUse[]): void {
    const now = this.#watch.clock.now();
    // Each report holds the rest that was left at its time. Of several reports of one process the last one is valid.
    const last = new Map(told.map((each) => [each.process, each] as const));
    for (const { process, at, calls, rests } of last.values()) {
      this.#others.set(process, { calls, at });
      for (const [key, endpoint] of this.#endpoints) {
        const left = (rests[key] ?? 0) - (now - at);
        if (left > 0) noteOthersRest(endpoint, left, now);
      }
    }
  }

  #leaveToOthers(): void {
    const now = this.#watch.clock.now();
    for (const [process, { at }] of this.#others) {
      if (Math.abs(now - at) > FORGET_AFTER_MS) this.#others.delete(process);
    }
    const told = [...this.#others.values()];
    for (const [key, { pace }] of this.#endpoints) {
      pace?.leave(told.map(({ calls }) => calls[key] ?? 0).filter((calls) => calls > 0));
    }
  }
}

/** The URL tells endpoints apart, with the key of the API in it: a provider counts by that. What is stored must not tell it. */
function keyOf({ url }: UsedEndpoint): string {
  return createHash("sha256").update(new URL(url).href).digest("base64url").slice(0, KEY_CHARACTERS);
}

function asksForRestIn(outcome: Outcome): boolean {
  if (outcome.status === "fulfilled") return false;
  const reason: unknown = outcome.reason;
  return reason instanceof EndpointFailure && asksForRest(reason);
}
