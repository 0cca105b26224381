/** The end of a random life: everything is let come to rest, and an operator with time looks at what waits. */
// modules: private
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { OperatorRefused } from "../../../src/payments/frame/acts/act.ts";
import type { Matter } from "../../../src/payments/frame/acts/matter.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Living } from "./begin-life.ts";
import { resolved } from "./hasty-operators.ts";
import type { LivedOrder } from "./lived-order.ts";
import { MINUTE } from "./scene.ts";
import type { Life } from "./random-life.ts";
import { MAX_TOLD_BLOCKS } from "./random-lies.ts";

/** Minutes until everything rests: what does not land is tried once an hour, and a marker without a history is told after one. */
const ROUNDS: readonly number[] = [
  ...Array.from({ length: 6 }, () => 0.5),
  ...Array.from({ length: 12 }, () => 11),
  ...Array.from({ length: 12 }, () => 61),
  ...Array.from({ length: 4 }, () => 600),
];
/** So many slots pass at once at the most: more than signed bytes live. */
const SLOTS_PER_MINUTE = 150;
const MAX_SLOTS = 300;
/** So often an operator looks at what waits. */
const LOOKS_OF_OPERATOR = 4;
/** A dispute stands until its fact is asked for again, or for ten minutes where nobody asks any more. */
const MINUTES_OF_DISPUTE = 11;

/** Everything is let come to rest, and the operator does what there is to do. */
export async function comeToRest(living: Living): Promise<void> {
  const { life, processes, orders } = living;
  for (let looks = 0; ; looks++) {
    for (const minutes of ROUNDS) {
      await rest(living, minutes);
      if (await areAllAtRest(processes.storage(), orders)) break;
    }
    if (looks === LOOKS_OF_OPERATOR) return rest(living, MINUTES_OF_DISPUTE);
    if (looks === 0 && hasToldHeights(life)) await processes.slots(MAX_TOLD_BLOCKS + MAX_SLOTS);
    await during(living, (service) => service.reconcile().catch(unlessTooEarly));
    for (const order of orders) await during(living, (service) => lookAfter(service, order));
  }
}

/** So many minutes pass, with slots until what lands in them is final. */
async function rest({ world, processes }: Living, minutes: number): Promise<void> {
  world.clock.advance(minutes * MINUTE);
  await processes.slots(Math.min(minutes * SLOTS_PER_MINUTE, MAX_SLOTS));
  await processes.slots(35);
}

function during(
  { processes, turning }: Living,
  deed: (service: PaymentService) => Promise<unknown>,
): Promise<void> {
  return processes.during((service) => turning.await(deed(service)));
}

/** Where all endpoints in service told a height that is far away, signed bytes live until the chain is there. */
function hasToldHeights({ liars, happenings }: Life): boolean {
  const told = happenings.flatMap((each) => (each.does === "lie" ? each.lies : []));
  const isLiarAlone = happenings.some((each) => each.does === "operator" && each.act.does === "suspend");
  return (liars === "all" || isLiarAlone) && told.some(({ lie }) => lie.about === "heights");
}

/** No final block is as late as the start of the process: the operator looks once more. */
function unlessTooEarly(error: unknown): void {
  if (!(error instanceof LedgerUnavailable)) throw error;
}

/** What a person does about each kind of matter. */
const REMEDIES = {
  held: "release",
  missing: "conclude",
  stuck_payment: "retry",
  waiting_for_funds: "retry",
} as const;

/** What the operator's page says to do; what the service refuses waits for the next look. */
async function lookAfter({ operator }: PaymentService, order: LivedOrder): Promise<void> {
  const matters = await mattersOf(operator, order);
  // What lies beside the accounts that count is a matter only once it was found.
  const actions = [...matters.map(({ kind }) => REMEDIES[kind as keyof typeof REMEDIES]), "collect" as const];
  for (const action of actions) {
    if (action === undefined) continue;
    await resolved(operator, order, { action }).catch((error: unknown) => {
      if (!(error instanceof OperatorRefused)) throw error;
    });
  }
}

/** What waits for a person about this order. */
export async function mattersOf(
  operator: Pick<PaymentService["operator"], "attention">,
  { id }: Pick<LivedOrder, "id">,
): Promise<readonly Matter[]> {
  return (await operator.attention()).filter(({ transactionId }) => transactionId === id);
}

async function areAllAtRest(storage: PaymentStorage, orders: readonly LivedOrder[]): Promise<boolean> {
  const rows = await storage.orders(orders.map(({ id }) => id));
  return rows.every(({ state, overState }) => state === "over" && overState === "idle");
}
