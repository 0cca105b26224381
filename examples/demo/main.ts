/** The demo: plays the acts it is asked for, or all of them. */
import assert from "node:assert/strict";
import { send } from "./acts/send.ts";
import { payPrivately } from "./acts/private.ts";
import { payroll } from "./acts/payroll.ts";
import { swap } from "./acts/swap.ts";
import { runWithCleanUp } from "./clean-up.ts";
import { note, title } from "./screen.ts";
import { setStage, type Stage } from "./stage.ts";

/** In the order in which they are played. */
const ACTS: ReadonlyMap<string, (stage: Stage) => Promise<void>> = new Map([
  ["send", send],
  ["private", payPrivately],
  ["payroll", payroll],
  ["swap", swap],
]);

async function demo(): Promise<void> {
  const acts = chooseActs(process.argv.slice(2));
  const stage = await setStage();
  for (const act of acts) await act(stage);
  title("Each payment was made once, and every notice was delivered and verified.");
  note(`One act alone: npm run demo -- ${[...ACTS.keys()].join(" | ")}`);
}

function chooseActs(names: readonly string[]): readonly ((stage: Stage) => Promise<void>)[] {
  if (names.length === 0) return [...ACTS.values()];
  // A payroll that has been played has frozen an account.
  return [...new Set(names)].map(
    (name) =>
      ACTS.get(name) ?? assert.fail(`there is no act "${name}": choose from ${[...ACTS.keys()].join(", ")}`),
  );
}

await runWithCleanUp(demo);
