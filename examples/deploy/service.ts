/**
 * The payment service, put together and not started: `main.ts` starts it, and `paystate doctor --service service.ts` and
 * the operator's commands ask it beside the one that runs.
 */
import { readFile } from "node:fs/promises";
import { pino } from "pino";
import { createPaymentService, fixedPrices, keypairSigner, recoveryFile } from "paystate";
import { solanaLedger } from "paystate/solana";
import { postgresStorage } from "paystate/storage/postgres";
import { sqliteStorage } from "paystate/storage/sqlite";
import { settings } from "./settings.ts";

/**
 * One line of JSON for each entry, on stderr: stdout belongs to the answers of `paystate --json`. Errors stand in `error`;
 * pino by itself knows them as `err` alone.
 */
export const logger = pino(
  { level: settings.logLevel, serializers: { error: pino.stdSerializers.err } },
  pino.destination(2),
);

/** A URL is PostgreSQL, which any number of these processes may share; all else is a file of SQLite. */
export const storage = /^postgres(ql)?:\/\//.test(settings.database)
  ? await postgresStorage(settings.database)
  : await sqliteStorage(settings.database);

export const ledger = solanaLedger({ endpoints: settings.endpoints, logger });

const { stablecoins, privateMode, refusedFile } = settings;

const SOL = { mint: "So11111111111111111111111111111111111111112", worth: 1_000_000_000n };

/** Prices for trying: a SOL is worth so many dollars, and a dollar a dollar. Mainnet refuses prices that never move. */
function trialPrices(dollarsPerSol: number) {
  const dollars = BigInt(Math.round(dollarsPerSol * 1_000_000));
  const ofDollars = Object.values(stablecoins ?? {}).map((mint) => [mint, dollars] as const);
  return fixedPrices({ [SOL.mint]: SOL.worth, ...Object.fromEntries(ofDollars) });
}

/**
 * Asks a list of your own, which is read each time, so that a new one counts at once. Where a provider tells whom you may
 * serve, ask that here instead.
 */
const screenedBy = (file: string) => async (address: string) => {
  const refused = (await readFile(file, "utf8")).split("\n").map((line) => line.trim());
  return refused.includes(address) ? "refused" : "ok";
};

export const service = createPaymentService({
  storage,
  ledger,
  masterSecrets: [{ version: 1, secret: settings.masterSecret }],
  ...(stablecoins === null ? {} : { stablecoins }),
  approvals: settings.approvals,
  ...(settings.recoveryFile === null ? {} : { recovery: recoveryFile(settings.recoveryFile) }), // modules: private
  ...(privateMode === null
    ? {}
    : {
        privateRouting: {
          sponsor: keypairSigner(privateMode.sponsorKey),
          treasury: privateMode.treasury,
          // On mainnet: your source of prices, which asks the market.
          prices: trialPrices(privateMode.dollarsPerSol),
          ...(refusedFile === null ? {} : { screen: screenedBy(refusedFile) }),
        },
      }),
  logger,
});
