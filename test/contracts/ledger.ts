/**
 * The ledger contract as data: run every case against a ledger of your own, with any test framework or none.
 *
 * ```ts
 * for (const { name, run } of ledgerContract) test(name, () => run(makeWorld));
 * ```
 */
import { buildingCases } from "./ledger/building.ts";
import type { LedgerContractCase } from "./ledger/contract.ts";
import { fateCases } from "./ledger/fates.ts";
import { fewerWitnessesCases } from "./ledger/fewer-witnesses.ts";
import { orderCases } from "./ledger/order-cases.ts";
import { outageCases } from "./ledger/outages.ts";
import { readCases } from "./ledger/reads.ts";
import { routingMoveCases } from "./ledger/routing-moves.ts";
import { routingReadCases } from "./ledger/routing-reads.ts";
import { settlingCases } from "./ledger/settling.ts";
import { verifyingCases } from "./ledger/verifying.ts";

export type { EndpointFault, LedgerContractCase, LedgerWorld, WorldWallet } from "./ledger/contract.ts";

/**
 * Every promise of the `Ledger` port, each as a case of its own. An implementation passes all of them.
 *
 * @example
 * ```ts no-run: it needs a ledger of yours
 * import { test } from "node:test";
 * import { ledgerContract } from "paystate/testing";
 * import type { LedgerWorld } from "paystate/testing";
 *
 * // Your ledger, before a new chain of its own.
 * declare function makeWorld(): Promise<LedgerWorld>;
 *
 * for (const { name, run } of ledgerContract) test(name, () => run(makeWorld));
 * ```
 */
export const ledgerContract: readonly LedgerContractCase[] = [
  ...readCases,
  ...buildingCases,
  ...verifyingCases,
  ...settlingCases,
  ...fateCases,
  ...outageCases,
  ...fewerWitnessesCases,
  ...routingReadCases,
  ...routingMoveCases,
  ...orderCases,
];
