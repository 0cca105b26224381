/** `paystate accounts` and `paystate keys`: who may use the service, straight on its database. */
import {
  KeyRefused,
  StoredApiKeys,
  type ApiKeys,
  type IssuedKey,
  type IssueKey,
  environmentOf,
  type KeyEnvironment,
  type RotateKeyOptions,
  type ListedKey,
  type RotatedKey,
} from "../payments/frame/accounts/api-keys.ts";
import { SCOPES, type Scope } from "../payments/frame/accounts/caller.ts";
import { readNetwork } from "../core/networks.ts";
import { type PaymentStorage, paymentStorage } from "../payments/payment-storage.ts";
import type { AccountRecord, Tier } from "../payments/frame/tables/identity.ts";
import { everyRow } from "../payments/frame/tables/read.ts";
import { silentLogger, systemClock, systemRandom } from "../core/runtime.ts";
import { TIERS } from "./dev-data.ts";
import { DATABASE_OPTIONS, withDatabase, type DatabaseOptions } from "./open-database.ts";
import { type Print, UsageError } from "./command.ts";
import { duration, oneOf, readArguments, wholeNumber } from "./read-arguments.ts";
import { table } from "./table.ts";

const DAY_MS = 86_400_000;
const EXPIRY_DAYS = { least: 1, most: 3_650 };
const ACTS_ON_ACCOUNTS = ["create", "list"];
const ACTS_ON_KEYS = ["create", "list", "rotate", "revoke"];
/** The kind of id that follows an act on keys. */
const NAMED_ID: Readonly<Record<string, string>> = { revoke: "a key", rotate: "a key" };
const OVERLAP = { unit: "h", most: 90 * DAY_MS } as const;

const onPayments = (place: DatabaseOptions, act: (storage: PaymentStorage) => Promise<void>): Promise<void> =>
  withDatabase(place, ({ storage }) => act(paymentStorage(storage)));

/** `paystate accounts create NAME --tier TIER`, `paystate accounts list`. */
export async function accounts(args: readonly string[], print: Print): Promise<void> {
  const { values, positionals } = readArguments(args, { ...DATABASE_OPTIONS, tier: { type: "string" } });
  const [act, ...rest] = actOf("accounts", positionals, ACTS_ON_ACCOUNTS);
  if (act === "list") {
    atMost("accounts list", rest, 0);
    return onPayments(values, async (storage) => {
      const all = await allAccounts(storage);
      print(values.json ? JSON.stringify(all) : accountsPage(all));
    });
  }
  const [name] = atMost("accounts create", rest, 1);
  if (name === undefined) throw new UsageError("accounts create expects a name");
  const tier = tierOf(values.tier);
  return onPayments(values, async (storage) => {
    const { accountId } = await keysOf(storage).createAccount({ name, tier });
    print(values.json ? JSON.stringify({ accountId }) : accountId);
  });
}

/** `paystate keys create|list ACCOUNT_ID`, `paystate keys rotate|revoke KEY_ID`. */
export async function keys(args: readonly string[], print: Print): Promise<void> {
  const { values, positionals } = readArguments(args, {
    ...DATABASE_OPTIONS,
    scopes: { type: "string" },
    allow: { type: "string" },
    "expires-in": { type: "string" },
    overlap: { type: "string" },
  });
  const [act, ...rest] = actOf("keys", positionals, ACTS_ON_KEYS);
  const [id] = atMost(`keys ${act}`, rest, 1);
  if (id === undefined) {
    throw new UsageError(`keys ${act} expects the id of ${NAMED_ID[act] ?? "an account"}`);
  }
  if (act === "list") {
    return onPayments(values, async (storage) => {
      const all = await keysOf(storage).listKeys((await knownAccount(storage, id)).id);
      print(values.json ? JSON.stringify(all) : keysPage(all));
    });
  }
  if (act === "revoke") {
    return onPayments(values, async (storage) => {
      await revoke(storage, id);
      const said = { keyId: id, revoked: true };
      print(values.json ? JSON.stringify(said) : `${id} is revoked: its next request is refused.`);
    });
  }
  if (act === "rotate") {
    const overlap =
      values.overlap === undefined ? {} : { overlapMs: duration("--overlap", values.overlap, OVERLAP) };
    return onPayments(values, async (storage) => {
      const rotated = await rotate(storage, id, overlap);
      const until = `${rotated.replaces} works until ${day(rotated.previousUntil)}.`;
      print(values.json ? JSON.stringify(rotated) : `${shownOnce(rotated)}\n${until}`);
    });
  }
  const wanted = wantedKey(values);
  return onPayments(values, async (storage) => {
    await knownAccount(storage, id);
    const environment = await storedEnvironment(storage);
    const issued = await keysOf(storage).issueKey({ accountId: id, environment, ...wanted });
    print(values.json ? JSON.stringify(issued) : shownOnce(issued));
  });
}

/** The options of `keys create`. */
interface CreateValues {
  readonly scopes?: string | undefined;
  readonly allow?: string | undefined;
  readonly "expires-in"?: string | undefined;
}

function wantedKey({
  scopes,
  allow,
  "expires-in": days,
}: CreateValues): Pick<IssueKey, "scopes" | "allowedAddresses" | "expiresAt"> {
  return {
    scopes: scopesOf(scopes),
    ...(allow !== undefined && { allowedAddresses: addressesOf(allow) }),
    ...(days !== undefined && {
      expiresAt: systemClock.now() + wholeNumber("--expires-in", days, EXPIRY_DAYS) * DAY_MS,
    }),
  };
}

function addressesOf(text: string): readonly string[] {
  const addresses = text.split(",");
  const wrong = addresses.find((address) => readNetwork(address) === null);
  if (wrong === undefined) return addresses;
  throw new UsageError(`--allow ${wrong}: expected addresses or networks, such as 203.0.113.7,2001:db8::/32`);
}

/** The key stands alone in its line, so that it can be copied, and is shown here only. */
function shownOnce({ keyId, key }: IssuedKey): string {
  return `Key ${keyId}, shown this once:\n${key}`;
}

async function rotate(
  storage: PaymentStorage,
  keyId: string,
  rotation: RotateKeyOptions,
): Promise<RotatedKey> {
  if ((await storage.apiKey(keyId)) === null) throw new KeyRefused(unknownKey(keyId));
  return keysOf(storage).rotateKey(keyId, rotation);
}

function unknownKey(keyId: string): string {
  return `there is no key ${keyId}: paystate keys list ACCOUNT_ID shows them`;
}

async function revoke(storage: PaymentStorage, keyId: string): Promise<void> {
  const found = await storage.apiKey(keyId);
  if (found === null) throw new KeyRefused(unknownKey(keyId));
  // What was revoked before keeps its time.
  if (found.key.revokedAt === null) await keysOf(storage).revokeKey(keyId);
}

/**
 * API keys for commands. No command authenticates a caller, so the keys need no environment, or has the master secrets,
 * so new keys are told from made-up keys by a look-up.
 */
function keysOf(storage: PaymentStorage): Omit<ApiKeys, "authenticate"> {
  return new StoredApiKeys({
    storage,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    environment: () => Promise.resolve(null),
    checksums: null,
  });
}

/** The environment of the chain that the database belongs to. */
async function storedEnvironment(storage: PaymentStorage): Promise<KeyEnvironment> {
  const chain = await storage.fact("genesisHash");
  if (chain !== null) return environmentOf(chain);
  throw new Error("this database belongs to no chain yet: start the service on it once, then make keys");
}

function actOf(
  command: string,
  [act, ...rest]: readonly string[],
  acts: readonly string[],
): readonly [act: string, ...rest: string[]] {
  const expected = `${acts.slice(0, -1).join(", ")} or ${acts.at(-1) ?? ""}`;
  if (act === undefined) throw new UsageError(`${command} expects ${expected}`);
  if (!acts.includes(act)) throw new UsageError(`${command} has no "${act}": expected ${expected}`);
  return [act, ...rest];
}

function atMost(command: string, given: readonly string[], count: number): readonly string[] {
  const more = given[count];
  if (more !== undefined) throw new UsageError(`${command} takes no argument "${more}"`);
  return given;
}

function tierOf(text: string | undefined): Tier {
  oneOf("--tier", text ?? "", TIERS);
  return text as Tier;
}

function scopesOf(text: string | undefined): readonly Scope[] {
  if (text === undefined) return SCOPES;
  const scopes = text.split(",");
  for (const scope of scopes) oneOf("--scopes", scope, SCOPES);
  return scopes as Scope[];
}

async function knownAccount(storage: PaymentStorage, id: string): Promise<AccountRecord> {
  const account = await storage.account(id);
  if (account === null) throw new Error(`there is no account ${id}: paystate accounts list shows them`);
  return account;
}

async function allAccounts(storage: PaymentStorage): Promise<readonly AccountRecord[]> {
  const all: AccountRecord[] = [];
  const rows = everyRow<AccountRecord>((last, limit) => storage.accountsAfter(last?.id ?? "", limit));
  for await (const account of rows) all.push(account);
  return all;
}

const day = (at: number | null): string => (at === null ? "-" : new Date(at).toISOString());

function accountsPage(all: readonly AccountRecord[]): string {
  const rows = all.map(({ id, tier, createdAt, name }) => [id, tier, day(createdAt), name]);
  return table(["account", "tier", "created", "name"], rows, "There are no accounts.");
}

const KEY_HEADINGS = ["key", "for", "created", "last used", "expires", "revoked", "from", "scopes"];

function keysPage(all: readonly ListedKey[]): string {
  const rows = all.map((key) => [
    ...[
      key.id,
      key.environment,
      day(key.createdAt),
      day(key.lastUsedAt),
      day(key.expiresAt),
      day(key.revokedAt),
    ],
    key.allowedAddresses?.join(",") ?? "any",
    key.scopes.length === SCOPES.length ? "all" : key.scopes.join(","),
  ]);
  return table(KEY_HEADINGS, rows, "There are no keys.");
}
