/** Lives a random life to its end: on a real chain behind its nodes, by processes that die, over databases that are lost. */
// modules: private
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { beginLife, type Past } from "./begin-life.ts";
import { comeToRest } from "./come-to-rest.ts";
import { happen } from "./happen.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { LivedSend } from "./lived-send.ts";
import type { Photograph } from "./photograph.ts";
import type { Life } from "./random-life.ts";

/** What is left when a life is over. */
export interface LivedLife {
  readonly life: Life;
  readonly world: SwapFixture;
  readonly caller: Caller;
  readonly orders: readonly LivedOrder[];
  readonly sends: readonly LivedSend[];
  /** Everybody else who has paid for a transaction. */
  readonly outsiders: readonly { readonly address: string }[];
  /** Everybody's accounts before anything happened. */
  readonly before: Photograph;
  /** Those that are there at the end. */
  readonly storage: PaymentStorage;
  readonly service: PaymentService;
  readonly past: Past;
  /** Call it when the life was judged. */
  readonly close: () => Promise<void>;
}

/** Lives it. */
export async function liveThrough(life: Life): Promise<LivedLife> {
  const living = await beginLife(life);
  const { world, nodes, processes, orders, past } = living;
  for (const happening of life.happenings) await happen(happening, living);
  nodes.mend();
  processes.liveOn();
  await comeToRest(living);
  const storage = processes.storage();
  const service = processes.service();
  const { caller, sends, before, people, someone, thief } = living;
  return {
    life,
    world,
    caller,
    orders,
    sends,
    before,
    storage,
    service,
    past,
    outsiders: [...people.wallets, someone.wallet, thief.wallet, ...sends.map(({ sender }) => sender)],
    close: living.close,
  };
}
