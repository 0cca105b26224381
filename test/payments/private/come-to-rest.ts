/** The end of a random life: everything is let come to rest, and an operator with time looks at what waits. */
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { OperatorRefused } from "../../../src/payments/operator/act.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { readPlan, type StoredPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { BY } from "../../kit/by.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import type { LivedOrder } from "./lived-order.ts";
import { MINUTE } from "./scene.ts";
import type { Life } from "./random-life.ts";
import { MAX_TOLD_BLOCKS } from "./random-lies.ts";
import type { Succession } from "./succession.ts";
import type { Turning } from "./turning.ts";

/** Minutes until everything rests: an address may try its refund eight times, each pause twice as long as the last. */
const ROUNDS: readonly number[] = [
  ...Array.from({ length: 6 }, () => 0.5),
  ...Array.from({ length: 8 }, () => 11),
  ...Array.from({ length: 14 }, () => 180),
];
/** So many slots pass at once at the most: more than signed bytes live. */
const SLOTS_PER_MINUTE = 150;
const MAX_SLOTS = 300;
/** So often an operator looks at what cannot be explained, and at what is held. */
const LOOKS_OF_OPERATOR = 2;

/** Everything is let come to rest, the operator does what there is to do, and every lane of an address ends. */
export async function comeToRest(
  {
    life,
    world: { clock },
    turning,
  }: { readonly life: Life; readonly world: Pick<PrivateFixture, "clock">; readonly turning: Turning },
  processes: Succession,
  orders: readonly LivedOrder[],
): Promise<void> {
  const during = (deed: (service: PaymentService) => Promise<unknown>): Promise<void> =>
    processes.during((service) => turning.await(deed(service)));
  for (let looks = 0; ; looks++) {
    for (const minutes of ROUNDS) {
      clock.advance(minutes * MINUTE);
      await processes.slots(Math.min(minutes * SLOTS_PER_MINUTE, MAX_SLOTS));
      if (await areAllAtRest(processes.storage(), orders)) break;
    }
    if (looks === LOOKS_OF_OPERATOR) break;
    for (const [order, reason] of await heldAmong(processes.storage(), orders)) order.heldFor ??= reason;
    await during((service) => service.reconcile().catch(unlessTooEarly));
    for (const [order] of await heldAmong(processes.storage(), orders)) {
      await during((service) =>
        service.operator.releaseDeposit(order.id, BY).catch((error: unknown) => {
          if (!(error instanceof OperatorRefused)) throw error;
          order.isRefused = true;
        }),
      );
    }
  }
  if (hasToldHeights(life)) await processes.slots(MAX_TOLD_BLOCKS + MAX_SLOTS);
  for (const days of [1.1, 61]) {
    await processes.pass(days * 24 * 60);
    for (let round = 0; round < 8; round++) await processes.pass(61);
  }
}

/** Where all endpoints in service told a height that is far away, markers stand until the chain is there. */
function hasToldHeights({ liars, happenings }: Life): boolean {
  const told = happenings.flatMap((each) => (each.does === "lie" ? each.lies : []));
  const isLiarAlone = happenings.some((each) => each.does === "operator" && each.act.does === "suspend");
  return (liars === "all" || isLiarAlone) && told.some(({ lie }) => lie.about === "heights");
}

/** No final block is as late as the start of the process: the operator looks once more. */
function unlessTooEarly(error: unknown): void {
  if (!(error instanceof LedgerUnavailable)) throw error;
}

async function heldAmong(
  storage: PaymentStorage,
  orders: readonly LivedOrder[],
): Promise<readonly (readonly [LivedOrder, string])[]> {
  const deposits = await storage.deposits(orders.map(({ address }) => address));
  const reasons = new Map<string, string | null>(deposits.map(({ id, heldReason }) => [id, heldReason]));
  return orders.flatMap((order) => {
    const reason = reasons.get(order.address) ?? null;
    return reason === null ? [] : [[order, reason] as const];
  });
}

const AT_REST: ReadonlySet<unknown> = new Set(["resting", "slowLane", "closed", "held", "heldBack", null]);

async function areAllAtRest(storage: PaymentStorage, orders: readonly LivedOrder[]): Promise<boolean> {
  const states = await Promise.all(orders.map(({ address }) => stateAt(storage, address)));
  return states.every((state) => AT_REST.has(state));
}

/** Where the machine of a deposit address is, the innermost state; null when this database has never heard of it. */
export async function stateAt(storage: PaymentStorage, address: string): Promise<unknown> {
  const instance = await storage.load(address);
  let state = instance === null ? null : (JSON.parse(instance.snapshot) as { readonly value: unknown }).value;
  while (typeof state === "object" && state !== null) state = Object.values(state)[0];
  return state;
}

/** A database that is replaced takes its words with it. */
export async function rememberWords(storage: PaymentStorage, orders: readonly LivedOrder[]): Promise<void> {
  for (const { id, markerWords } of orders) {
    for (const { plan } of (await storage.transaction(id))?.payments ?? []) {
      for (const each of wordsIn(readPlan(plan))) markerWords.add(each);
    }
  }
}

/** The words of every marker that a payment makes. */
function wordsIn({ moves }: StoredPlan): readonly string[] {
  return moves.flatMap((move) => {
    if (move.does === "mark") return [move.words];
    return move.does === "replace" ? [move.words, move.planWords] : [];
  });
}
