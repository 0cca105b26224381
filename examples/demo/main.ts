/** The demo: plays the acts it is asked for, or all of them. */
import assert from "node:assert/strict";
import { runWithCleanUp } from "./clean-up.ts";
import type { WantedDatabase } from "./database.ts";
import { note, title } from "./screen.ts";
import type { Stage } from "./stage.ts";

type Act = (stage: Stage) => Promise<void>;

/** Those that are played when none is named, in their order. What an act needs is loaded when it is played: a refusal waits for nothing. */
const PAYMENTS: ReadonlyMap<string, () => Promise<Act>> = new Map([
  ["send", async () => (await import("./acts/send.ts")).send],
  ["private", async () => (await import("./acts/private.ts")).payPrivately],
  ["payroll", async () => (await import("./acts/payroll.ts")).payroll],
  ["swap", async () => (await import("./acts/swap.ts")).swap],
]);

const ALL = [...PAYMENTS.keys(), "engine"];

async function demo(): Promise<void> {
  const { payments, isEngine, database } = choose(process.argv.slice(2));
  if (isEngine) {
    const { creditCheck } = await import("./acts/engine.ts");
    await creditCheck();
  }
  if (payments.length > 0) {
    const { setStage } = await import("./stage.ts");
    const stage = await setStage(database);
    for (const load of payments) {
      const play = await load();
      await play(stage);
    }
    title("Each payment was made once, and every notice was delivered and verified.");
  }
  note(`One act alone: npm run demo -- ${ALL.join(" | ")}`);
}

interface Choice {
  readonly payments: readonly (() => Promise<Act>)[];
  /** Whether the act that needs no stage is played. */
  readonly isEngine: boolean;
  /** What the service of the payments works on. */
  readonly database: WantedDatabase;
}

function choose(args: readonly string[]): Choice {
  const { names, database } = databaseIn(args);
  if (names.length === 0) return { payments: [...PAYMENTS.values()], isEngine: false, database };
  // A payroll that has been played has frozen an account.
  const chosen = [...new Set(names)];
  const wrong = chosen.find((name) => !ALL.includes(name));
  if (wrong !== undefined) assert.fail(`there is no act "${wrong}": choose from ${ALL.join(", ")}`);
  const isEngine = chosen.includes("engine");
  if (isEngine && database !== "file") {
    assert.fail("the act engine works on a file: play it without --postgres");
  }
  return {
    payments: chosen.flatMap((name) => PAYMENTS.get(name) ?? []),
    isEngine,
    database,
  };
}

/** Takes `--postgres`, with a URL behind it or without, out of the arguments. */
function databaseIn(
  args: readonly string[],
): Pick<Choice, "database"> & { readonly names: readonly string[] } {
  const at = args.indexOf("--postgres");
  if (at === -1) return { names: args, database: "file" };
  const before = args.slice(0, at);
  const [next, ...rest] = args.slice(at + 1);
  if (next?.includes("://") === true) return { names: [...before, ...rest], database: { url: next } };
  return { names: [...before, ...args.slice(at + 1)], database: "own server" };
}

await runWithCleanUp(demo);
