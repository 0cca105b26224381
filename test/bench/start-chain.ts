/** Starting the chain's process, and speaking with it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { SOL_MINT } from "../../src/address.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import type { PrivateRoutingOptions } from "../../src/service/payment-service-options.ts";
import { fixedPrices } from "../../src/payments/prices/prices.ts";
import type {
  ChainProcessReady,
  ChainProcessSettings,
  DepositsDemand,
  DepositsMade,
} from "./chain-process.ts";

/** A chain that answers at a URL until it is ended. */
export interface ChainProcess extends ChainProcessReady {
  /** Brings each address so many raw units of USDC; the slot by which all of them are there. */
  deposit(deposits: DepositsDemand["deposits"]): Promise<number>;
  end(): Promise<void>;
}

export async function startChain(settings: ChainProcessSettings): Promise<ChainProcess> {
  const args = [JSON.stringify(settings)];
  const child = fork("test/bench/chain-process.ts", args, { execArgv: ["--import", "tsx"] });
  const [ready] = (await once(child, "message")) as [ChainProcessReady];
  return {
    ...ready,
    async deposit(deposits) {
      const answered = once(child, "message");
      const demand: DepositsDemand = { deposits };
      child.send(demand);
      const [{ slot }] = (await answered) as [DepositsMade];
      return slot;
    },
    async end() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** Private mode at the cost of the chain's own sponsor, with one SOL at 150 dollars. */
export function privateRoutingOn({ mints, wallets }: ChainProcessReady): PrivateRoutingOptions {
  return {
    sponsor: keypairSigner(Buffer.from(wallets.sponsor.secretKey, "base64")),
    treasury: wallets.treasury.address,
    prices: fixedPrices({
      [SOL_MINT]: 1_000_000_000n,
      [mints.USDC]: 150_000_000n,
      [mints.USDT]: 150_000_000n,
    }),
    maxRecipients: 500,
  };
}
