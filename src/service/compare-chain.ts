/** Compares the options and the database with the chain, and changes nothing. */
import { MAINNET_GENESIS } from "../payments/assets/assets.ts";
import { LedgerUnavailable, type Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../runtime.ts";
import { checkMints } from "../payments/assets/check-mints.ts";
import { refuseOtherChain } from "../payments/secrets/bind-database.ts";
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
  { context, options, swapper, routing }: ServiceParts,
  { areMintsNamed }: MintOptions,
): Promise<string> {
  const { storage, assets, log } = context;
  const { ledger } = options;
  const genesisHash = await ledger.genesisHash();
  await refuseOtherChain(storage, genesisHash);
  const areConfigured = areMintsNamed || genesisHash === MAINNET_GENESIS;
  await saySingleWitness(ledger, log);
  await sayVersion1(ledger, log);
  await checkMints({ ledger, log }, assets, { areConfigured });
  await swapper?.check(genesisHash);
  routing?.check(genesisHash);
  return genesisHash;
}

/** A start does not wait for evidence: quotes that need it ask again. */
async function sayVersion1(ledger: Ledger, log: Logger): Promise<void> {
  const takesVersion1 = await ledger.takesVersion1().catch((error: unknown) => {
    if (error instanceof LedgerUnavailable) return null;
    throw error;
  });
  if (takesVersion1 === true) return;
  log.info(
    { takesVersion1 },
    "quotes for transactions of version 1 are refused: no evidence that the chain takes them",
  );
}

async function saySingleWitness(ledger: Ledger, log: Logger): Promise<void> {
  const { needed } = await ledger.witnesses();
  if (needed > 1) return;
  log.info(
    { witnesses: needed },
    "one endpoint's word decides what is believed of the chain: configure two or more, of different providers",
  );
}
