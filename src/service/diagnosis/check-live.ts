/** Checks before a service goes live: what a program can see of the page `examples/deploy/README.md`. */
import { isIP } from "node:net";
import { parseAmount } from "../../core/amount.ts";
import { MAINNET_GENESIS } from "../../payments/frame/assets/assets.ts";
import type { LimitEntry } from "../../payments/operator/gates/limiting.ts";
import type { PurseBody } from "../../payments/frame/purses/purses.ts";
import type { DiagnosedFacts } from "./facts.ts";
import type { Health } from "../read-health.ts";
import { fine, warning, wrong, type DiagnosisFinding } from "./finding.ts";

/** Facts of the service, and the database that a person has named. */
export interface LiveFacts extends DiagnosedFacts, Pick<Health, "witnesses"> {
  readonly limits: readonly LimitEntry[];
  /** Null while the chain cannot be read. */
  readonly purses: readonly PurseBody[] | null;
  /** The kind of database that was named, whose folder was looked through if it is a file; null where none was. */
  readonly database: "file" | "postgres" | null;
}

/** One thing to be ready. */
interface LiveCheck {
  readonly check: string;
  readonly ready: string;
  /** The fault of a point, null if it is ready. */
  readonly unready: (facts: LiveFacts) => string | null;
  readonly todo: string;
  /** Whether the service refuses to start like this. */
  readonly isRefused?: (facts: LiveFacts) => boolean;
}

const CHECKS: readonly LiveCheck[] = [
  {
    check: "two witnesses",
    ready: "two or more endpoints agree before anything final is believed",
    unready: tooFewWitnesses,
    todo: 'add an endpoint of another provider with "witness" in its roles, and let two agree (`witnesses`)',
  },
  {
    check: "providers",
    ready: "each witness has a provider of its own",
    unready: sharedProviders,
    todo: 'one provider is one witness: take an endpoint of another one, or leave "witness" out of its roles',
  },
  {
    check: "rate limits",
    ready: "each endpoint has those of its provider",
    unready: withoutRates,
    todo: "write down what the provider sells: else its 429 is the only word about it",
  },
  {
    check: "fees",
    ready: "bids have a floor that counts, and room to rise",
    unready: narrowBids,
    todo: "see `solanaLedger({ fees })`: its defaults have both",
  },
  {
    check: "prices",
    ready: "are none that mainnet refuses",
    unready: ({ settings }) => settings.priceFault,
    todo: "give a source that asks the market, within `priceBounds`",
    isRefused: ({ genesisHash, endpoints }) =>
      [genesisHash, ...endpoints.map((each) => each.genesisHash)].includes(MAINNET_GENESIS),
  },
  {
    check: "screening",
    ready: "`screen` is asked, or private mode is off",
    unready: ({ settings: { privateMode } }) =>
      privateMode?.isScreened === false ? "private mode serves everybody" : null,
    todo: "set `privateRouting.screen` to ask whom you must ask",
  },
  {
    check: "limits",
    ready: "each asset has one for all accounts",
    unready: withoutLimit,
    todo: "`paystate operator limit --asset ASSET --per-transaction AMOUNT --per-day AMOUNT`",
  },
  {
    check: "sponsor's day",
    ready: "has a limit, or private mode is off",
    unready: ({ settings: { privateMode } }) =>
      privateMode?.hasDailyLimit === false ? "the sponsor may spend all it has in a day" : null,
    todo: "set `privateRouting.maxSponsorSpendPerDay`",
  },
  {
    check: "desk's day",
    ready: "has a limit, or there is no desk",
    unready: ({ settings: { unlimitedSwaps } }) =>
      unlimitedSwaps.length === 0 ? null : `the desk may give all its ${unlimitedSwaps.join(", ")} in a day`,
    todo: "set `deskProvider({ maxGivenPerDay })`",
  },
  {
    check: "purses' day",
    ready: "each purse holds what the last day took",
    unready: shortPurses,
    todo: "send there what a day needs, and no more",
  },
  {
    check: "two people",
    ready: "confirm what moves money by hand",
    unready: ({ settings }) =>
      settings.approvals === 2 ? null : "one person alone may send held money elsewhere",
    todo: "set `approvals: 2`",
  },
  {
    check: "retention",
    ready: "what is old goes, and is archived before",
    unready: ({ settings: { removesOld, archives } }) =>
      removesOld ? (archives ? null : "what is old goes without an archive") : "everything is kept for good",
    todo: "set `keep` and `archive` as the law of your books wants it",
  },
  {
    check: "master secret's place",
    ready: "no file was found beside the database that holds it",
    unready: ({ secretBeside, database }) => {
      if (secretBeside !== null) return `${secretBeside}, in the folder of the database, holds it`;
      return database === null ? "was not looked for, since no --database was named" : null;
    },
    todo: "keep it where neither the database nor its backups are, in two places",
  },
];

/** A finding for each thing that a program can check, in the order of the page. */
export function checkLive(facts: LiveFacts): readonly DiagnosisFinding[] {
  return CHECKS.map(({ check, ready, unready, todo, isRefused }) => {
    const found = unready(facts);
    if (found === null) return fine(check, ready);
    return (isRefused?.(facts) === true ? wrong : warning)(check, { found, todo });
  });
}

function tooFewWitnesses({ endpoints, witnesses }: LiveFacts): string | null {
  const count = endpoints.filter(({ roles }) => roles.includes("witness")).length;
  if (count < 2) return `the word of ${count} ${count === 1 ? "endpoint" : "endpoints"} is believed`;
  return witnesses !== null && witnesses.needed < 2 ? "one of the witnesses alone is believed" : null;
}

/** One provider behind two URLs is one witness. */
function sharedProviders({ endpoints }: Pick<DiagnosedFacts, "endpoints">): string | null {
  const byProvider = new Map<string, string[]>();
  for (const { endpoint, roles } of endpoints) {
    if (!roles.includes("witness")) continue;
    const provider = providerOf(endpoint);
    byProvider.set(provider, [...(byProvider.get(provider) ?? []), endpoint]);
  }
  const shared = [...byProvider].filter(([, witnesses]) => witnesses.length > 1);
  if (shared.length === 0) return null;
  return shared.map(([provider, witnesses]) => `${witnesses.join(" and ")} are of ${provider}`).join("; ");
}

/** The end of a host's name that a provider has registered, as far as its last two words tell. */
function providerOf(endpoint: string): string {
  const host = endpoint.replace(/#\d+$/, "");
  return isIP(host.replace(/^\[|\]$/g, "")) > 0 ? host : host.split(".").slice(-2).join(".");
}

/** A relay that takes broadcasts alone needs no limit of reads. */
function withoutRates({ endpoints }: LiveFacts): string | null {
  const lacking = endpoints.flatMap(({ endpoint, roles, requestsPerSecond, sendsPerSecond }) => {
    const isRead = roles.some((role) => role !== "send");
    const missing = [
      ...(isRead && requestsPerSecond === null ? ["requestsPerSecond"] : []),
      ...(roles.includes("send") && sendsPerSecond === null ? ["sendsPerSecond"] : []),
    ];
    return missing.length === 0 ? [] : [`${endpoint} has no ${missing.join(" and no ")}`];
  });
  return lacking.length === 0 ? null : lacking.join("; ");
}

/** Under this, in millionths of a lamport per compute unit, a market drops what waits. */
const LEAST_FLOOR = 1_000;

/** A bid is raised fourfold. */
const RAISE = 4;

/** The most compute units of a transaction, in millions: what a floor in millionths of a lamport is charged for. */
const MOST_MILLION_UNITS = 1.4;

function narrowBids({ settings: { bids } }: LiveFacts): string | null {
  const { floor, ceiling } = bids;
  if (floor === null) return null;
  if (floor < LEAST_FLOOR) return `the floor is ${floor} millionths of a lamport a unit`;
  const least = Math.ceil(floor * MOST_MILLION_UNITS) * RAISE;
  if (ceiling >= least) return null;
  return `the ceiling of ${ceiling} lamports is reached before the floor of ${floor} was raised once`;
}

/** A limit of one account leaves the others without. */
function withoutLimit({ settings: { assets }, limits }: LiveFacts): string | null {
  const limited = new Set(
    limits.filter(({ accountId }) => accountId === undefined).map(({ asset }) => asset),
  );
  const without = assets.filter((asset) => !limited.has(asset));
  return without.length === 0 ? null : `none for ${without.join(", ")}`;
}

/** The most decimals of an asset of the service. */
const DECIMALS = 9;

function shortPurses({ purses }: LiveFacts): string | null {
  if (purses === null) return "the purses cannot be read";
  const short = purses.filter(({ balance, reserved, spentInADay }) => {
    const units = [balance, reserved, spentInADay].map(unitsOf);
    const [has = 0n, promised = 0n, spent = 0n] = units;
    return has < promised + spent;
  });
  const unmade = purses.filter(
    ({ purse, asset, balance }) => purse === "treasury" && asset === "SOL" && unitsOf(balance) === 0n,
  );
  const told = [
    ...short.map(
      ({ purse, asset, spentInADay, address }) =>
        `the ${purse} has less than the ${spentInADay} ${asset} of the last day free (${address})`,
    ),
    ...unmade.map(({ address }) => `the treasury is no wallet yet: it has no SOL (${address})`),
  ];
  return told.length === 0 ? null : told.join("; ");
}

/** Zero reads as no amount. */
function unitsOf(amount: string): bigint {
  const read = parseAmount(amount, DECIMALS);
  return "amount" in read ? read.amount : 0n;
}
