/**
 * The storage contract as data: run every case against an adapter of your own, with any test framework or none.
 *
 * ```ts
 * for (const { name, run } of storageContract) test(name, () => run(makeStorage));
 * ```
 */
import { answerCases } from "./storage/answers.ts";
import { adoptionCases } from "./storage/adoptions.ts";
import { commitCases } from "./storage/commits.ts";
import type { StorageContractCase } from "./storage/contract.ts";
import { givenTableCases } from "./storage/given-tables.ts";
import { hostCases } from "./storage/hosts.ts";
import { instanceListCases } from "./storage/instance-lists.ts";
import { instanceCases } from "./storage/instances.ts";
import { delayCases } from "./storage/delays.ts";
import { leaseCases } from "./storage/leases.ts";
import { changedLimitCases } from "./storage/changed-limits.ts";
import { limitCases } from "./storage/limits.ts";
import { listCases } from "./storage/lists.ts";
import { putCases } from "./storage/puts.ts";
import { queueCases } from "./storage/queue.ts";
import { suspectCases } from "./storage/suspects.ts";
import { readCases } from "./storage/reads.ts";
import { retentionCases } from "./storage/retention.ts";
import { tableCases } from "./storage/tables.ts";

export type { ContractHost, StorageContractCase, StorageUnderTest } from "./storage/contract.ts";

/**
 * Every promise of the storage ports, G1 … G10, each as a case of its own. An adapter passes all of them.
 *
 * @example
 * ```ts no-run: a runner of tests runs it
 * import { test } from "node:test";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { storageContract } from "paystate/testing";
 *
 * for (const { name, run } of storageContract) {
 *   test(name, () =>
 *     run(async () => {
 *       const storage = await sqliteStorage(":memory:"); // an empty database of your own for each case
 *       return { open: async () => ({ ...storage, close: async () => {} }), destroy: () => storage.close() };
 *     }),
 *   );
 * }
 * ```
 */
export const storageContract: readonly StorageContractCase[] = [
  ...commitCases,
  ...answerCases,
  ...instanceCases,
  ...instanceListCases,
  ...queueCases,
  ...suspectCases,
  ...adoptionCases,
  ...leaseCases,
  ...delayCases,
  ...limitCases,
  ...changedLimitCases,
  ...putCases,
  ...givenTableCases,
  ...tableCases,
  ...readCases,
  ...listCases,
  ...retentionCases,
  ...hostCases,
];
