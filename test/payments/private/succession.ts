/** One process of a service after another on one chain: each dies when it is told to, and the next goes on. */
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { SOL_MINT } from "../../../src/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { fixedPrices } from "../../../src/payments/prices/prices.ts";
import { mortalProcess, type MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { MINUTE, SOL } from "./scene.ts";

/** Whatever happens to processes. Time and slots pass on the world's clock and chain. */
export interface Succession {
  /** The service that is alive, and the database it works on. */
  service(): PaymentService;
  storage(): PaymentStorage;
  /** Has the service do something; when its process dies over it the next one stands ready, and the rest is not done. */
  during(deed: (service: PaymentService) => Promise<unknown>): Promise<void>;
  /** So many slots pass at once. */
  slots(count: number): Promise<void>;
  /** So much time passes, and slots until what has landed in it is final. */
  pass(minutes: number): Promise<void>;
  /** The process dies at this call from now on, and each of the next ones at the same call from its start: `deaths` in all. */
  dieAt(death: { readonly call: number; readonly moment: "before" | "after"; readonly deaths: number }): void;
  /** Nobody dies any more. */
  liveOn(): void;
  /** The process is killed, and the next one begins with another database. */
  goOnWith(storage: PaymentStorage): Promise<void>;
}

interface Running {
  readonly process: MortalProcess;
  readonly service: PaymentService;
  /** Its death, which is decided while it lives. */
  readonly death: { call: number; moment: "before" | "after" };
}

const LEASE_MS = 15_000;
/** Longer than this is slept through: nobody looks at each moment at which something is due. */
const MAX_MINUTES_AWAKE = 60;

/** The first of them is started. */
export async function succession(world: PrivateFixture, first: PaymentStorage): Promise<Succession> {
  const { chain, clock, ledger, mints } = world;
  const prices = fixedPrices({ [SOL_MINT]: SOL, [mints.USDC]: 150_000_000n, [mints.USDT]: 150_000_000n });
  let storage = first;
  let deaths = 0;

  const open = (death: Running["death"]): Running => {
    const process = mortalProcess(death);
    const sponsor = process.within(keypairSigner(world.sponsor.secretKey));
    const service = world.another({
      storage: process.within(storage),
      ledger: process.within(ledger),
      clock: process.timedBy(clock),
      privateRouting: { sponsor, treasury: world.treasury.address, prices },
      leaseMs: LEASE_MS,
    });
    return { process, service, death };
  };
  let running = open({ call: Infinity, moment: "before" });
  await running.service.start();

  const succeed = async (): Promise<void> => {
    do {
      // Nobody may do the work of the dead before their leases run out.
      clock.advance(LEASE_MS);
      deaths = Math.max(0, deaths - 1);
      const { call, moment } = running.death;
      running = open({ call: deaths > 0 ? call : Infinity, moment });
      await Promise.race([running.process.awaits(running.service.start()), running.process.died]);
    } while (running.process.isDead());
  };

  const within = async (deed: (running: Running) => Promise<unknown>): Promise<void> => {
    const { process } = running;
    await Promise.race([process.awaits(deed(running)), process.died]);
    if (process.isDead()) await succeed();
  };

  const slots = (count: number): Promise<void> =>
    within(({ process, service }) => {
      chain.advance(count);
      return process.awaits(service.settled());
    });

  return {
    service: () => running.service,
    storage: () => storage,
    during: (deed) => within(({ service }) => deed(service)),
    slots,
    async pass(minutes) {
      if (minutes > MAX_MINUTES_AWAKE) clock.advance(minutes * MINUTE);
      else {
        await within(({ process, service }) => {
          const settled = (): Promise<void> => process.awaits(service.settled());
          const keys = service.workflows.flatMap(({ claims }) => claims);
          const nextDue = (): Promise<number | null> => process.awaits(storage.nextDue(keys));
          const engine = { clock, engine: { settled }, storage: { nextDue }, workflows: [] };
          return passTime(engine, clock.now() + minutes * MINUTE);
        });
      }
      await slots(35);
      await slots(35);
    },
    dieAt({ call, moment, deaths: all }) {
      Object.assign(running.death, { call: running.process.calls.length + call, moment });
      deaths = all;
    },
    liveOn() {
      running.death.call = Infinity;
      deaths = 0;
    },
    async goOnWith(other) {
      running.process.kill();
      storage = other;
      deaths = 0;
      await succeed();
    },
  };
}
