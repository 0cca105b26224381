/** Reconciles a service with the chain: what every service has, and what modules bring. */
import { reconcile, type CommonReconciliation } from "../payments/operator/reconcile/reconcile.ts";
import type { TellProgress } from "../payments/frame/reconcile-progress.ts";
import type { ReconciledPart } from "../payments/frame/open-module.ts";
import type { ModuleReconciliation } from "../payments/modules.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The chain's answer about everything that this database has recorded. */
export interface Reconciliation extends ModuleReconciliation, CommonReconciliation {}

type ReconciledService = Pick<
  ServiceParts,
  "context" | "options" | "chain" | "modules" | "wallets" | "swapper"
>;

/** Reconciles with the ledger's own number of witnesses, to find mistakes of fewer witnesses. */
export async function reconcileService(parts: ReconciledService): Promise<Reconciliation> {
  const { context, options, chain, wallets, swapper } = parts;
  await chain.bind();
  const sponsor = wallets?.sponsor ?? null;
  const desk = swapper?.direct?.signer.address ?? null;
  return reconcile({
    ...context,
    ledger: options.ledger,
    reconcilePart: (tell) => reconcileModules(parts, tell),
    purses: [
      ...(sponsor === null ? [] : [{ purse: "sponsor" as const, address: sponsor }]),
      ...(desk === null ? [] : [{ purse: "desk" as const, address: desk }]),
    ],
  });
}

async function reconcileModules(
  { modules, options }: ReconciledService,
  tell: TellProgress,
): Promise<ReconciledPart<ModuleReconciliation>> {
  const told: ReconciledPart[] = [];
  for (const { reconcile: compare } of modules) {
    if (compare !== undefined) told.push(await compare(options.ledger, tell));
  }
  // The types beside the list of modules describe the tallies of modules at run time.
  const body = Object.assign({}, ...told.map((part) => part.body)) as ModuleReconciliation;
  return { body, isExplained: told.every(({ isExplained }) => isExplained) };
}
