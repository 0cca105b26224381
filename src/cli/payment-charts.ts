/** The charts of a payment service over stored data that is only looked at. */
import type { EngineStorage } from "../../storage/storage.ts";
import { keypairSigner } from "../ledger/sign-transaction.ts";
import { fixedPrices } from "../payments/frame/prices/prices.ts";
import { SOL_MINT } from "../core/address.ts";
import { silentLogger, systemRandom } from "../core/runtime.ts";
import { createPaymentService } from "../service/create-payment-service.ts";
import type { InspectedService } from "../service/payment-service.ts";
import { solanaLedger } from "../solana/index.ts";

const KEY_BYTES = 32;
/** Port 9 discards what it gets. No ledger is asked before a service starts. */
const NO_NODE = "http://127.0.0.1:9";

/**
 * The view of payment rows for an inspector. The service is never started, so nothing is claimed, signed or written;
 * its secrets are made up and open nothing.
 */
export function paymentCharts(storage: EngineStorage): Omit<InspectedService, "health" | "calls"> {
  // modules: private
  const wallet = (): ReturnType<typeof keypairSigner> => keypairSigner(systemRandom.bytes(KEY_BYTES));
  const service = createPaymentService({
    storage,
    ledger: solanaLedger({ endpoints: [NO_NODE] }),
    masterSecrets: [{ version: 1, secret: systemRandom.bytes(KEY_BYTES) }],
    // modules: private
    privateRouting: {
      sponsor: wallet(),
      treasury: wallet().address,
      prices: fixedPrices({ [SOL_MINT]: 1n }),
    },
    logger: silentLogger,
  });
  const { workflows, payments } = service.inspected;
  // How the service is cannot be asked: it does not run.
  return { workflows, payments, storage: service.inspected.storage, isProduction: () => false };
}
