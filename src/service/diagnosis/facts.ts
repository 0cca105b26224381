/** Facts of a service without its secrets: its database, endpoints, and the settings that matter for real money. */
import type { EndpointStatus } from "../../ledger/ledger.ts";
import { MAINNET_GENESIS } from "../../payments/frame/assets/assets.ts";
import { refuseFixedPrices } from "../../payments/frame/prices/prices.ts";
import {
  readBinding,
  StartRefused,
  type DatabaseBinding,
} from "../../payments/frame/secrets/bind-database.ts";
import type { ModuleDiagnosis } from "../../payments/modules.ts";
import type { ServiceParts } from "../service-parts.ts";
import { fileWithSecret } from "./secret-beside.ts";

/** The binding of the database, the status of each endpoint, and what modules tell. */
export interface DiagnosedFacts extends DatabaseBinding, ModuleDiagnosis {
  /** Endpoints in the order configured. */
  readonly endpoints: readonly EndpointStatus[];
  /** Points that matter once real money moves. */
  readonly settings: ServiceSettings;
  /** The name of a file beside the database that holds a master secret; null where none was found. */
  readonly secretBeside: string | null;
}

/** The settings that matter once real money moves. */
export interface ServiceSettings {
  readonly approvals: 1 | 2;
  /** Symbols of the assets of this service. */
  readonly assets: readonly string[];
  /** Why the prices are refused on mainnet; null where they are not. */
  readonly priceFault: string | null;
  /** The least bid in millionths of a lamport per compute unit, null where the ledger does not tell; the most in lamports. */
  readonly bids: { readonly floor: number | null; readonly ceiling: number };
  /** Null while private mode is off. */
  readonly privateMode: {
    readonly isScreened: boolean;
    readonly hasDailyLimit: boolean;
  } | null;
  /** Symbols of the assets of which the swap provider may give everything within a day. */
  readonly unlimitedSwaps: readonly string[];
  /** Whether anything of transactions, orders, notices and quotes is removed once it is old. */
  readonly removesOld: boolean;
  /** Whether rows are archived before they are removed. */
  readonly archives: boolean;
}

/** Asks service and endpoints; a database that cannot be read has no binding. */
export async function factsOf(
  parts: ServiceParts,
  { binding, besides }: { readonly binding: boolean; readonly besides: string | undefined },
): Promise<DiagnosedFacts> {
  const { storage } = parts.context;
  const { masterSecrets, ledger } = parts.options;
  const [added, bound, endpoints, settings, secretBeside] = await Promise.all([
    Promise.all(parts.modules.map(async ({ diagnose: ask }) => ask?.())),
    binding ? readBinding(storage, masterSecrets) : { genesisHash: null, masterSecrets: [] },
    ledger.endpoints(),
    settingsOf(parts),
    besides === undefined || !binding ? null : fileWithSecret(besides, masterSecrets),
  ]);
  const modules = Object.assign({}, ...added) as ModuleDiagnosis;
  return { ...bound, ...modules, endpoints, settings, secretBeside };
}

/** Asks no node. */
async function settingsOf({ context, options, swapper }: ServiceParts): Promise<ServiceSettings> {
  const { approvals, ledger, keep, archive } = options;
  return {
    approvals,
    assets: context.assets.tokens.map(({ symbol }) => symbol),
    priceFault: await priceFault({ options, swapper }),
    bids: {
      floor: ledger.bidFloor === undefined ? null : Number(ledger.bidFloor),
      ceiling: Number(ledger.bidCeiling),
    },
    privateMode: null,
    ...privateSettings(options), // modules: private
    unlimitedSwaps: swapper?.unlimited ?? [],
    removesOld: [keep.transactions, keep.private, keep.notices, keep.quotes].some((ms) => ms !== null),
    archives: archive !== undefined,
  };
}

// modules: private
function privateSettings({
  privateRouting,
}: ServiceParts["options"]): Pick<ServiceSettings, "privateMode"> | null {
  if (privateRouting === undefined) return null;
  const { screen, maxSponsorSpendPerDay } = privateRouting;
  return {
    privateMode: { isScreened: screen !== undefined, hasDailyLimit: maxSponsorSpendPerDay !== undefined },
  };
}

async function priceFault(parts: Pick<ServiceParts, "options" | "swapper">): Promise<string | null> {
  try {
    // modules: private
    refuseFixedPrices(MAINNET_GENESIS, parts.options.privateRouting?.prices ?? null, "privateRouting.prices");
    await parts.swapper?.check(MAINNET_GENESIS);
    return null;
  } catch (error) {
    if (error instanceof StartRefused) return error.message;
    throw error;
  }
}
