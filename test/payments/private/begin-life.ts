/** The beginning of a random life: its chain and nodes, all who take part, and its orders. */
// modules: private
import { createHash } from "node:crypto";
import { SOL_MINT } from "../../../src/core/address.ts";
import { memoryStorage } from "../../kit/storages.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Random } from "../../../src/core/runtime.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { keepCopies, type KeptCopies } from "./kept-copies.ts";
import { LifeNodes } from "./life-nodes.ts";
import { partiesOf, placeOrder, placeSwap, type LivedOrder } from "./lived-order.ts";
import { type LivedSend, sendOf } from "./lived-send.ts";
import { payers, type Payers } from "./payers.ts";
import { photograph, type Photograph } from "./photograph.ts";
import type { Life } from "./random-life.ts";
import { SOL } from "./scene.ts";
import { stranger, type Stranger } from "./strangers.ts";
import { Succession } from "./succession.ts";
import { thief, type Thief } from "./thieves.ts";
import { Turning } from "./turning.ts";

/** Lamports per byte that storage on the chain costs in the beginning. */
export const LAMPORTS_PER_BYTE = 6_960n;

const MAX_LOOKS = 5;
/** What takes a copy of the database. */
const COPYING: ReadonlySet<string> = new Set(["restore", "copy", "set aside"]);

/** SOL at 150 dollars, always: what a swap is quoted is what it gets. */
const MARKET: PriceSource = {
  async rate(give, get) {
    const worth = (mint: string): bigint => (mint === SOL_MINT ? SOL : 150_000_000n);
    return { give: worth(give), get: worth(get) };
  },
};

/** What a life has been through, as far as it bears on what may be expected of it. */
export interface Past {
  /** Whether no honest endpoint was in service at some time, or one alone was enough. */
  wasDeceived: boolean;
  /** Whether the database was ever replaced by an older one. */
  wasRestored: boolean;
  /** Whether two processes were ever at work on two databases. */
  hadCopies: boolean;
  /** Whether every node had lost a part of its history for a time. */
  wasPruned: boolean;
  /** The dearest that storage ever was, in lamports per byte. */
  dearestByte: bigint;
  /** What waited for a person at any time, by kind, with the order that it was about. */
  readonly told: { readonly kind: string; readonly order: string; readonly message: string }[];
}

/** A life that goes on. */
export interface Living {
  readonly life: Life;
  readonly world: SwapFixture;
  readonly caller: Caller;
  readonly nodes: LifeNodes;
  readonly turning: Turning;
  readonly processes: Succession;
  readonly copies: Copies;
  readonly people: Payers;
  readonly someone: Stranger;
  readonly thief: Thief;
  readonly before: Photograph;
  readonly orders: readonly LivedOrder[];
  readonly sends: readonly LivedSend[];
  readonly past: Past;
  readonly close: () => Promise<void>;
}

/** The copies that can be gone back to; none is kept where the database is never lost. */
interface Copies {
  kept: KeptCopies | null;
  /** Nobody goes back behind it. */
  oldest: number;
  /** The database of the process that is to stand still, as it was before. */
  setAside: Uint8Array | undefined;
}

/** All who take part are there, and every order is placed. */
export async function beginLife(life: Life): Promise<Living> {
  const isLost = life.happenings.some(({ does }) => COPYING.has(does));
  // Memory is faster, and cannot be copied.
  const kept = isLost ? await keepCopies() : null;
  const world = await swapFixture({
    options: { storage: kept?.storage ?? (await memoryStorage()), random: seededRandom("a life") },
    desk: { prices: MARKET },
  });
  const caller = await world.caller("enterprise");
  await world.service.stop();
  const people = payers(world);
  const someone = await stranger(world);
  const robber = thief(world);
  const nodes = new LifeNodes(world, life);
  const ledger = world.ledgerOf(nodes.options);
  const turning = new Turning(world);
  const past = newPast(life);
  const processes = await Succession.begin(
    livedIn({ ...world, ledger }, { life, nodes, turning, people, past }),
    world.storage,
  );
  const sends = life.happenings.flatMap((each, index) =>
    each.does === "send" ? [sendOf(world, each.words, index)] : [],
  );
  const parties = life.orders.map((words, index) =>
    partiesOf(world, words === "swap" ? { asset: "SOL", payees: [], sender: "open" } : words, index),
  );
  world.chain.advance(35);
  const before = await photograph(world.chain);
  const orders: LivedOrder[] = [];
  for (const [index, each] of parties.entries()) {
    const place = (service: PaymentService): Promise<LivedOrder> =>
      life.orders[index] === "swap"
        ? placeSwap(service, caller, each)
        : placeOrder(world, service, caller, each);
    orders.push(await untilTaken(processes, place));
  }
  const copies = { kept, oldest: kept?.copies.length ?? 0, setAside: undefined };
  const close = async (): Promise<void> => {
    await turning.await(processes.service().stop());
    await ledger.close();
    await world.close();
  };
  return {
    life,
    world,
    caller,
    nodes,
    turning,
    processes,
    copies,
    people,
    someone,
    thief: robber,
    before,
    orders,
    sends,
    past,
    close,
  };
}

function newPast({ liars }: Life): Past {
  return {
    wasDeceived: liars === "all",
    wasRestored: false,
    hadCopies: false,
    wasPruned: false,
    dearestByte: LAMPORTS_PER_BYTE,
    told: [],
  };
}

/** A service whose first look at its nodes took too long takes nothing before its next one. */
async function untilTaken<T>(
  processes: Succession,
  place: (service: PaymentService) => Promise<T>,
): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await place(processes.service());
    } catch (error) {
      if (look === MAX_LOOKS) throw error;
      await processes.pass(0.3);
    }
  }
}

/** The world as the processes see it: with these nodes, with whoever is refused, and with a clock that goes on by itself. */
function livedIn(
  world: SwapFixture,
  { life, nodes, turning, people, past }: Pick<Living, "life" | "nodes" | "turning" | "people" | "past">,
): SwapFixture {
  const { clock } = world;
  const refused = people.wallets[people.refused]?.address;
  const screening = life.screens
    ? { screen: async (address: string) => (address === refused ? ("refused" as const) : ("ok" as const)) }
    : {};
  return {
    ...world,
    clock: { ...clock, set: (time) => clock.set(Math.max(time, clock.now())) },
    another({ privateRouting, ...options } = {}) {
      turning.begin();
      const service = world.another({
        ...options,
        approvals: life.approvals,
        onAttention({ state, matter: { kind, transactionId: order = "", message } }) {
          if (state === "waiting") past.told.push({ kind, order, message });
        },
        ...(privateRouting === undefined ? {} : { privateRouting: { ...privateRouting, ...screening } }),
      });
      return {
        ...service,
        // A process does not start with nodes that lie about the chain; that is not what is tested here.
        start: () => nodes.honestly(() => turning.await(service.start())),
        settled: () => turning.settled(service),
      };
    },
  };
}

/** Chance that turns out the same in every run. */
function seededRandom(seed: string): Random {
  let drawn = 0;
  return {
    bytes(length) {
      drawn += 1;
      return createHash("shake256", { outputLength: length }).update(`${seed}, draw ${drawn}`).digest();
    },
  };
}
