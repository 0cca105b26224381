/** Compares the options and the database with the chain, and changes nothing. */
import { environmentOf } from "../payments/frame/accounts/api-keys.ts";
import { MAINNET_GENESIS } from "../payments/frame/assets/assets.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../core/runtime.ts";
import { checkMints } from "../payments/frame/assets/check-mints.ts";
import { refuseOtherChain, StartRefused } from "../payments/frame/secrets/bind-database.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Mints as the host has configured them. */
export interface MintOptions {
  /** Whether the option `stablecoins` was given. */
  readonly areMintsNamed: boolean;
}

/**
 * Answers the genesis hash, to which the database may be bound. Throws `StartRefused` where chain, database and options do
 * not fit, and `LedgerUnavailable` when the chain is silent. Asks the ledger itself: everything else is behind the gate.
 */
export async function compareChain(
  { context, options, swapper, modules }: ServiceParts,
  { areMintsNamed }: MintOptions,
): Promise<string> {
  const { storage, assets, log } = context;
  const { ledger } = options;
  const genesisHash = await ledger.genesisHash();
  const environment = environmentOf(genesisHash);
  if (options.environment !== undefined && options.environment !== environment) {
    const chain = environment === "live" ? "mainnet" : "another chain than mainnet";
    throw new StartRefused(`environment: the ledger answers for ${chain}, whose keys are "${environment}"`);
  }
  await refuseOtherChain(storage, genesisHash);
  const areConfigured = areMintsNamed || genesisHash === MAINNET_GENESIS;
  await saySingleWitness(ledger, log);
  void sayVersion1(ledger, log);
  await checkMints({ ledger, log }, assets, { areConfigured });
  await swapper?.check(genesisHash);
  for (const module of modules) module.check?.(genesisHash);
  return genesisHash;
}

/** Quotes and health ask again: a start does not wait for an endpoint that hangs. Never rejects. */
async function sayVersion1(ledger: Ledger, log: Logger): Promise<void> {
  const told = await ledger.takesVersion1().then(
    (takesVersion1) => ({ takesVersion1 }),
    (err: unknown) => ({ takesVersion1: null, err }),
  );
  if (told.takesVersion1 === true) return;
  log.info(told, "quotes for transactions of version 1 are refused: no evidence that the chain takes them");
}

async function saySingleWitness(ledger: Ledger, log: Logger): Promise<void> {
  const { needed } = await ledger.witnesses();
  if (needed > 1) return;
  log.info(
    { witnesses: needed },
    "one endpoint's word decides what is believed of the chain: configure two or more, of different providers",
  );
}
