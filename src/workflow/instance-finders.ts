/** Finds instances of a workflow by texts: a line for the module that does. */
import type { InstanceFinder } from "./instance-finder.ts";
import { searchFinder } from "./search-fields.ts";

// A line for each module, which goes with the module.
// prettier-ignore
const FINDERS: readonly InstanceFinder[] = [
  searchFinder,
];

const NO_FINDER: InstanceFinder = {
  fieldsOf: () => [],
  check: async (_storage, { call, workflow, where }) => {
    const [field = ""] = Object.keys(where);
    throw new TypeError(`${call}: where.${field}: ${workflow.key} has no such search field: it has none`);
  },
  ids: async () => [],
  has: () => false,
};

export const instanceFinder: InstanceFinder = FINDERS[0] ?? NO_FINDER;
