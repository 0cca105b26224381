/** `paystate dev`: local chain, SQLite file, service and handler in one process, going on where they were. */
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { Tier } from "../../storage/records.ts";
import { createHttpHandler } from "../http/create-http-handler.ts";
import { createPaymentService } from "../create-payment-service.ts";
import type { PaymentService } from "../create-payment-service.ts";
import { createLocalChain } from "../local/index.ts";
import { solanaLedger } from "../ledger/solana/index.ts";
import { systemClock, systemRandom } from "../runtime.ts";
import { openDataFolder, TIERS } from "./dev-data.ts";
import type { DevSetup } from "./dev-data.ts";
import { devReady, readyPage } from "./dev-ready.ts";
import { closeServer, DEV_HOST, listenOn, takePort } from "./listen.ts";
import { stderrLogger } from "./stderr-logger.ts";

/** The arguments of the command, read and checked. */
export interface DevArguments {
  readonly port: number;
  readonly rpcPort: number;
  readonly dataFolder: string;
  readonly slotMs: number;
  readonly json: boolean;
  readonly debug: boolean;
}

const WALLETS = ["alice", "bob", "carol"] as const;
// Enough to play with: 100 SOL and 10,000 of each stablecoin, in base units.
const WALLET_FUNDS = { lamports: 100_000_000_000n, usdc: 10_000_000_000n, usdt: 10_000_000_000n };
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Starts everything and resolves when it is ready; Ctrl-C or SIGTERM stops it cleanly. */
export async function dev({ port, rpcPort, dataFolder, slotMs, json, debug }: DevArguments): Promise<void> {
  const data = openDataFolder(dataFolder);
  const log = stderrLogger(debug);
  const known = data.readSetup();
  const masterSecret = known?.masterSecret ?? Buffer.from(systemRandom.bytes(32)).toString("hex");

  const chain = await createLocalChain({ clock: systemClock, slotMs, journal: data.journal });
  const rpc = await takePort(rpcPort, known?.rpcPort, (taken) =>
    chain.listen({ port: taken, host: DEV_HOST }),
  );
  const storage = await sqliteStorage(data.database);
  const ledger = solanaLedger({ endpoints: [{ url: rpc.url, fetch: chain.fetch }] });
  const service = createPaymentService({
    storage,
    ledger,
    masterSecrets: [{ version: 1, secret: Buffer.from(masterSecret, "hex") }],
    stablecoins: chain.mints,
    ledgerPollMs: Math.max(50, Math.min(1_000, slotMs)),
    // The receivers of a developer run on the developer's own machine.
    webhooks: { allowAddress: (ip) => LOOPBACK.test(ip) },
    logger: log,
  });
  await service.start();
  const handler = createHttpHandler({ service, logger: log });
  const api = await takePort(port, known?.port, (taken) =>
    listenOn(taken, (request, response) => void handler.node(request, response)),
  );

  const apiKeys = known?.apiKeys ?? (await issueKeys(service));
  const setup: DevSetup = { masterSecret, apiKeys, port: api.port, rpcPort: Number(new URL(rpc.url).port) };
  data.writeSetup(setup);
  const wallets = WALLETS.map((name) => chain.createWallet(name, WALLET_FUNDS));
  const baseUrl = `http://${DEV_HOST}:${api.port}`;
  const ready = devReady({ baseUrl, rpcUrl: rpc.url, apiKeys, wallets, tokens: service.tokens().tokens });
  process.stdout.write(`${json ? JSON.stringify(ready) : readyPage(ready, dataFolder)}\n`);

  stopOnSignal(async () => {
    await closeServer(api.server);
    await service.stop();
    await ledger.close();
    await storage.close();
    await chain.close();
  });
}

async function issueKeys(service: PaymentService): Promise<Record<Tier, string>> {
  const keys = TIERS.map(async (tier) => {
    const { accountId } = await service.createAccount({ name: `dev ${tier}`, tier });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    return [tier, key] as const;
  });
  return Object.fromEntries(await Promise.all(keys)) as Record<Tier, string>;
}

/** Stops once; a second signal ends the process at once, which is safe at any line. */
function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`paystate: could not stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}
