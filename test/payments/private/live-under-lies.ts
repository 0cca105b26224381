/** Lives a random life in which the nodes lie, by processes that die, until the nodes are honest again and all is at rest. */
import { memoryStorage } from "../../../storage/memory.ts";
import { SOL_MINT } from "../../../src/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { PaymentError } from "../../../src/errors.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/prices/prices.ts";
import { oddEndpoint } from "../../kit/odd-endpoints.ts";
import { units } from "../../kit/private-fixture.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { comeToRest, rememberWords, seededRandom, type LivedLife } from "./live-through.ts";
import { partiesOf, payIn, placeOrder, type LivedOrder } from "./lived-order.ts";
import type { LyingHappening, LyingLife } from "./lying-life.ts";
import { payers, type Payers } from "./payers.ts";
import { photograph } from "./photograph.ts";
import { rulesOf, type ToldLie } from "./random-lies.ts";
import { orderedAs, SOL } from "./scene.ts";
import { succession, type Succession } from "./succession.ts";

/** What is left of such a life. */
export interface LivedUnderLies extends LivedLife {
  readonly world: SwapFixture;
  /** By the sender of each swap: base units of USDC that it was promised. */
  readonly promised: ReadonlyMap<string, bigint>;
  readonly close: () => Promise<void>;
}

/** SOL at 150 dollars, always: what a swap is quoted is what it gets. */
const MARKET: PriceSource = {
  async rate(give, get) {
    const worth = (mint: string): bigint => (mint === SOL_MINT ? SOL : 150_000_000n);
    return { give: worth(give), get: worth(get) };
  },
};

const SWAPPED = "0.2";
const SLOTS_PER_MINUTE = 150;
/** More than signed bytes live. */
const MAX_SLOTS = 300;
/** What storage on the chain costs; it does not change here. */
const LAMPORTS_PER_BYTE = 6_960n;

/** A promise that takes longer than so many turns of the event loop waits for the clock: a call that failed pauses. */
const PATIENCE = 40;
const PAUSE_MS = 250;

/** Two endpoints of one chain that tell the same lies, or each its own. */
class LyingNodes {
  readonly #endpoints: readonly ReturnType<typeof oddEndpoint>[];
  readonly #slot: () => number;
  #lies: readonly ToldLie[] = [];

  constructor({ chain }: Pick<SwapFixture, "chain">) {
    this.#endpoints = ["first", "second"].map((name) => oddEndpoint(chain, name));
    this.#slot = () => chain.slot();
  }

  get options(): readonly ReturnType<typeof oddEndpoint>["option"][] {
    return this.#endpoints.map(({ option }) => option);
  }

  /** From now on these are told, and no others. */
  tell(lies: readonly ToldLie[]): void {
    this.#lies = lies;
    for (const [index, endpoint] of this.#endpoints.entries()) {
      const own = lies.filter(({ by }) => by === "all" || by === index);
      endpoint.rule = own.length === 0 ? undefined : rulesOf(own, this.#slot);
    }
  }

  /** Does something while no lie is told. */
  async honestly<T>(deed: () => Promise<T>): Promise<T> {
    const lies = this.#lies;
    this.tell([]);
    const result = await deed();
    this.tell(lies);
    return result;
  }
}

/** Call `close` when it was judged. */
export async function liveUnderLies({ orders: wanted, happenings }: LyingLife): Promise<LivedUnderLies> {
  const world = await swapFixture({
    options: { storage: memoryStorage(), random: seededRandom("a life") },
    desk: { prices: MARKET },
  });
  const { chain, clock } = world;
  const caller = await world.caller("enterprise");
  await world.service.stop();
  const nodes = new LyingNodes(world);
  const ledger = world.ledgerOf(nodes.options);
  const turning = new Turning(world);
  // A process does not start with nodes that lie about the mints; that is not what is tested here.
  const patient = (service: PaymentService): PaymentService => {
    turning.begin();
    return {
      ...service,
      start: () => nodes.honestly(() => turning.await(service.start())),
      settled: () => turning.await(service.settled()),
    };
  };
  const processes = await succession(
    {
      ...world,
      ledger,
      clock: { ...clock, set: (time) => clock.set(Math.max(time, clock.now())) },
      another: (options) => patient(world.another(options)),
    },
    world.storage,
  );
  const people = payers(world);
  const placing = new Placing(world, caller);
  const placed = wanted.map((words, index) => placing.prepare(words, index));
  chain.advance(35);
  const before = await photograph(chain);
  const orders: LivedOrder[] = [];
  for (const place of placed) orders.push(await place(processes.service()));

  const scene: Scene = { processes, caller, orders, turning, nodes, people, promised: placing.promised };
  for (const happening of happenings) await happen(happening, scene);
  nodes.tell([]);
  processes.liveOn();
  await comeToRest({ clock }, processes, orders);
  await rememberWords(processes.storage(), orders);
  const service = processes.service();
  return {
    world,
    caller,
    orders,
    payers: people.wallets,
    before,
    service,
    storage: processes.storage(),
    wasRestored: false,
    dearestByte: LAMPORTS_PER_BYTE,
    promised: placing.promised,
    async close() {
      await turning.await(service.stop());
      await ledger.close();
      await world.close();
    },
  };
}

interface Scene {
  readonly processes: Succession;
  readonly caller: Caller;
  readonly orders: readonly LivedOrder[];
  readonly turning: Turning;
  readonly nodes: LyingNodes;
  readonly people: Payers;
  readonly promised: ReadonlyMap<string, bigint>;
}

async function happen(happening: LyingHappening, scene: Scene): Promise<void> {
  const { processes, caller, turning } = scene;
  const order = "order" in happening ? scene.orders[happening.order] : undefined;
  switch (happening.does) {
    case "lie":
      scene.nodes.tell(happening.lies);
      return;
    case "deposit": {
      if (order === undefined) return;
      // What a swap gets back must not look like what it was promised.
      const isSwap = scene.promised.has(order.sender.address);
      return payIn(scene.people, order, isSwap ? { ...happening, asset: 0 } : happening);
    }
    case "cancel":
      return processes.during((service) =>
        turning.await(service.cancelTransaction(caller, order?.id ?? "")).catch(ignoreRefusal),
      );
    case "pass":
      await processes.slots(Math.min(Math.ceil(happening.minutes * SLOTS_PER_MINUTE), MAX_SLOTS));
      return processes.pass(happening.minutes);
    case "slots":
      return processes.slots(happening.count);
    case "die":
      processes.dieAt(happening);
  }
}

/** A cancellation may be refused, and the nodes may tell nothing that it could go by. */
function ignoreRefusal(error: unknown): void {
  const isExpected =
    error instanceof PaymentError || (error instanceof Error && error.name === "LedgerUnavailable");
  if (!isExpected) throw error;
}

/** Orders of a life: those who take part are there before anything happens. */
class Placing {
  readonly promised = new Map<string, bigint>();
  readonly #world: SwapFixture;
  readonly #caller: Caller;

  constructor(world: SwapFixture, caller: Caller) {
    this.#world = world;
    this.#caller = caller;
  }

  prepare(
    words: LyingLife["orders"][number],
    index: number,
  ): (service: PaymentService) => Promise<LivedOrder> {
    if (words !== "swap") {
      const parties = partiesOf(this.#world, words, index);
      return (service) => placeOrder(this.#world, service, this.#caller, parties);
    }
    const parties = partiesOf(this.#world, { asset: "SOL", payees: [], sender: "open" }, index);
    return async (service) => {
      const { address } = parties.sender;
      const { body: quote } = await service.createQuote(this.#caller, {
        inputAsset: "SOL",
        outputAsset: "USDC",
        amount: SWAPPED,
        mode: "private",
        sender: address,
      });
      const { body } = await service.createTransaction(this.#caller, {
        type: "swap",
        mode: "private",
        quoteId: quote.quoteId,
        sender: address,
        recipients: [{ address, amount: quote.outputAmount }],
      });
      this.promised.set(address, units(quote.outputAmount, 6));
      return {
        ...parties,
        ...orderedAs(body as CreatedOrderBody),
        fee: units(quote.fee, 9),
        sent: { SOL: 0n, USDC: 0n, USDT: 0n },
        markerWords: new Set(),
        isRefused: false,
      };
    };
  }
}

/** Waits for what a process does, and turns the clock whenever it seems to wait for that. What a dead process was at never ends. */
class Turning {
  readonly #clock: SwapFixture["clock"];
  #processes = 0;

  constructor({ clock }: Pick<SwapFixture, "clock">) {
    this.#clock = clock;
  }

  /** There is a new process: nobody waits for what those before it were at. */
  begin(): void {
    this.#processes++;
  }

  async await<T>(ending: Promise<T>): Promise<T> {
    const process = this.#processes;
    let isOver = false;
    const ended = ending.finally(() => (isOver = true));
    ended.catch(() => undefined);
    for (let turn = 1; !isOver && process === this.#processes; turn++) {
      if (turn % PATIENCE === 0) this.#clock.advance(PAUSE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return ended;
  }
}
