/** M3, E12 and what belongs to them as properties: random lives, and everybody's books at the end of them. */
// modules: private
import fc from "fast-check";
import { expect, test } from "vitest";
import { repeatedRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { brokenAccounts } from "./accounts-of-everybody.ts";
import { liveThrough } from "./live-through.ts";
import {
  anyHonestLife,
  anyLifeUnderLiars,
  anyLifeUnderOneLiar,
  type Happening,
  type Life,
} from "./random-life.ts";
import { withinBudget } from "../../kit/exploration-budget.ts";

/** What a life has to have in it to count as one with it, and how many lives had. */
const DRAWN: Readonly<Record<string, (happening: Happening, index: number) => boolean>> = {
  "restored copies": ({ does }) => does === "restore",
  "two live copies": ({ does }) => does === "copy",
  "thawed memory": ({ does }) => does === "resume",
  "clock jumps": ({ does }) => does === "clock",
  dust: (each) => each.does === "stranger" && each.act.does === "give dust",
  sweeping: (each) => each.does === "theft" && each.act.does === "sweep",
  forging: (each) => each.does === "theft" && each.act.does === "forge",
  "frozen payees": (each) => each.does === "freeze" && each.payee !== "sender",
  "operators' acts": (each) => each.does === "operator" && "order" in each.act,
  "late money": ({ does }, index) => does === "deposit" && index > 4,
  kills: ({ does }) => does === "die",
};
/** A generator that draws something in fewer of a thousand lives hardly draws it. */
const LEAST = 50;
const drawn = new Map(Object.keys(DRAWN).map((name) => [name, 0]));

function count({ happenings }: Life): void {
  for (const [name, isIt] of Object.entries(DRAWN)) {
    if (happenings.some(isIt)) drawn.set(name, (drawn.get(name) ?? 0) + 1);
  }
}

async function brokenIn(life: Life): Promise<readonly string[]> {
  const lived = await liveThrough(life);
  try {
    return await brokenAccounts(lived);
  } finally {
    await lived.close();
  }
}

const KINDS = [
  {
    name: "E12, C13: when nobody lies, with crashes, restored copies, strangers and hasty operators, every base unit is where it belongs, every status is true, and missing is told of nothing that no other copy and no thief has moved",
    lives: anyHonestLife,
    runs: { quick: 1, ci: 6, long: 1_000 },
  },
  {
    name: "M3: when one of two or three endpoints lies about anything, nobody is paid twice, every status is true, and no order waits for a person because of a stranger",
    lives: anyLifeUnderOneLiar,
    runs: { quick: 1, ci: 16, long: 1_000 },
  },
  {
    name: "M3: when all endpoints lie together, no payee has more than its amount, and the reconciliation says afterwards what is told wrong",
    lives: anyLifeUnderLiars,
    runs: { quick: 1, ci: 6, long: 200 },
  },
] as const;

test.each(KINDS.map((kind) => [kind.name, kind] as const))(
  "%s",
  { timeout: EXPLORING_MS },
  async (_, { lives, runs }) => {
    const unbroken = fc.asyncProperty(lives, async (life) => {
      count(life);
      expect(await brokenIn(life)).toEqual([]);
    });
    await fc.assert(unbroken, {
      numRuns: byDepth(runs),
      endOnFailure: true,
      ...repeatedRun(),
      plugins: [withinBudget()],
    });
  },
);

test("what lives are drawn with is counted, and each of it comes in enough of them", () => {
  process.stdout.write(`lives with ${[...drawn].map(([name, lives]) => `${name}: ${lives}`).join(", ")}\n`);
  const least = THOROUGH ? LEAST : 0;
  expect([...drawn].filter(([, lives]) => lives < least)).toEqual([]);
});
