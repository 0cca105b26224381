/** `paystate operator reconcile`: the database against the chain, and what of it is not explained. */
import type { PurseReconciliation } from "../payments/operator/reconcile/purses.ts";
import type { Reconciliation } from "../service/reconcile-service.ts";
import type { WalletReconciliation, WalletFinding } from "../payments/operator/reconcile/wallet.ts";
import { reconciledOrders } from "./reconciled-orders.ts";
import type { OperatorService } from "./open-service.ts";
import type { Print } from "./command.ts";

/** Prints the findings, and resolves with whether all findings are explained. */
export async function reconcile(
  service: OperatorService,
  print: Print,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const reconciliation = await service.reconcile();
  print(json ? JSON.stringify(reconciliation) : reconciliationPage(reconciliation));
  return reconciliation.isExplained;
}

/** A module's part of the page. */
interface ReconciledPart {
  /** A line for each record with a problem. */
  readonly findings: (told: Reconciliation) => readonly string[];
  readonly table: (told: Reconciliation) => readonly string[];
  /** The account whose base units are explained, or not. */
  readonly subject: (told: Reconciliation) => string;
}

// A line for each module, which goes with the module.
// prettier-ignore
const PARTS: readonly ReconciledPart[] = [
  reconciledOrders,
];

function verdictOf({ isExplained }: Pick<Reconciliation, "isExplained">): string {
  return isExplained ? "every base unit is explained." : "NOT everything is explained.";
}

/** The page for people: a line for each address with a problem, then the sums, then the verdict. */
function reconciliationPage(reconciliation: Reconciliation): string {
  const { wallet, purses, mendedTotals } = reconciliation;
  const lines = [
    ...PARTS.flatMap(({ findings }) => findings(reconciliation)),
    ...wallet.findings.map(walletLine),
    ...purses.filter(({ unknownSignatures }) => unknownSignatures.length > 0).map(purseLine),
    ...mendedTotals.map(
      ({ resource, kept, counted }) =>
        `${resource}: its total was ${kept}, its rows sum to ${counted}: mended`,
    ),
  ];
  const tables = PARTS.flatMap(({ table }) => [...table(reconciliation), ""]);
  return [
    ...lines,
    ...(lines.length === 0 ? [] : [""]),
    ...tables,
    `${walletSentence(wallet)}${purses.map(purseSentence).join("")}`,
    [...PARTS.map(({ subject }) => subject(reconciliation)), verdictOf(reconciliation)].join(": "),
  ].join("\n");
}

function walletSentence({ transactions, unproven }: WalletReconciliation): string {
  const what = `${transactions} wallet ${transactions === 1 ? "transaction" : "transactions"} that are over`;
  return unproven === 0 ? `${what}.` : `${what}, of ${unproven} of which no node has the history any more.`;
}

function purseSentence({ purse, transactions, isWhole }: PurseReconciliation): string {
  return ` ${isWhole ? "" : "The newest "}${transactions} transactions of the ${purse}.`;
}

const ON_CHAIN: Readonly<Record<WalletFinding["onChain"], string>> = {
  landed: "was carried out",
  landed_with_error: "failed on the chain",
  never_landed: "never landed",
};

function walletLine({ transactionId, status, signature, onChain }: WalletFinding): string {
  return `${transactionId} (${status}) ${signature}: ${ON_CHAIN[onChain]}`;
}

function purseLine({ purse, address, unknownSignatures }: PurseReconciliation): string {
  return `${purse} ${address}: has signed ${unknownSignatures.join(", ")}, which this database does not know`;
}
