/** Processes of a service, one after another: each dies or stands still when it is told to, and the next goes on. Some work beside it, on copies. */
// modules: private
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import { mortalProcess, type MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { MINUTE, SOL } from "./scene.ts";

interface Running {
  readonly process: MortalProcess;
  readonly service: PaymentService;
  /** Its death, which is decided while it lives. */
  readonly death: { call: number; moment: "before" | "after" };
  /** The database that it works on; another one once the machine that it stood still on goes on. */
  readonly database: { storage: PaymentStorage };
}

const LEASE_MS = 15_000;
/** Longer than this is slept through: nobody looks at each moment at which something is due. */
const MAX_MINUTES_AWAKE = 60;
/**
 * What falls due between two looks of the service is worked off at the second. Each time that anything is, everything is looked
 * at: if that were done for each retry of what fails, there would be more looks than nodes are ever asked for, which would find
 * more to retry.
 */
const LOOK_MS = 2_000;
const NEVER = { call: Infinity, moment: "before" } as const;

/** Time and slots pass on the world's clock and chain, whatever happens to processes. */
export class Succession {
  readonly #world: PrivateFixture;
  #storage: PaymentStorage;
  #running: Running;
  #deaths = 0;
  /** So many milliseconds the machines' clock is ahead of the chain's. */
  #skew = 0;
  /** Resolves once the process that is alive stands still; null while it is not to. */
  #stop: Promise<void> | null = null;
  #still: Running | null = null;
  #beside: Running[] = [];

  private constructor(world: PrivateFixture, first: PaymentStorage) {
    this.#world = world;
    this.#storage = first;
    this.#running = this.#open({ ...NEVER }, first);
  }

  /** The first process is started. */
  static async begin(world: PrivateFixture, first: PaymentStorage): Promise<Succession> {
    const begun = new Succession(world, first);
    await begun.#running.service.start();
    return begun;
  }

  /** The service that is alive, and the database that it works on. */
  service(): PaymentService {
    return this.#running.service;
  }

  storage(): PaymentStorage {
    return this.#storage;
  }

  /** Has the service do something; when its process dies over it the next one stands ready, and the rest is not done. */
  async during(deed: (service: PaymentService) => Promise<unknown>): Promise<void> {
    const { process, service } = this.#running;
    const stop = this.#stop ?? new Promise<never>(() => {});
    await Promise.race([process.awaits(deed(service)), process.died, stop.then(() => this.#setAside())]);
    if (process.isDead() || this.#still?.process === process) await this.#succeed();
  }

  /** So many slots pass at once. */
  async slots(count: number): Promise<void> {
    this.#world.chain.advance(count);
    // What one does may be news to the one that was asked before it.
    await this.#settle();
    if (this.#beside.length > 0) await this.#settle();
  }

  /** So much time passes, and slots until what has landed in it is final. */
  async pass(minutes: number): Promise<void> {
    const { clock } = this.#world;
    if (minutes > MAX_MINUTES_AWAKE) clock.advance(minutes * MINUTE);
    else {
      const until = clock.now() + minutes * MINUTE;
      // A process that ends over it is followed by one that lives through the rest.
      for (let processes = 0; processes < 3 && clock.now() < until; processes++) await this.#passTo(until);
      clock.set(until);
    }
    await this.slots(35);
    await this.slots(35);
  }

  /** The process dies at this call from now on, and each of the next ones at the same call from its start: `deaths` in all. */
  dieAt({
    call,
    moment,
    deaths,
  }: {
    readonly call: number;
    readonly moment: "before" | "after";
    readonly deaths: number;
  }): void {
    Object.assign(this.#running.death, { call: this.#running.process.calls.length + call, moment });
    this.#deaths = deaths;
  }

  /** The process stands still when it signs the next time, and its successor goes on with the database. */
  standStill(): void {
    if (this.#still === null) this.#stop = this.#running.process.standStillAt("sign");
  }

  /** The one that stands still goes on beside the others, with `storage` as its database; false for none. */
  goOn(storage: PaymentStorage): boolean {
    if (this.#still === null) return false;
    this.#still.database.storage = storage;
    this.#still.process.goOn();
    this.#beside.push(this.#still);
    this.#still = null;
    return true;
  }

  /** Another process begins beside those that are alive. */
  async begin(storage: PaymentStorage): Promise<void> {
    const another = this.#open({ ...NEVER }, storage);
    this.#beside.push(another);
    await Promise.race([another.process.awaits(another.service.start()), another.process.died]);
  }

  /** The machines' clock is so many minutes ahead of the chain's from now on. */
  turnClock(minutes: number): void {
    this.#skew = minutes * MINUTE;
  }

  endBeside(): void {
    for (const { process } of this.#beside) process.kill();
    this.#beside = [];
  }

  /** Nobody dies or stands still any more, and one process is left. */
  liveOn(): void {
    this.#running.death.call = Infinity;
    this.#deaths = 0;
    this.#stop = null;
    this.#running.process.goOn();
    this.#still?.process.kill();
    this.#still = null;
    this.#skew = 0;
    this.endBeside();
  }

  /** The process is killed, and the next one begins with another database. */
  async goOnWith(storage: PaymentStorage): Promise<void> {
    this.#running.process.kill();
    this.#storage = storage;
    this.#deaths = 0;
    await this.#succeed();
  }

  #open(death: Running["death"], storage: PaymentStorage): Running {
    const { ledger, clock, mints, sponsor, treasury } = this.#world;
    const prices = fixedPrices({ [SOL_MINT]: SOL, [mints.USDC]: 150_000_000n, [mints.USDT]: 150_000_000n });
    const process = mortalProcess(death);
    const database = { storage };
    const turned = { ...clock, now: () => clock.now() + this.#skew };
    const service = this.#world.another({
      storage: process.within(forwarding(database)),
      ledger: process.within(ledger),
      clock: process.timedBy(turned),
      privateRouting: {
        sponsor: process.within(keypairSigner(sponsor.secretKey)),
        treasury: treasury.address,
        prices,
      },
      leaseMs: LEASE_MS,
    });
    return { process, service, death, database };
  }

  #setAside(): void {
    this.#still = this.#running;
    this.#stop = null;
  }

  async #succeed(): Promise<void> {
    this.#stop = null;
    do {
      // Nobody may do the work of the dead before their leases run out.
      this.#world.clock.advance(LEASE_MS);
      this.#deaths = Math.max(0, this.#deaths - 1);
      const { call, moment } = this.#running.death;
      this.#running = this.#open({ call: this.#deaths > 0 ? call : Infinity, moment }, this.#storage);
      const { process, service } = this.#running;
      await Promise.race([process.awaits(service.start()), process.died]);
    } while (this.#running.process.isDead());
  }

  #settle(): Promise<void> {
    const main = this.#running;
    return this.during(() => this.#settled(main));
  }

  /** Never resolves once the main process has ended: whoever waited for it ended with it. */
  async #settled(main: Running): Promise<void> {
    await main.process.awaits(main.service.settled());
    for (const { process, service } of this.#beside) {
      await Promise.race([process.awaits(service.settled()), process.died]);
    }
    if (this.#running !== main || this.#still === main) await new Promise<never>(() => {});
  }

  #passTo(until: number): Promise<void> {
    const main = this.#running;
    const { clock } = this.#world;
    const nextDue = async (): Promise<number | null> => {
      const due = await Promise.all([main, ...this.#beside].map(nextDueOf));
      const times = due.filter((each) => each !== null);
      return times.length === 0 ? null : Math.max(Math.min(...times) - this.#skew, clock.now() + LOOK_MS);
    };
    const engine = { settled: () => this.#settled(main) };
    return this.during(() => passTime({ clock, engine, storage: { nextDue }, workflows: [] }, until));
  }
}

function nextDueOf({ service, database }: Running): Promise<number | null> {
  return database.storage.nextDue(service.workflows.flatMap(({ claims }) => claims));
}

/** The storage that is there at the moment of each call. */
export function forwarding(database: { storage: PaymentStorage }): PaymentStorage {
  return new Proxy({} as PaymentStorage, {
    get: (_, name) => Reflect.get(database.storage, name) as unknown,
    has: (_, name) => Reflect.has(database.storage, name),
    ownKeys: () => Reflect.ownKeys(database.storage),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(database.storage, name),
      configurable: true,
    }),
  });
}
