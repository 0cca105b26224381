/** The order of the test files: those that wait for processes first, and of either kind the longest first. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first. Whatever began last would run alone for as long at the end. */
export const LONGEST: readonly string[] = [
  "test/cli/demo.processes.test.ts",
  "test/cli/room.processes.test.ts",
  "test/readme/snippets.processes.test.ts",
  "test/cli/surroundings.processes.test.ts",
  "test/cli/dev.processes.test.ts",
  "test/cli/operator.processes.test.ts",
  "test/payments/kills.processes.test.ts",
  "test/simulation/private-orders.explorations.test.ts",
  "test/payments/private/restored-copies.slow.test.ts",
  "test/storage/equivalence.explorations.test.ts",
  "test/payments/private/other-mints-crashes.explorations.test.ts",
  "test/simulation/deliveries.explorations.test.ts",
  "test/payments/private/lies.slow.test.ts",
  "test/simulation/cancellations.explorations.test.ts",
  "test/solana/verify-random.explorations.test.ts",
  "test/simulation/sends.explorations.test.ts",
  "test/payments/webhooks/catching-up.slow.test.ts",
];

/** Sorts as vitest does, by what it remembers of the last run; on a fresh machine it remembers nothing. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- its own method, which answers another array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

/** Those first whose tests wait most, and last the one whose files are the smallest. A project that is not named is last. */
const PROJECTS = ["processes", "foreign", "explorations", "slow", "postgres", "rest"];

/** A worker that changes projects has to import everything again, so the files of a project stand together. */
function placeOf({ project, moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
  const group = PROJECTS.indexOf(project.name);
  const before = (group === -1 ? PROJECTS.length : group) * 2 * LONGEST.length;
  return before + (place === -1 ? LONGEST.length : place);
}
