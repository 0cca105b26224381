/** Waiting until every order is final, every notice delivered and nothing due. */
// modules: private, webhooks
import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";

/** Who comes to rest. */
export interface Resting {
  readonly storage: PaymentStorage;
  readonly service: Pick<PaymentService, "workflows">;
  /** Of all orders. */
  readonly transactionIds: readonly string[];
  /** How far the clocks of the services were turned. */
  readonly aheadMs: number;
}

const LOOK_MS = 100;
/** Timers of addresses that rest are due in minutes and hours. */
const SOON_MS = 30_000;
const UNDER_WAY: ReadonlySet<string> = new Set(["planned", "out"]);
const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
/** After so long with everything healed, whatever is not final is lost. */
const REST_MS = 240_000;

/** One sentence for each order that does not come to rest. */
export async function unrested(resting: Resting): Promise<readonly string[]> {
  const { storage, service, transactionIds, aheadMs } = resting;
  const keys = service.workflows.map(({ key }) => key);
  const until = performance.now() + REST_MS;
  let open = await unfinished(storage, transactionIds);
  for (;;) {
    const dueIn = ((await storage.nextDue(keys)) ?? Infinity) - Date.now() - aheadMs;
    if (open.size === 0 && dueIn > SOON_MS) {
      // What one order began when another was looked at: a refund follows the end of its order.
      open = await unfinished(storage, transactionIds);
      if (open.size === 0) return [];
    }
    if (performance.now() > until) return [...open.values(), `G6: something is due in ${dueIn} ms`];
    await sleep(LOOK_MS);
    open = await unfinished(storage, [...open.keys()]);
  }
}

/** Those of these orders that have not come to rest, each with what it waits for. */
export async function unfinished(
  storage: PaymentStorage,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const open = new Map<string, string>();
  for (const id of ids) {
    const waits = await waitsOf(storage, id);
    if (waits !== null) open.set(id, waits);
  }
  return open;
}

/** What an order still waits for; null when its money and its news have come to rest. */
async function waitsOf(storage: PaymentStorage, id: string): Promise<string | null> {
  const view = await storage.orderedTransaction(id);
  const status = view?.transaction.status ?? "gone";
  const transfers = (view?.order?.transfers ?? []).filter(({ state }) => UNDER_WAY.has(state));
  const undelivered = (await storage.deliveries(id)).filter((each) => each.status !== "delivered");
  if (FINAL.has(status) && transfers.length === 0 && undelivered.length === 0) return null;
  const waits = [
    ...transfers.map(({ kind, state }) => `a ${kind} is ${state}`),
    ...undelivered.map((each) => `${each.id} is ${each.status}`),
  ];
  return `I6: ${id} is ${status} ${waits.join(", ")}`;
}
