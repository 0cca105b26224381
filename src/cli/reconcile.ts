/** `paystate operator reconcile`: the database against the chain, as a page with the part of each module. */
import { reconciliationPage, type PagePart } from "../payments/operator/reconcile/page.ts";
import { reconciledOrders } from "../payments/private/reconcile/page.ts";
import type { Reconciliation } from "../service/reconcile-service.ts";

// A line for each module, which goes with the module.
// prettier-ignore
const PARTS: readonly PagePart<Reconciliation>[] = [
  reconciledOrders,
];

export const reconcilePage = (told: Reconciliation): string => reconciliationPage(told, PARTS);
