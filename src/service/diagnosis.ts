/** A diagnosis of a service for a person, and what its options say of real money: no secret is told, nothing changes. */
import type { EndpointStatus } from "../ledger/ledger.ts";
import { readBinding, type DatabaseBinding, StartRefused } from "../payments/frame/secrets/bind-database.ts";
import type { ModuleDiagnosis } from "../payments/modules.ts";
import type { ServiceParts } from "./service-parts.ts";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MasterSecret } from "../payments/frame/secrets/secret-box.ts";
import { MAINNET_GENESIS } from "../payments/frame/assets/assets.ts";
import { checkLive, type LiveFacts } from "./diagnosis/check-live.ts";
import {
  checkChain,
  checkClock,
  checkEndpoints,
  checkMasterSecrets,
  checkPurses,
  checkWitnesses,
  checkWork,
  readPurses,
} from "./diagnosis/check-service.ts";
import { checkEgress } from "./diagnosis/check-egress.ts";
import type { DiagnosisFinding } from "./diagnosis/finding.ts";
import type { Health } from "./read-health.ts";
import { refuseFixedPrices } from "../payments/frame/prices/prices.ts";

/** The binding of the database, the status of each endpoint, and what modules tell. */
export interface DiagnosedFacts extends DatabaseBinding, ModuleDiagnosis {
  /** Endpoints in the order configured. */
  readonly endpoints: readonly EndpointStatus[];
  /** Points that matter once real money moves. */
  readonly settings: ServiceSettings;
  /** The name of a file beside the database that holds a master secret; null where none was found. */
  readonly secretBeside: string | null;
}

/** What a service tells of itself, and what of that is wrong. */
export interface Diagnosis extends DiagnosedFacts {
  /** A finding for each check, in a fixed order. */
  readonly findings: readonly DiagnosisFinding[];
}

/** Where to look besides, and for what. */
export interface DiagnosisQuery {
  /** The folder of the database, whose small files are read for a master secret. Default: no folder is looked at. */
  readonly besides?: string;
  /** The database, as a person has named it: the findings are also of what matters once real money moves. */
  readonly live?: { readonly database: LiveFacts["database"] };
}

/** Rejects where the storage fails between two reads. */
export async function diagnose(
  parts: ServiceParts,
  health: () => Promise<Health>,
  { besides, live }: DiagnosisQuery,
): Promise<Diagnosis> {
  const state = await health();
  const facts = await factsOf(parts, { binding: state.storage === "ok", besides });
  const work = checkWork(state);
  if (state.storage !== "ok") return { ...facts, findings: work };
  const purses = await readPurses(parts.operator);
  const limits = live === undefined ? [] : await parts.operator.limits();
  const findings = [
    checkChain(facts),
    ...checkEndpoints(facts),
    checkWitnesses(state),
    checkClock(facts),
    ...checkMasterSecrets(facts),
    ...checkPurses(purses),
    ...work,
    checkEgress(facts),
    ...(live === undefined
      ? []
      : checkLive({ ...facts, ...live, witnesses: state.witnesses, purses, limits })),
  ];
  return { ...facts, findings };
}

/** Of a database that cannot be read nothing is told. */
async function factsOf(
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
    besides === undefined ? null : fileWithSecret(besides, masterSecrets),
  ]);
  const modules = Object.assign({}, ...added) as ModuleDiagnosis;
  return { ...bound, ...modules, endpoints, settings, secretBeside };
}

/** Files of settings are small; a database is not read. */
const MOST_BYTES = 65_536;

/**
 * The first file of this folder that holds one of the secrets, as bytes or as one of the usual texts of bytes: a stolen
 * folder with database and secret in it opens every deposit address.
 */
async function fileWithSecret(folder: string, secrets: readonly MasterSecret[]): Promise<string | null> {
  const forms = secrets.flatMap(({ secret }) => formsOf(Buffer.from(secret)));
  for (const name of (await readdir(folder)).toSorted()) {
    const bytes = await smallFile(join(folder, name));
    if (bytes !== null && forms.some((form) => bytes.includes(form))) return name;
  }
  return null;
}

function formsOf(secret: Buffer): readonly Buffer[] {
  const hex = secret.toString("hex");
  const base64 = secret.toString("base64").replace(/=+$/, "");
  const texts = [hex, hex.toUpperCase(), base64, secret.toString("base64url"), secret.join(",")];
  return [secret, ...texts.map((text) => Buffer.from(text))];
}

/** Null for what is no file, is large, or may not be read. */
async function smallFile(path: string): Promise<Buffer | null> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= MOST_BYTES ? await readFile(path) : null;
  } catch {
    return null;
  }
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
