/** What time it is on the chain, as the looks at its endpoints tell: not by one that differs, and not by a look of before a sleep. */
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Clock } from "../../src/core/runtime.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { elapsed, endAt, result, scriptedNode, turns } from "./scripted-node.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const HOUR_MS = 3_600_000;
const SURVEY_MS = 5_000;

interface Told {
  readonly ledger: Ledger;
  /** The true time. */
  now(): number;
  /** Nothing of the machine goes on but its clock. */
  sleeps(ms: number): void;
  /** Lets all be looked at. The liar tells other blocks. */
  look(): Promise<void>;
}

/** One of these endpoints may be believed alone; the first of several is ahead by so many slots, and by this time. */
function told(count: number, lie: { readonly slots: number; readonly ms: number }): Told {
  const clock = virtualClock();
  let slept = 0;
  const own: Clock = { now: clock.now, elapsed: () => clock.now() - slept, sleep: clock.sleep };
  const nodes = Array.from({ length: count }, () =>
    scriptedNode(result({ context: { slot: 7 }, value: [null] })),
  );
  const endpoints = nodes.map(({ fetch }, index) => ({ url: `http://node${index}.example`, fetch }));
  const ledger = solanaLedger({ endpoints, clock: own, witnesses: 1 });
  let slot = 1_000;
  return {
    ledger,
    now: clock.now,
    sleeps(ms) {
      slept += ms;
      clock.advance(ms);
    },
    async look() {
      clock.advance(SURVEY_MS * 7);
      slot += 10;
      nodes.forEach((node, index) => {
        const { slots, ms } = index === 0 ? lie : { slots: 0, ms: 0 };
        node.look = endAt(slot + slots, clock.now() + ms);
      });
      await elapsed(
        clock,
        ledger.mints([OWNER]).catch(() => {}),
      );
      await turns();
    },
  };
}

test("D35: one endpoint that seems ahead of all others does not tell the time alone", async () => {
  const { ledger, look } = told(3, { slots: 1_000, ms: HOUR_MS });
  for (let looks = 0; looks < 3; looks += 1) await look();
  expect(await ledger.time()).toBeNull();
});

test("D35: behind a sleep of the machine the time is not known, until two looks agree", async () => {
  const { ledger, look, sleeps, now } = told(1, { slots: 0, ms: 0 });
  for (let looks = 0; looks < 3; looks += 1) await look();
  expect(await ledger.time()).toBe(now());
  sleeps(8 * HOUR_MS);
  await look();
  expect(await ledger.time()).toBeNull();
  await look();
  expect(await ledger.time()).toBe(now());
});
