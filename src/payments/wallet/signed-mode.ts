/** Transactions of wallet mode: shown by what became of their bytes, and cancelled until their broadcast begins. */
import type { ModuleEngine } from "../frame/module-engine.ts";
import type { Assets } from "../frame/assets/assets.ts";
import { createdTransferBody, type CreatedTransferBody } from "../frame/signed/accept-signed.ts";
import { signedDetails } from "../frame/signed/signed-details.ts";
import type { FrameTables } from "../frame/tables.ts";
import type { TransactionMode } from "../frame/transactions/transaction-mode.ts";
import type { WalletTransferWorkflow } from "./wallet-transfer-workflow.ts";

interface SignedModeDeps {
  readonly assets: Assets;
  readonly engine: ModuleEngine<FrameTables>;
  readonly transfers: WalletTransferWorkflow;
}

export function signedMode({
  assets,
  engine,
  transfers,
}: SignedModeDeps): TransactionMode<CreatedTransferBody> {
  return {
    mode: "wallet",
    details: async () => (view) => signedDetails(view.transaction),
    createdBody: async (transaction) => createdTransferBody(transaction, assets),
    // The caller may still send its bytes: they keep their share of the day.
    cancel: ({ id }) => engine.send(transfers, id, { type: "CANCEL" }),
  };
}
