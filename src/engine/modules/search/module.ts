/** Search: the texts by which instances are found, and what a version has declared of them. */
import {
  declaredFields,
  declaringWrites,
  narrowingWrites,
  searchRemovals,
  searchRows,
} from "../../../workflow/search-fields.ts";
import type { EngineModule } from "../../engine-module.ts";

export const search: EngineModule = {
  name: "search",
  tables: [searchRows],
  charts: {
    first: declaringWrites,
    again: async (storage, workflows) => narrowingWrites(workflows, await declaredFields(storage)),
  },
  removed: searchRemovals,
};
