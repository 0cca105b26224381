/** The payment service that an operator's command asks: that of a `paystate dev` folder, or the host's own. */
import { sqliteStorage } from "../../storage/sqlite.ts";
import { SOL_MINT } from "../core/address.ts";
import { createPaymentService } from "../service/create-payment-service.ts";
import type { Operator } from "../service/open-operator.ts";
import type { PaymentService } from "../service/payment-service.ts";
import { keypairSigner } from "../ledger/sign-transaction.ts";
import { solanaLedger } from "../solana/index.ts";
import { createLocalChain } from "../local/index.ts";
import { fixedPrices } from "../payments/frame/prices/prices.ts";
import { DevClock } from "./dev-clock.ts";
import { openDataFolder, setupIn } from "./dev-data.ts";
import { tryToHoldFolder } from "./hold-folder.ts";
import { importOfHost } from "./host-module.ts";
import { isLoopback } from "../inspector/admit-viewer.ts";
import { DEV_HOST } from "./loopback-server.ts";
import { stderrLogger } from "../core/stderr-logger.ts";
import { end, UsageError } from "./command.ts";

/** The part of a service that operators use. */
export type OperatorService = Pick<PaymentService, "reconcile"> &
  Partial<Pick<PaymentService, "operator" | "exportTransactions" | "health" | "diagnose">>;

/** A service that was opened but not started: a running service keeps its work. */
interface OpenService {
  readonly service: OperatorService;
  readonly close: () => Promise<void>;
}

/** Names a service by its folder, or by the module that exports the service. */
export interface ServiceOptions {
  readonly data?: string | undefined;
  readonly service?: string | undefined;
}

/** Opens the named service; without a name, the service of the default folder. */
export async function openService({ data, service }: ServiceOptions): Promise<OpenService> {
  if (service === undefined) return openDevService(data ?? ".paystate");
  if (data !== undefined) throw new UsageError("expected --data or --service, not both");
  return openOwnService(service);
}

/** Opens the named service, lets `act` use its operator's part, closes it, and ends the process. */
export async function withOperator(
  place: ServiceOptions,
  act: (operator: Operator) => Promise<void>,
): Promise<void> {
  const { service, close } = await openService(place);
  if (service.operator === undefined) {
    throw new Error("the exported `service` has no operator: expected what createPaymentService returns");
  }
  await act(service.operator);
  await close();
  await end(0);
}

/** The service that a module of the host's exports as `service`. It is not closed here: the process ends. */
async function openOwnService(file: string): Promise<OpenService> {
  const { service } = (await importOfHost(file, "service")) as {
    readonly service?: Partial<OperatorService>;
  };
  if (typeof service?.reconcile !== "function") {
    throw new Error(
      `${file} exports no \`service\`: expected what createPaymentService returns, under this name`,
    );
  }
  return { service: service as OperatorService, close: async () => {} };
}

/**
 * The service of a development folder. While `paystate dev` runs on it, the chain is asked through its port; else it is
 * brought back from the folder, and stands still.
 */
async function openDevService(folder: string): Promise<OpenService> {
  const setup = setupIn(folder);
  if (setup === null) throw new Error(`there is no paystate dev in ${folder}: name its folder with --data`);
  const data = openDataFolder(folder);
  const leaveFolder = await tryToHoldFolder(data.lock);
  if (leaveFolder === null && setup.rpcPort === undefined) {
    throw new Error(`the paystate dev on ${folder} is still starting: try again in a moment`);
  }
  // Chains of one seed have the same mints and wallets: beside a running one, an empty one knows their names.
  const journal = leaveFolder === null ? {} : { journal: data.journal };
  const clock = new DevClock(setup);
  const chain = await createLocalChain({ clock, slotMs: 0, ...journal });
  const fetch = leaveFolder === null ? {} : { fetch: chain.fetch };
  const url = `http://${DEV_HOST}:${setup.rpcPort ?? 0}`;
  const ledger = solanaLedger({ endpoints: [{ url, ...fetch }], clock });
  const storage = await sqliteStorage(data.database);
  const service = createPaymentService({
    storage,
    ledger,
    clock,
    masterSecrets: [{ version: 1, secret: Buffer.from(setup.masterSecret, "hex") }],
    stablecoins: chain.mints,
    webhooks: { allowAddress: isLoopback, allowLoopbackHttp: true }, // modules: webhooks
    // modules: private
    privateRouting: {
      sponsor: keypairSigner(chain.createWallet("sponsor", {}).secretKey),
      treasury: chain.createWallet("treasury", {}).address,
      prices: fixedPrices({ [SOL_MINT]: 1n }),
    },
    logger: stderrLogger(false),
  });
  return {
    service,
    async close() {
      await ledger.close();
      await storage.close();
      await chain.close();
      leaveFolder?.();
    },
  };
}
