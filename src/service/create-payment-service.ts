/** The payment service: every use case of the API as a method, over one engine, one storage and one ledger. */
import { checkOptions } from "../core/options.ts";
import { StoredApiKeys, type ApiKeys } from "../payments/frame/accounts/api-keys.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import { countHit, limitStatus } from "../payments/frame/accounts/count-hit.ts";
import { readAccount } from "../payments/frame/accounts/read-account.ts";
import { readBalances } from "../payments/frame/assets/read-balances.ts";
import { KeyChecksums } from "../payments/frame/secrets/key-checksums.ts";
import { cancelTransaction } from "../payments/frame/transactions/cancel-transaction.ts";
import { ExportPlaces } from "../payments/frame/transactions/export-places.ts";
import { exportTransactions } from "../payments/frame/transactions/export-transactions.ts";
import { listTransactions } from "../payments/frame/transactions/list-transactions.ts";
import { showTransaction } from "../payments/frame/transactions/show-transaction.ts";
import type { AccountBody, ModuleCalls } from "../payments/modules.ts";
import type { MintOptions } from "./compare-chain.ts";
import { diagnose } from "./diagnosis.ts";
import { paymentServiceOptions, type PaymentServiceOptions } from "./payment-service-options.ts";
import type { PaymentService, InspectedService } from "./payment-service.ts";
import { HealthReader } from "./read-health.ts";
import { HealthCache, type HealthSource } from "./health-cache.ts";
import { reconcileService } from "./reconcile-service.ts";
import { ServiceActs, type ServiceActsParts } from "./service-acts.ts";
import { ServiceLoop } from "./service-loop.ts";
import { assembleService, type ServiceParts } from "./service-parts.ts";
import { useCasesOf, type UseCaseParts } from "./use-cases.ts";

/** The default wait of `stop`. */
const STOP_MS = 5_000;

/**
 * Builds the service; nothing runs before `start()`. Throws `InvalidOptions` listing every wrong option.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { createPaymentService } from "paystate";
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain } from "paystate/local";
 * import { solanaLedger } from "paystate/solana";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * const ledger = solanaLedger({ endpoints: [{ url: "http://local.invalid", fetch: chain.fetch }] });
 * const service = createPaymentService({
 *   storage: await sqliteStorage(":memory:"), // else the path of a file
 *   ledger,
 *   masterSecrets: [{ version: 1, secret: randomBytes(32) }], // else: kept as long as the database
 *   stablecoins: chain.mints,
 * });
 * await service.start();
 * console.log(service.tokens().tokens.map(({ symbol }) => symbol).join(" ")); // SOL USDC USDT
 *
 * await service.stop();
 * await ledger.close();
 * await chain.close();
 * ```
 */
export function createPaymentService(options: PaymentServiceOptions): PaymentService {
  const parts = assembleService(checkOptions("createPaymentService", paymentServiceOptions, options));
  const useCases = useCasesOf(parts);
  const { store, operator } = parts;
  const life = lifeOf(parts, { areMintsNamed: options.stablecoins !== undefined });
  const asking = {
    ...askingOf(parts, life.reader),
    ...accountMethods(parts),
    ...transactionMethods(parts, useCases),
    ...merged(parts.modules.map(({ calls }) => calls)),
  };
  const { instances, ...commands } = operator;
  // The types beside the list of modules describe the members that modules add at run time.
  const added = {
    ...store.forHost(asking),
    ...merged(parts.modules.map(({ listeners }) => listeners)),
  } as typeof asking & ModuleCalls;
  return {
    ...life.methods,
    ...added,
    tokens: () => ({ tokens: parts.context.assets.tokens }),
    operator: { ...store.forHost(commands), instances: store.forHost(instances) },
    inspected: inspectedOf(parts, { ...asking, operator }),
  };
}

/** The merged parts of several modules. */
function merged(added: readonly (object | undefined)[]): object {
  return Object.assign({}, ...added) as object;
}

type Methods<Name extends keyof PaymentService> = Pick<PaymentService, Name>;

function lifeOf(
  parts: ServiceParts,
  named: MintOptions,
): {
  readonly methods: Methods<"workflows" | "start" | "stop" | "settled" | typeof Symbol.asyncDispose>;
  readonly reader: HealthReader;
} {
  const { context, observed, commits, engine, workflows, retention, countMatters, disputed } = parts;
  const { storage, clock } = context;
  const life = new ServiceLoop(parts, named);
  const stop: PaymentService["stop"] = ({ timeoutMs = STOP_MS } = {}) => life.stop(timeoutMs);
  const reader = new HealthReader({
    storage,
    commits,
    ledger: observed,
    clock,
    countMatters,
    countDisputes: async () => (await disputed()).length,
    silentParts: () => parts.parts.silent(),
    purses: () => parts.purses.last(),
    workflowKeys: workflows.flatMap(({ claims }) => claims),
    chain: () => life.chain,
    watching: () => engine.watching(),
    troubles: () => engine.troubles(),
    retention: () => retention.standing(),
    added: parts.modules.flatMap(({ health }) => health ?? []),
  });
  const methods = {
    workflows,
    start: () => life.start(),
    stop,
    async settled() {
      let hasBegun = true;
      while (hasBegun) {
        await engine.settled();
        const had = await Promise.all(parts.modules.map(async ({ work }) => work?.settled() ?? false));
        hasBegun = had.includes(true);
      }
    },
    [Symbol.asyncDispose]: () => stop(),
  };
  return { methods, reader };
}

function inspectedOf(
  { context, engine, acts, workflows, modules, chain, calls }: ServiceParts,
  service: ServiceActsParts["service"] & HealthSource,
): InspectedService {
  const { storage, assets, clock } = context;
  const recent = new HealthCache(service, clock);
  return {
    workflows,
    storage,
    isProduction: () => chain.isProduction,
    onCommit: (listener) => engine.subscribe(listener),
    acting: new ServiceActs({ ...context, engine, acts, service, workflows, modules }),
    payments: { reads: storage, assets },
    health: () => recent.read(),
    calls,
  };
}

function accountMethods({
  context,
  chain,
  options: { masterSecrets },
  modules,
  sealing,
}: ServiceParts): ApiKeys & Methods<"account" | "balances" | "countRefused" | "limitStatus"> {
  const { ledger, assets } = context;
  const checksums = new KeyChecksums({ ...context, sealing, masterSecrets });
  const wholeAccount = async (caller: Caller): Promise<AccountBody> => {
    const added = await Promise.all(modules.map(async ({ accountFields }) => accountFields?.(caller)));
    return { ...(await readAccount(context, caller)), ...(merged(added) as AccountBody) };
  };
  const keys = new StoredApiKeys({ ...context, checksums, environment: () => chain.keyEnvironment() });
  return {
    createAccount: (account) => keys.createAccount(account),
    issueKey: (issue) => keys.issueKey(issue),
    listKeys: (accountId) => keys.listKeys(accountId),
    rotateKey: (keyId, rotation) => keys.rotateKey(keyId, rotation),
    revokeKey: (keyId) => keys.revokeKey(keyId),
    authenticate: (authorization, address) => keys.authenticate(authorization, address),
    account: (caller) => wholeAccount(caller),
    balances: (address) => readBalances({ ledger, assets }, address),
    countRefused: async (caller, scope) => (await countHit(context, caller, scope)).standing,
    limitStatus: (caller, scope) => limitStatus(context, caller, scope),
  };
}

function transactionMethods(
  { context, waiters }: ServiceParts,
  { quotes, taking, modes }: UseCaseParts,
): Methods<
  | "createQuote"
  | "quote"
  | "refreshQuote"
  | "createTransaction"
  | "transaction"
  | "listTransactions"
  | "exportTransactions"
  | "cancelTransaction"
> {
  const { storage, assets, clock } = context;
  const places = new ExportPlaces(clock);
  const reading = { storage, assets, modes };
  return {
    createQuote: (caller, request, options) => quotes.create(caller, request, options),
    quote: (caller, quoteId) => quotes.read(caller, quoteId),
    refreshQuote: (caller, quoteId, options) => quotes.refresh(caller, quoteId, options),
    createTransaction: (caller, request, options) => taking.create(caller, request, options),
    transaction: showTransaction({ ...reading, waiters }),
    listTransactions: (caller, query) => listTransactions(reading, caller, query),
    exportTransactions: (caller, query) => exportTransactions({ ...reading, places }, caller, query),
    cancelTransaction: async (caller, transactionId, { onLimit } = {}) => {
      const { standing } = await countHit(context, caller, "cancel");
      onLimit?.(standing);
      return cancelTransaction(reading, caller, transactionId);
    },
  };
}

function askingOf(parts: ServiceParts, reader: HealthReader): Methods<"health" | "diagnose" | "reconcile"> {
  return {
    health: () => reader.read(),
    diagnose: (query = {}) => diagnose(parts, () => reader.read(), query),
    reconcile: () => reconcileService(parts),
  };
}
