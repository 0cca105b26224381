/** M7, E17, C6: a restored backup works beside the original, on one order: no payee is paid twice, and both tell the same. */
// modules: private
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { repeatedRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS } from "../../kit/thorough.ts";
import { copiedWorld, type CopiedWorld } from "./live-copies.ts";
import { SOL } from "./scene.ts";
import { withinBudget } from "../../kit/exploration-budget.ts";

let world: CopiedWorld;
afterEach(() => world.close());

type Amounts = readonly [bigint, bigint, bigint];

/** What is ordered, and how it ends. */
interface Story {
  readonly name: string;
  readonly place: (sender: Wallet) => Promise<Placed>;
  /** So many minutes until all is paid and has gone back. */
  readonly minutes: number;
  /** Of its commits from the deposit on, about so many are made before it rests. */
  readonly commits: number;
  readonly ends: "completed" | "failed";
}

interface Placed {
  readonly body: CreatedOrderBody;
  readonly asset: "SOL" | "USDC";
  /** How much more than is asked for is deposited, in base units. */
  readonly excess: bigint;
  /** What each may get, in base units. */
  readonly payees: readonly {
    readonly wallet: Wallet;
    readonly least: bigint;
    readonly most: bigint;
  }[];
}

/** Each of so many payees gets 3 USDC; one of them may have a frozen account. */
async function orderTokens(sender: Wallet, count: number, frozen?: number): Promise<Placed> {
  const payees = Array.from({ length: count }, (_, index) => ({
    wallet: world.wallet(`payee ${index}`, { lamports: SOL, usdc: 1n }),
    ...(index === frozen ? { least: 0n, most: 0n } : { least: 3_000_000n, most: 3_000_000n }),
  }));
  const to = payees.map(({ wallet: { address } }) => ({ address, amount: "3" }));
  const { body } = await world.order(await world.caller(), { sender, to });
  for (const { wallet, most } of payees) if (most === 0n) await world.freeze(wallet, "USDC");
  return { body, payees, asset: "USDC", excess: 4_000_000n };
}

const STORIES: readonly Story[] = [
  {
    name: "a send and the refund of its excess",
    place: (sender) => orderTokens(sender, 1),
    minutes: 14,
    commits: 40,
    ends: "completed" as const,
  },
  {
    name: "a payroll of two chunks, of which one leaves a payee out, and the refund of the rest",
    place: (sender) => orderTokens(sender, 8, 2),
    minutes: 20,
    commits: 90,
    ends: "failed" as const,
  },
  {
    name: "a swap and the refund of its excess",
    async place(sender) {
      const { body } = await world.orderSwap(await world.caller(), {
        sender,
        give: "SOL",
        get: "USDC",
        amount: "0.2",
        slippageBps: 500,
      });
      // What it may get at the better of the two prices, without the desk's share.
      const payees = [{ wallet: sender, least: 1n, most: 30_000_000n }];
      return { body, payees, asset: "SOL", excess: SOL / 10n };
    },
    minutes: 14,
    commits: 40,
    ends: "completed" as const,
  },
];

/** When the copy is taken, and who of the two leads in which minute. */
const splits = ({ minutes, commits }: Story) =>
  fc.record({
    commit: fc.integer({ min: 1, max: commits }),
    leads: fc.array(fc.constantFrom<(0 | 1)[]>(0, 1), { minLength: minutes, maxLength: minutes }),
  });

test.each(STORIES)(
  "M7, E17: two live copies of one database, with $name: each payee is paid once, and every base unit is where it belongs",
  { timeout: EXPLORING_MS },
  async (story) => {
    let worlds = 0;
    await fc.assert(
      fc.asyncProperty(splits(story), async ({ commit, leads }) => {
        if (worlds++ > 0) await world.close();
        world = await copiedWorld();
        const alice = world.wallet("alice", { lamports: SOL, usdc: 1n });
        world.chain.advance(35);
        const { body, asset, excess, payees } = await story.place(alice);
        world.chain.advance(35);
        const due = units(body.depositAmount, asset === "SOL" ? 9 : 6) + excess;
        const everybody = [
          alice,
          world.treasury,
          world.sponsor,
          { address: world.desk },
          ...payees.map(({ wallet }) => wallet),
        ];
        const before = await heldBy(everybody);
        world.dieAt(commit);
        await world.during(async () => {
          await world.deposit(body.ephemeralAddress, asset === "SOL" ? { lamports: due } : { usdc: due });
          await world.settle(10);
        });
        const { copies, pass } = await world.split();
        await pass(leads);

        const gains = difference(await heldBy(everybody), before);
        const gainOf = (address: string): bigint => gains.get(address)?.[1] ?? 0n;
        for (const { wallet, least, most } of payees) {
          const got = gainOf(wallet.address);
          expect({ got, isRight: got >= least && got <= most }).toEqual({ got, isRight: true });
        }
        // What came is with those people, or still at the address; a swap takes from the desk what it gives.
        const [, left] = await world.held(body.ephemeralAddress);
        const sum = [...gains.values()].reduce((total, [, usdc]) => total + usdc, 0n);
        expect(sum + left).toBe(asset === "USDC" ? due : 0n);
        for (const { storage } of copies) {
          // Whoever made a marker, both adopt it.
          const { transaction } = (await storage.transaction(body.transactionId)) ?? {};
          expect(transaction?.status).toBe(story.ends);
        }
      }),
      {
        numRuns: byDepth({ quick: 1, ci: 2, long: 80 }),
        endOnFailure: true,
        ...repeatedRun(),
        plugins: [withinBudget()],
      },
    );
  },
);

type Held = ReadonlyMap<string, Amounts>;

async function heldBy(wallets: readonly { readonly address: string }[]): Promise<Held> {
  const addresses = [...new Set(wallets.map(({ address }) => address))];
  return new Map(
    await Promise.all(addresses.map(async (address) => [address, await world.held(address)] as const)),
  );
}

function difference(after: Held, before: Held): Held {
  return new Map(
    [...after].map(([address, held]) => {
      const had = before.get(address) ?? [0n, 0n, 0n];
      return [address, [held[0] - had[0], held[1] - had[1], held[2] - had[2]] as const];
    }),
  );
}
