/** A service that dies at one of its commits, and goes on as two processes at once, each on its own copy of the database. */
// modules: private
import { SOL_MINT } from "../../../src/core/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import { deskProvider } from "../../../src/payments/swap/desk/desk-provider.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { mortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { keepCopies, restore } from "./kept-copies.ts";
import { MINUTE, SOL } from "./scene.ts";

/** A process at work on its copy. */
export interface LiveCopy {
  readonly service: PaymentService;
  readonly storage: PaymentStorage;
}

/** A world whose first process dies as it is told. Its own `service` and `storage` answer only while that lives. */
export interface CopiedWorld extends SwapFixture {
  /** Does something with the first process, for as long as that lives. */
  readonly during: (deed: () => Promise<unknown>) => Promise<void>;
  /** The first process dies at its commit of this number, counted from now on. */
  readonly dieAt: (commit: number) => void;
  /** Kills it if it still lives, and starts a process on each of two copies of its database. */
  readonly split: () => Promise<TwoCopies>;
}

/** Two processes at work at once. */
export interface TwoCopies {
  readonly copies: readonly [LiveCopy, LiveCopy];
  /** For each of these, a minute passes; it says which of the two does its work first in this minute. */
  readonly pass: (leads: readonly (0 | 1)[]) => Promise<void>;
}

/** Longer than any lease that was copied along. */
const LEASE_OVER = 20_000;
/** The slots of a minute: a part of them, and twice as many as finality takes. */
const SLOTS_OF_MINUTE = [2, 35, 35] as const;
/** What one SOL is worth to each of the two, in dollars. */
const DOLLARS = [150n, 149n] as const;

/** SOL at so many dollars, and each of the two stablecoins at one. */
const solAt = (dollars: bigint): PriceSource => {
  const worth = (mint: string): bigint => (mint === SOL_MINT ? SOL : dollars * 1_000_000n);
  return { rate: async (give, get) => ({ give: worth(give), get: worth(get) }) };
};

/** Makes it. The two disagree about prices, so that each would withhold and swap other amounts. */
export async function copiedWorld(): Promise<CopiedWorld> {
  const kept = await keepCopies();
  const death = { method: "commit", nth: Infinity, moment: "after" as const };
  const first = mortalProcess(death);
  const world = await swapFixture({
    options: { storage: first.within(kept.storage) },
    desk: { prices: solAt(DOLLARS[0]) },
    ledgerOn: ({ ledger }) => first.within(ledger),
  });
  const living: LiveCopy[] = [];
  const open = async (dollars: bigint): Promise<LiveCopy> => {
    const storage = await restore(kept.copies.at(-1) ?? new Uint8Array());
    const prices = solAt(dollars);
    const desk = keypairSigner(world.deskWallet.secretKey);
    const service = world.another({
      storage,
      ledger: world.ledger,
      privateRouting: {
        sponsor: keypairSigner(world.sponsor.secretKey),
        treasury: world.treasury.address,
        prices,
      },
      swap: { provider: deskProvider({ desk, prices }) },
    });
    return { service, storage };
  };
  return {
    ...world,
    during: (deed) => Promise.race([first.awaits(deed()).then(() => undefined), first.died]),
    dieAt(commit) {
      death.nth = first.calls.filter((method) => method === "commit").length + commit;
    },
    async split() {
      first.kill();
      world.clock.advance(LEASE_OVER);
      const copies = [await open(DOLLARS[0]), await open(DOLLARS[1])] as const;
      living.push(...copies);
      await Promise.all(copies.map(({ service }) => service.start()));
      return { copies, pass: (leads) => passTogether(world, copies, leads) };
    },
    async close() {
      for (const { service, storage } of living) {
        await service.stop();
        await storage.close();
      }
      // The dead cannot be stopped.
      if (first.isDead()) await Promise.all([world.ledger.close(), world.chain.close()]);
      else await world.close();
    },
  };
}

async function passTogether(
  { chain, clock }: SwapFixture,
  copies: TwoCopies["copies"],
  leads: readonly (0 | 1)[],
): Promise<void> {
  for (const lead of leads) {
    const inTurn = [copies[lead], copies[1 - lead]].filter((copy) => copy !== undefined);
    const settled = async (): Promise<void> => {
      // What one does may be news to the one that was asked before it.
      for (const { service } of [...inTurn, ...inTurn]) await service.settled();
    };
    const nextDue = async (): Promise<number | null> => {
      const due = await Promise.all(
        copies.map(({ service, storage }) =>
          storage.nextDue(service.workflows.flatMap(({ claims }) => claims)),
        ),
      );
      const times = due.filter((time) => time !== null);
      return times.length === 0 ? null : Math.min(...times);
    };
    for (const slots of SLOTS_OF_MINUTE) {
      chain.advance(slots);
      await settled();
    }
    await passTime({ clock, engine: { settled }, storage: { nextDue }, workflows: [] }, clock.now() + MINUTE);
  }
}
