/** Two endpoints that fail in any order, forks in between: what was pronounced dead never lands, and all ends are found. */
import { fatesOf, type AttemptFate } from "../kit/fates.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EndpointFault, LedgerWorld } from "../contracts/ledger.ts";
import { finalizeHeight, readyBetweenStrangers, type Ready } from "../contracts/ledger/payments.ts";
import { solanaWorld } from "../kit/solana-world.ts";
import { EXPLORING_MS, runsOf } from "../kit/thorough.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

type Index = 0 | 1;
type Step =
  | { readonly does: "break"; readonly index: Index; readonly fault: EndpointFault }
  | { readonly does: "mend"; readonly index: Index }
  | { readonly does: "sign" }
  | { readonly does: "broadcast"; readonly attempt: number }
  | { readonly does: "wait for the last block"; readonly attempt: number }
  | { readonly does: "pass"; readonly blocks: number }
  | { readonly does: "fork"; readonly blocks: number };

// Both at once, and the proof itself would be a lie: of an endpoint that forgets, only one is assumed.
const ON_BOTH: readonly EndpointFault[] = [
  "silent",
  "refusing",
  "busy",
  "slow",
  "losing_answers",
  "dropping",
  "lagging",
  "duplicating",
];

const index = fc.constantFrom<Index>(0, 1);
const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ does: fc.constant("break" as const), index, fault: fc.constantFrom(...ON_BOTH) }),
  fc.record({
    does: fc.constant("break" as const),
    index: fc.constant<Index>(0),
    fault: fc.constant<EndpointFault>("forgetful"),
  }),
  fc.record({ does: fc.constant("mend" as const), index }),
  fc.record({ does: fc.constant("sign" as const) }),
  fc.record({ does: fc.constant("broadcast" as const), attempt: fc.nat(9) }),
  fc.record({ does: fc.constant("broadcast" as const), attempt: fc.nat(9) }),
  fc.record({ does: fc.constant("wait for the last block" as const), attempt: fc.nat(9) }),
  fc.record({ does: fc.constant("pass" as const), blocks: fc.oneof(fc.nat(8), fc.nat(90)) }),
  fc.record({ does: fc.constant("fork" as const), blocks: fc.integer({ min: 1, max: 6 }) }),
);

/** The attempts of one run, and what was said of them for good. */
interface Run {
  readonly world: LedgerWorld;
  readonly attempts: Ready[];
  readonly verdicts: Map<string, Set<AttemptFate>>;
  readonly mends: Map<Index, () => void>;
}

async function take({ world, attempts, mends }: Run, each: Step): Promise<void> {
  switch (each.does) {
    case "break":
      mends.set(each.index, world.breakEndpoint(each.index, each.fault));
      return;
    case "mend":
      mends.get(each.index)?.();
      return;
    case "sign":
      // Whoever cannot be asked cannot be paid through; the run goes on with what there is.
      attempts.push(
        ...(await readyBetweenStrangers(world).then(
          (attempt) => [attempt],
          () => [],
        )),
      );
      return;
    case "broadcast": {
      const attempt = attempts[each.attempt];
      if (attempt === undefined) return;
      await world.wait(world.ledger.broadcast(attempt.bytes).catch(() => undefined));
      return;
    }
    case "wait for the last block": {
      const blocks = (attempts[each.attempt]?.lastValidBlockHeight ?? 0) + 1 - world.height();
      if (blocks > 0) await world.pass(blocks);
      return;
    }
    case "pass":
      if (each.blocks > 0) await world.pass(each.blocks);
      return;
    case "fork":
      await world.fork(each.blocks);
  }
}

/** Notes every verdict. The first one is for good, whatever the endpoints were like when it was given. */
async function judge({ world, attempts, verdicts }: Run): Promise<void> {
  if (attempts.length === 0) return;
  const fates = await world.wait(fatesOf(world.ledger, attempts));
  for (const [at, { signature }] of attempts.entries()) {
    const told = verdicts.get(signature) ?? new Set();
    const fate = fates[at] ?? "open";
    const isForGood = fate === "dead" || fate === "landed";
    verdicts.set(signature, isForGood ? told.add(fate) : told);
  }
}

test(
  "E7, E9, E10: in any run of outages, lies and forks nothing dead ever lands, and every end is found",
  async () => {
    const ends = new Set<AttemptFate>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const world = await solanaWorld("in process");
        const run: Run = { world, attempts: [], verdicts: new Map(), mends: new Map() };
        run.attempts.push(await readyBetweenStrangers(world));
        for (const each of steps) {
          await take(run, each);
          await judge(run);
        }
        for (const mend of run.mends.values()) mend();
        await world.elapse(60_000);
        // Whoever still has the bytes sends them once more: the dead must not rise.
        await Promise.all(
          run.attempts.map(({ bytes }) => world.wait(world.ledger.broadcast(bytes)).catch(() => undefined)),
        );
        const last = Math.max(...run.attempts.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
        await finalizeHeight(world, Math.max(last, world.height()) + 1);
        await judge(run);
        for (const told of run.verdicts.values()) {
          // Never both, and in the end one of them.
          expect(told.size).toBe(1);
          for (const end of told) ends.add(end);
        }
        await world.destroy();
      }),
      // One that is still alive when it is sent at last, and one that nobody sent in time.
      {
        numRuns: runsOf(15),
        plugins: [withinBudget({ least: 3 })],
        examples: [[[{ does: "pass", blocks: 8 }]], [[{ does: "pass", blocks: 200 }]]],
      },
    );
    expect([...ends].toSorted()).toEqual(["dead", "landed"]);
  },
  EXPLORING_MS,
);
