/** The way from processes to their storage: it can be cut, and it is known when nothing is under way. */
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { turns, type EngineWorld } from "../kit/engine-world.ts";

export class Wire {
  isCut = false;
  readonly #world: Pick<EngineWorld, "clock" | "open">;
  readonly #stepMs: number;
  #calls = 0;

  readonly #error: () => Error;

  /** @param error what a call meets while it is cut. */
  constructor(
    world: Pick<EngineWorld, "clock" | "open">,
    stepMs = 500,
    error = (): Error => new Error("no connection"),
  ) {
    this.#world = world;
    this.#stepMs = stepMs;
    this.#error = error;
  }

  /** Turns the clock in small steps, in each of which all that is due has its turn. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += this.#stepMs) {
      this.#world.clock.advance(this.#stepMs);
      await this.idle();
    }
  }

  /** Resolves when no call has been under way for some turns of the event loop. */
  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 8; quiet = this.#calls === 0 ? quiet + 1 : 0) await turns(1);
  }

  /** A handle at its end. */
  async storage(): Promise<PaymentStorage> {
    return new Proxy(await this.#world.open(), {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || name === "onWake" || name === "close") return member;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          if (this.isCut) throw this.#error();
          this.#calls += 1;
          return (member.apply(target, given) as Promise<unknown>).finally(() => (this.#calls -= 1));
        };
      },
    });
  }
}
