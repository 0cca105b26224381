/** Lives a random life to its end: on a real chain, by processes that die, over databases that are replaced by older ones. */
import { createHash } from "node:crypto";
import { memoryStorage } from "../../kit/storages.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { PaymentError } from "../../../src/errors.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import { OperatorRefused } from "../../../src/payments/operator/operator-refused.ts";
import { readPlan, type StoredPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { Random } from "../../../src/runtime.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import { BY } from "../../kit/by.ts";
import { keepCopies } from "./kept-copies.ts";
import { partiesOf, payIn, placeOrder, type LivedOrder } from "./lived-order.ts";
import { payers } from "./payers.ts";
import { photograph, type Photograph } from "./photograph.ts";
import type { Happening, Life } from "./random-life.ts";
import { MINUTE } from "./scene.ts";
import { succession, type Succession } from "./succession.ts";

/** What is left when a life is over. */
export interface LivedLife {
  readonly world: PrivateFixture;
  readonly caller: Caller;
  readonly orders: readonly LivedOrder[];
  readonly payers: readonly Wallet[];
  /** Everybody's accounts before anything happened. */
  readonly before: Photograph;
  /** Those that are there at the end. */
  readonly storage: PaymentStorage;
  readonly service: ReturnType<Succession["service"]>;
  /** Whether the database was ever replaced by an older one. */
  readonly wasRestored: boolean;
  /** The dearest that storage ever was, in lamports per byte. */
  readonly dearestByte: bigint;
}

const LAMPORTS_PER_BYTE = 6_960n;

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

/** `service` and `world` are to be stopped when it was judged. */
export async function liveThrough(life: Life): Promise<LivedLife> {
  const wasRestored = life.happenings.some(({ does }) => does === "restore");
  // Memory is faster, and cannot be copied.
  let kept = wasRestored ? await keepCopies() : null;
  const world = await privateFixture({
    storage: kept?.storage ?? memoryStorage(),
    random: seededRandom("a life"),
  });
  const { chain } = world;
  const caller = await world.caller("enterprise");
  await world.service.stop();
  const oldest = kept?.copies.length ?? 0;
  const people = payers(world);
  const processes = await succession(world, world.storage);
  let dearestByte = LAMPORTS_PER_BYTE;

  const parties = life.orders.map((words, index) => partiesOf(world, words, index));
  chain.advance(35);
  const before = await photograph(chain);
  const orders: LivedOrder[] = [];
  for (const each of parties) orders.push(await placeOrder(world, processes.service(), caller, each));

  const restore = async ({ commitsAgo, isReconciledFirst }: Restoring): Promise<void> => {
    const { copies = [] } = kept ?? {};
    const copy = copies[Math.max(oldest, copies.length - commitsAgo)];
    if (copy === undefined) return;
    await rememberWords(processes.storage(), orders);
    kept = await keepCopies(copy);
    await processes.goOnWith(kept.storage);
    if (isReconciledFirst) await processes.during((service) => service.reconcile());
  };

  const happen = async (happening: Happening): Promise<void> => {
    const order = "order" in happening ? orders[happening.order] : undefined;
    switch (happening.does) {
      case "deposit":
        if (order !== undefined) await payIn(people, order, happening);
        return;
      case "cancel":
        return processes.during((service) =>
          service.cancelTransaction(caller, order?.id ?? "").catch((error: unknown) => {
            if (!(error instanceof PaymentError)) throw error;
          }),
        );
      case "pass":
        return processes.pass(happening.minutes);
      case "slots":
        return processes.slots(happening.count);
      case "die":
        processes.dieAt(happening);
        return;
      case "restore":
        return restore(happening);
      case "rent": {
        const byte = (LAMPORTS_PER_BYTE * BigInt(happening.quarters)) / 4n;
        if (byte > dearestByte) dearestByte = byte;
        chain.setRent(byte);
      }
    }
  };

  for (const happening of life.happenings) await happen(happening);
  processes.liveOn();
  await comeToRest(world, processes, orders);
  const storage = processes.storage();
  await rememberWords(storage, orders);
  const service = processes.service();
  return {
    world,
    caller,
    orders,
    payers: people.wallets,
    before,
    storage,
    service,
    wasRestored,
    dearestByte,
  };
}

type Restoring = Extract<Happening, { does: "restore" }>;

/** Everything is let come to rest, the operator does what there is to do, and every lane of an address ends. */
export async function comeToRest(
  { clock }: Pick<PrivateFixture, "clock">,
  processes: Succession,
  orders: readonly LivedOrder[],
): Promise<void> {
  for (let looks = 0; ; looks++) {
    for (const minutes of ROUNDS) {
      clock.advance(minutes * MINUTE);
      await processes.slots(Math.min(minutes * SLOTS_PER_MINUTE, MAX_SLOTS));
      if (await areAllAtRest(processes.storage(), orders)) break;
    }
    if (looks === LOOKS_OF_OPERATOR) break;
    await processes.during((service) => service.reconcile());
    const deposits = await processes.storage().deposits(orders.map(({ address }) => address));
    const held = new Set<string>(
      deposits.filter(({ heldReason }) => heldReason !== null).map(({ id }) => id),
    );
    for (const order of orders) {
      if (!held.has(order.address)) continue;
      await processes.during((service) =>
        service.operator.releaseDeposit(order.id, BY).catch((error: unknown) => {
          if (!(error instanceof OperatorRefused)) throw error;
          order.isRefused = true;
        }),
      );
    }
  }
  for (const days of [1.1, 61]) {
    await processes.pass(days * 24 * 60);
    for (let round = 0; round < 8; round++) await processes.pass(61);
  }
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

/** Chance that turns out the same in every run. */
export function seededRandom(seed: string): Random {
  let drawn = 0;
  return {
    bytes(length) {
      drawn += 1;
      return createHash("shake256", { outputLength: length }).update(`${seed}, draw ${drawn}`).digest();
    },
  };
}
