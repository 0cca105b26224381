/** Checks a service: its chain and endpoints, its secrets and purses, and whether its stored work gets done. */
import type { DiagnosedFacts } from "./facts.ts";
import { fine, warning, wrong, type DiagnosisFinding } from "./finding.ts";
import { type EndpointStatus, LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Health } from "../read-health.ts";
import type { MasterSecretStatus } from "../../payments/frame/secrets/bind-database.ts";
import type { PurseCommands, PurseBody } from "../../payments/frame/purses/purses.ts";
import { OVERDUE_MS } from "../../payments/frame/overdue.ts";
import { isPaymentError } from "../../errors/errors.ts";

/** The chain in the database and at the endpoints. */
type ChainDiagnosis = Pick<DiagnosedFacts, "genesisHash" | "endpoints">;

/** Checks that the database belongs to the chain that the endpoints serve. */
export function checkChain({ genesisHash, endpoints }: ChainDiagnosis): DiagnosisFinding {
  const told = [...new Set(endpoints.map((each) => each.genesisHash).filter((hash) => hash !== null))];
  const [chain, another] = told;
  if (chain === undefined) {
    const found = genesisHash === null ? "no endpoint tells one" : `the database belongs to ${genesisHash}`;
    return wrong("chain", { found, todo: "no endpoint answers for its chain: see the endpoints" });
  }
  if (genesisHash === null) {
    return warning("chain", {
      found: `the database belongs to no chain yet, the endpoints serve ${told.join(" and ")}`,
      todo: "the first start binds it: make sure that this is the chain you mean",
    });
  }
  if (another === undefined && chain === genesisHash) {
    return fine("chain", `database and endpoints agree on ${genesisHash}`);
  }
  return wrong("chain", {
    found: `the database belongs to ${genesisHash}, the endpoints serve ${told.join(" and ")}`,
    todo: "use the endpoints of the database's chain, or another database for this chain",
  });
}

/** A finding for each endpoint, in the order configured. */
export function checkEndpoints({ genesisHash, endpoints }: ChainDiagnosis): readonly DiagnosisFinding[] {
  const chain = genesisHash ?? endpoints.find((each) => each.genesisHash !== null)?.genesisHash ?? null;
  const isMeant = (each: EndpointStatus): boolean => each.slot !== null && each.genesisHash === chain;
  const newest = Math.max(0, ...endpoints.filter(isMeant).map(({ slot }) => slot ?? 0));
  const isAnyWell = endpoints.some(isMeant);
  return endpoints.map((endpoint) => {
    const check = `endpoint ${endpoint.endpoint}`;
    const isAsked = endpoint.roles.some((role) => role !== "send");
    if (!isAsked) return fine(check, "takes broadcasts, and is not asked");
    if (endpoint.genesisHash !== null && endpoint.genesisHash !== chain) {
      return wrong(check, {
        found: `serves another chain, ${endpoint.genesisHash}`,
        todo: "remove it from `endpoints`, or name that of the other chain",
      });
    }
    if (endpoint.slot === null) {
      const found = `does not answer: ${endpoint.trouble?.message ?? "no answer"}`;
      const todo = "look at its URL, its API key and its provider";
      return (isAnyWell ? warning : wrong)(check, { found, todo });
    }
    return checkPace(check, endpoint.slot, newest);
  });
}

/** The ledger asks what is further behind after the others. */
const MAX_SLOTS_BEHIND = 50;

function checkPace(check: string, slot: number, newest: number): DiagnosisFinding {
  const behind = newest - slot;
  const found = behind === 0 ? `answers, slot ${slot}` : `answers, slot ${slot}, ${behind} behind the newest`;
  if (behind <= MAX_SLOTS_BEHIND) return fine(check, found);
  return warning(check, { found, todo: "it is asked after the others: tell its provider, or replace it" });
}

/** Checks that enough endpoints answer to believe final facts. */
export function checkWitnesses({ witnesses }: Pick<Health, "witnesses">): DiagnosisFinding {
  if (witnesses === null) {
    return wrong("witnesses", { found: "cannot be counted", todo: "no endpoint answers: see the endpoints" });
  }
  const { needed, answering, loweredUntil } = witnesses;
  const found = `${answering} answer, ${needed} must agree`;
  if (answering < needed) {
    return wrong("witnesses", {
      found,
      todo: "nothing completes or fails meanwhile: bring endpoints back, or see `paystate operator witnesses --lower`",
    });
  }
  if (loweredUntil === undefined) return fine("witnesses", found);
  return warning("witnesses", {
    found: `${found}, lowered until ${loweredUntil}`,
    todo: "end that with `paystate operator witnesses --restore` once the endpoints are back",
  });
}

const MAX_SKEW_MS = 5_000;

/**
 * Uses the newest block that any endpoint of the database's chain knows: an older block only tells an earlier time.
 */
export function checkClock({ genesisHash, endpoints }: ChainDiagnosis): DiagnosisFinding {
  const [newest] = endpoints
    .filter((each) => genesisHash === null || each.genesisHash === genesisHash)
    .flatMap(({ slot, blockTime, readAt }) =>
      slot === null || blockTime === null ? [] : [{ slot, skewMs: readAt - blockTime }],
    )
    .toSorted((one, other) => other.slot - one.slot);
  if (newest === undefined) {
    return warning("clock", {
      found: "cannot be compared",
      todo: "no endpoint tells the time of its newest block",
    });
  }
  const { skewMs } = newest;
  const found = `${Math.abs(skewMs / 1_000).toFixed(1)} s ${skewMs < 0 ? "behind" : "after"} the newest block`;
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return fine("clock", found);
  return warning("clock", {
    found,
    todo: "synchronise this machine's clock (NTP); if it is right, the chain has stopped",
  });
}

/** A finding for each version of the master secret. */
export function checkMasterSecrets({
  masterSecrets,
}: Pick<DiagnosedFacts, "masterSecrets">): readonly DiagnosisFinding[] {
  return masterSecrets.map(checkMasterSecret);
}

function checkMasterSecret({ version, standing }: MasterSecretStatus): DiagnosisFinding {
  const check = `master secret ${version}`;
  switch (standing) {
    case "same":
      return fine(check, "is the one that the database was written with");
    case "unused":
      return warning(check, {
        found: "is new to this database",
        todo: "the next start writes its check value down: keep the secret for as long as the database",
      });
    case "another":
      return wrong(check, {
        found: "is not the one that the database was written with",
        todo: "restore that one, or give the new one under a new version",
      });
  }
}

/** The purses; null while too few endpoints answer, or rent is dearer than private mode may pay. */
export async function readPurses(operator: PurseCommands): Promise<readonly PurseBody[] | null> {
  try {
    return await operator.purses();
  } catch (error) {
    if (error instanceof LedgerUnavailable || isPaymentError(error, "ROUTING_UNAVAILABLE")) return null;
    throw error;
  }
}

/** One finding for each purse and asset; no finding when private mode and swaps are off. */
export function checkPurses(purses: readonly PurseBody[] | null): readonly DiagnosisFinding[] {
  if (purses !== null) return purses.map(checkPurse);
  return [
    warning("purses", {
      found: "cannot be read",
      todo: "too few endpoints answer, or rent is dearer than maxRentPerByte: see the endpoints",
    }),
  ];
}

function checkPurse({
  purse,
  address,
  asset,
  balance,
  reserved,
  lowBelow,
  isLow,
}: PurseBody): DiagnosisFinding {
  const check = `${purse} ${asset}`;
  const found = `${balance} ${asset}, ${reserved} of it promised`;
  if (!isLow) return fine(check, found);
  return warning(check, {
    found: `${found}: less than ${lowBelow ?? "0"} is free`,
    todo: `send ${asset} to ${address}`,
  });
}

/** The part of the health report about the database. */
export type WorkHealth = Pick<
  Health,
  "storage" | "overdueMs" | "deadLetters" | "failingTasks" | "unknownInstances" | "unprovable" | "attention"
>;

/** A finding for each kind of trouble. */
export function checkWork(work: WorkHealth): readonly DiagnosisFinding[] {
  if (work.storage !== "ok") {
    return [
      wrong("storage", {
        found: `cannot be used: ${work.storage}`,
        todo: "is the database there, and its disk or server?",
      }),
    ];
  }
  const { deadLetters, failingTasks, unknownInstances, unprovable, attention } = work;
  return [
    checkOverdue(work.overdueMs),
    count("dead letters", deadLetters, {
      complain: wrong,
      todo: "`paystate operator attention` lists them, `paystate operator resolve` retries or drops them",
    }),
    count("failing tasks", failingTasks, {
      complain: warning,
      todo: "they are tried again and again: `paystate instance list --failing` shows why they fail",
    }),
    count("unknown instances", unknownInstances, {
      complain: warning,
      todo: "no chart of this service runs them: start the version that began them",
    }),
    count("unprovable transactions", unprovable, {
      complain: warning,
      todo: "add an endpoint with the whole history, or see `paystate operator attention`",
    }),
    count("matters for a person", attention, {
      complain: warning,
      todo: "see `paystate operator attention`",
    }),
  ];
}

function checkOverdue(overdueMs: number): DiagnosisFinding {
  if (overdueMs <= OVERDUE_MS) return fine("work due", "nothing waits");
  return wrong("work due", {
    found: `has waited for ${Math.round(overdueMs / 1_000)} s`,
    todo: "no process does it: start the service, or look at the one that runs",
  });
}

/** Words for a kind of trouble. */
interface Trouble {
  readonly complain: typeof warning;
  readonly todo: string;
}

function count(check: string, number: number, { complain, todo }: Trouble): DiagnosisFinding {
  return number === 0 ? fine(check, "none") : complain(check, { found: String(number), todo });
}
