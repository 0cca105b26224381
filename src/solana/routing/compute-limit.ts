/** Sets how much a plan may compute: the runtime refuses more, and the priority fee is charged for the whole limit. */
import { triesInVain } from "../associated-token-account.ts";
import { MAX_COMPUTE_UNITS } from "../compute-budget.ts";
import type { PlannedInstruction, Step } from "./planned-instruction.ts";

// Compute units per instruction, generously: the runtime's own programs take 150. Of the token programs the dearer
// version counts, the first one (transfer 6,200, close 3,000, open 4,300, approve 2,900, revoke 2,700, create 21,000 with
// all that it calls); since p-token they take 105, 118, 200, 130, 100 and 13,500.
const UNITS: Readonly<Record<Step, number>> = {
  allocate: 500,
  fund: 500,
  open: 7_000,
  approve: 5_000,
  revoke: 5_000,
  unmark: 5_000,
  create: 30_000,
  pay: 10_000,
  close: 5_000,
};
const BUDGET_UNITS = 500;

// Where an associated account lies is found by trying bump seeds from 255 down, in the program as here; each further try
// costs it 1,500 units (measured). A recipient who ground an address with a low bump would otherwise fail everybody's
// transaction.
const UNITS_PER_BUMP = 1_500;

/** The compute limit of a transaction with these instructions. */
export function computeLimit(planned: readonly PlannedInstruction[]): number {
  const units = planned.reduce((sum, each) => sum + UNITS[each.step] + searchUnits(each), BUDGET_UNITS);
  return Math.min(units, MAX_COMPUTE_UNITS);
}

function searchUnits({ step, instruction }: PlannedInstruction): number {
  if (step !== "create") return 0;
  const [, , owner, mint, , tokenProgram] = instruction.keys.map(({ pubkey }) => pubkey);
  if (owner === undefined || mint === undefined || tokenProgram === undefined) return 0;
  return UNITS_PER_BUMP * triesInVain(owner.toBase58(), mint.toBase58(), tokenProgram.toBase58());
}
