/** The demo: plays the acts it is asked for, or all of them. */
import assert from "node:assert/strict";
import { creditCheck } from "./acts/engine.ts";
import { send } from "./acts/send.ts";
import { payPrivately } from "./acts/private.ts";
import { payroll } from "./acts/payroll.ts";
import { swap } from "./acts/swap.ts";
import { runWithCleanUp } from "./clean-up.ts";
import { note, title } from "./screen.ts";
import { setStage, type Stage } from "./stage.ts";

/** Those that are played when none is named, in their order. */
const PAYMENTS: ReadonlyMap<string, (stage: Stage) => Promise<void>> = new Map([
  ["send", send],
  ["private", payPrivately],
  ["payroll", payroll],
  ["swap", swap],
]);

const ALL = [...PAYMENTS.keys(), "engine"];

async function demo(): Promise<void> {
  const { payments, isEngine } = chooseActs(process.argv.slice(2));
  if (isEngine) await creditCheck();
  if (payments.length > 0) {
    const stage = await setStage();
    for (const act of payments) await act(stage);
    title("Each payment was made once, and every notice was delivered and verified.");
  }
  note(`One act alone: npm run demo -- ${ALL.join(" | ")}`);
}

interface Choice {
  readonly payments: readonly ((stage: Stage) => Promise<void>)[];
  /** Whether the act that needs no stage is played. */
  readonly isEngine: boolean;
}

function chooseActs(names: readonly string[]): Choice {
  if (names.length === 0) return { payments: [...PAYMENTS.values()], isEngine: false };
  // A payroll that has been played has frozen an account.
  const chosen = [...new Set(names)];
  const wrong = chosen.find((name) => !ALL.includes(name));
  if (wrong !== undefined) assert.fail(`there is no act "${wrong}": choose from ${ALL.join(", ")}`);
  return {
    payments: chosen.flatMap((name) => PAYMENTS.get(name) ?? []),
    isEngine: chosen.includes("engine"),
  };
}

await runWithCleanUp(demo);
