/** `paystate dev`: local chain, SQLite file, service and handler in one process, going on where they were. */
import { createServer } from "node:http";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { Tier } from "../payments/frame/tables/identity.ts";
import { createHttpHandler } from "../http/create-http-handler.ts";
import { recoveryFile } from "../payments/private/recovery/journal-file.ts";
import { createPaymentService } from "../service/create-payment-service.ts";
import type { PaymentService } from "../service/payment-service.ts";
import { createLocalChain, type LocalChain, type LocalWallet } from "../local/index.ts";
import { solanaLedger } from "../solana/index.ts";
import { StartRefused } from "../payments/frame/secrets/bind-database.ts";
import { systemRandom } from "../core/runtime.ts";
import { DevClock } from "./dev-clock.ts";
import { openDataFolder, TIERS, type DevSetup } from "./dev-data.ts";
import { SLOTS_TO_FINALITY } from "./dev-acts.ts";
import { withDevHelpers } from "./dev-helpers.ts";
import { sandboxOn, screenOf, type DevSandbox } from "./dev-sandbox.ts";
import { devStatus, readyPage } from "./dev-status.ts";
import { holdFolder } from "./hold-folder.ts";
import { closeServer, DEV_HOST, listenOn, takePort } from "./loopback-server.ts";
import { isLoopback } from "../inspector/admit-viewer.ts";
import { stderrLogger } from "../core/stderr-logger.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import { SOL_MINT } from "../core/address.ts";
import { keypairSigner } from "../ledger/sign-transaction.ts";
import type { PaymentServiceOptions } from "../service/payment-service-options.ts";
import { fixedPrices } from "../payments/frame/prices/prices.ts";
import { deskProvider } from "../payments/swap/desk/desk-provider.ts";

/** The arguments of the command, read and checked. */
interface DevArguments {
  readonly port: number;
  readonly rpcPort: number;
  readonly data: string;
  readonly slotMs: number;
  /** The time in which a payment of wallet mode can be cancelled, in milliseconds. */
  readonly broadcastDelayMs: number;
  readonly json: boolean;
  readonly debug: boolean;
}

// A person who presses Ctrl-C does not wait for a webhook's receiver; what is not done goes on at the next start.
const MAX_STOP_MS = 1_000;
// No other process works on this database, so after a kill the next start need not wait long for the leases of the last.
const LEASE_MS = 2_000;

/** Starts everything and resolves when it is ready; Ctrl-C or SIGTERM stops it cleanly. */
export async function dev(args: DevArguments): Promise<void> {
  const { data: dataFolder, slotMs } = args;
  const data = openDataFolder(dataFolder);
  const leaveFolder = await holdFolder(dataFolder, data.lock);
  const setup = setupFrom(data.readSetup());
  // Before anything is sealed with the secret: killed at any line below, the next start still has it.
  data.writeSetup(setup);

  const log = stderrLogger(args.debug);
  const keep = (aheadMs: number): void => data.writeSetup({ ...(data.readSetup() ?? setup), aheadMs });
  const clock = new DevClock(setup, keep);
  const chain = await createLocalChain({ clock, slotMs, journal: data.journal });
  const { wallets, sandbox, ...money } = devMoney(chain);
  const rpc = await takePort({ option: "--rpc-port", wanted: args.rpcPort, last: setup.rpcPort }, (taken) =>
    chain.listen({ port: taken, host: DEV_HOST }),
  );
  const storage = await sqliteStorage(data.database);
  const ledger = solanaLedger({ endpoints: [{ url: rpc.url, fetch: chain.fetch }], clock, logger: log });
  const service = createPaymentService({
    storage,
    ledger,
    clock,
    masterSecrets: [{ version: 1, secret: Buffer.from(setup.masterSecret, "hex") }],
    stablecoins: chain.mints,
    ledgerPollMs: Math.max(50, Math.min(1_000, slotMs)),
    leaseMs: LEASE_MS,
    recovery: recoveryFile(data.orders),
    ...money,
    // The receivers of a developer run on the developer's own machine.
    webhooks: { allowAddress: isLoopback, allowLoopbackHttp: true }, // modules: webhooks
    broadcastDelayMs: args.broadcastDelayMs,
    logger: log,
  });
  await service.start().catch((error: unknown) => {
    throw error instanceof StartRefused ? foreignFile(dataFolder, error) : error;
  });
  const apiKeys = (await openingKeys(service, setup)) ?? (await issueKeys(service));
  const handler = createHttpHandler({ service, inspector: { acts: true }, clock, logger: log });
  const world = { chain, slotMs, clock, ledger, service, apiKeys, payer: wallets[0] };
  const answer = withDevHelpers(world, handler.node);
  const api = await listenOn({ option: "--port", wanted: args.port, last: setup.port }, () =>
    createServer((request, response) => void answer(request, response)),
  );
  data.writeSetup({ ...setup, apiKeys, port: api.port, rpcPort: Number(new URL(rpc.url).port) });
  stopOnSignal(async () => {
    await closeServer(api.server);
    await service.stop({ timeoutMs: MAX_STOP_MS });
    await ledger.close();
    await storage.close();
    await chain.close();
    leaveFolder();
  });
  const { tokens } = service.tokens();
  const urls = { baseUrl: `http://${DEV_HOST}:${api.port}`, rpcUrl: rpc.url, webSocketUrl: rpc.webSocketUrl };
  const ready = devStatus({ ...urls, apiKeys, wallets, sandbox, tokens });
  process.stdout.write(`${args.json ? JSON.stringify(ready) : readyPage(ready, dataFolder)}\n`);
}

/** The setup of the last start, completed. */
function setupFrom(kept: DevSetup | null): DevSetup {
  const masterSecret = kept?.masterSecret ?? Buffer.from(systemRandom.bytes(32)).toString("hex");
  return { ...kept, masterSecret };
}

/** The keys of the last start, unless the database that knew them was removed. */
function openingKeys(service: PaymentService, { apiKeys }: DevSetup): Promise<DevSetup["apiKeys"]> {
  return service.authenticate(`Bearer ${apiKeys?.free}`).then(
    () => apiKeys,
    () => undefined,
  );
}

async function issueKeys(service: PaymentService): Promise<Record<Tier, string>> {
  const keys = TIERS.map(async (tier) => {
    const { accountId } = await service.createAccount({ name: `dev ${tier}`, tier });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    return [tier, key] as const;
  });
  return Object.fromEntries(await Promise.all(keys)) as Record<Tier, string>;
}

/** Chain, database and secret of a folder are made together; when one of them is another's, no option can help. */
function foreignFile(folder: string, cause: StartRefused): Error {
  return new Error(
    `the files in ${folder} do not belong together: restore the one that was replaced, or remove the folder to begin ` +
      `again (${cause.message})`,
    { cause },
  );
}

// Enough to play with: 100 SOL and 10,000 of each stablecoin, in base units.
const WALLET_FUNDS = { lamports: 100_000_000_000n, usdc: 10_000_000_000n, usdt: 10_000_000_000n };
// modules: private
const SPONSOR_FUNDS = { lamports: 1_000_000_000_000n, usdc: 0n, usdt: 0n };
// modules: private
const TREASURY_FUNDS = { lamports: 1_000_000_000n, usdc: 0n, usdt: 0n };
// The inventory of the desk makes its prices: one SOL for 150 dollars, a dollar for a dollar.
const DESK_FUNDS = { lamports: 10_000_000_000_000n, usdc: 1_500_000_000_000n, usdt: 1_500_000_000_000n };

/** The developer's wallets, the payees that fail, and the options that switch private mode and swaps on. */
interface DevMoney extends Required<Pick<PaymentServiceOptions, "swap">> {
  readonly privateRouting: NonNullable<PaymentServiceOptions["privateRouting"]>; // modules: private
  readonly wallets: readonly [LocalWallet, ...(readonly LocalWallet[])];
  readonly sandbox: DevSandbox;
}

/** The same wallets at every start; on a new chain their funds are final before the first request. */
function devMoney(chain: LocalChain): DevMoney {
  const known = chain.wallets().length;
  const founded = (name: string): LocalWallet => chain.createWallet(name, WALLET_FUNDS);
  const wallets = [founded("alice"), founded("bob"), founded("carol")] as const;
  // modules: private
  const sponsor = chain.createWallet("sponsor", SPONSOR_FUNDS);
  // modules: private
  const treasury = chain.createWallet("treasury", TREASURY_FUNDS);
  const desk = chain.createWallet("desk", DESK_FUNDS);
  const sandbox = sandboxOn(chain);
  if (chain.wallets().length > known) chain.advance(SLOTS_TO_FINALITY);
  return {
    wallets,
    sandbox,
    // modules: private
    privateRouting: {
      sponsor: keypairSigner(sponsor.secretKey),
      treasury: treasury.address,
      // For the fees of private mode, one SOL is always worth 150 dollars here.
      prices: fixedPrices({
        [SOL_MINT]: 1_000_000_000n,
        [chain.mints.USDC]: 150_000_000n,
        [chain.mints.USDT]: 150_000_000n,
      }),
      screen: screenOf(sandbox),
    },
    swap: { provider: deskProvider({ desk: keypairSigner(desk.secretKey) }) },
  };
}
