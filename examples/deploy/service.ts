/**
 * The payment service, put together and not started: `main.ts` starts it, and `paystate doctor --service service.ts` and
 * the operator's commands ask it beside the one that runs.
 */
import { pino } from "pino";
import { createPaymentService } from "paystate";
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

export const ledger = solanaLedger({ endpoints: settings.rpcUrls, logger });

export const service = createPaymentService({
  storage,
  ledger,
  masterSecrets: [{ version: 1, secret: settings.masterSecret }],
  logger,
});
