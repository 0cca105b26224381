/** The service as all processes of a chaos run have it, the one who judges included. */
// modules: webhooks
import { SOL_MINT } from "../../src/core/address.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { fixedPrices } from "../../src/payments/frame/prices/prices.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { type EndpointOptions, type Fetch, solanaLedger } from "../../src/solana/index.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { ChainReady, ServiceSettings } from "./processes/settings.ts";

/** How long a wallet's payment may be cancelled: long enough for some to be. */
const BROADCAST_DELAY_MS = 300;

export function chaosOptions({
  chain,
  receiverAuthority,
}: Pick<ServiceSettings, "chain" | "receiverAuthority">): Omit<PaymentServiceOptions, "storage"> {
  return {
    ledger: solanaLedger({ endpoints: [endpointOf(chain, 0), endpointOf(chain, 1)] }),
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: chain.mints,
    broadcastDelayMs: BROADCAST_DELAY_MS,
    ledgerPollMs: 150,
    // The shortest there is: what a killed process held is soon taken over.
    leaseMs: 1_000,
    webhooks: { ca: receiverAuthority, allowAddress: (ip) => ip === "127.0.0.1" },
    // modules: private
    privateRouting: {
      sponsor: keypairSigner(Buffer.from(chain.wallets.sponsor.secretKey, "base64")),
      treasury: chain.wallets.treasury.address,
      prices: fixedPrices({
        [SOL_MINT]: 1_000_000_000n,
        [chain.mints.USDC]: 150_000_000n,
        [chain.mints.USDT]: 150_000_000n,
      }),
    },
  };
}

/** One of the chain's two endpoints. Calls carry its number behind their last parameter, where no method reads. */
function endpointOf({ rpcUrl }: ChainReady, endpoint: 0 | 1): EndpointOptions {
  const named: Fetch = (input, init) => {
    const call = JSON.parse(typeof init?.body === "string" ? init.body : "") as { params?: unknown[] };
    const body = JSON.stringify({ ...call, params: [...(call.params ?? []), { endpoint }] });
    return fetch(input, { ...init, body });
  };
  return { url: `${rpcUrl}/${endpoint}`, fetch: named };
}
