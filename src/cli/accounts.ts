/** `paystate account` and `paystate key`: who may use the service, straight on its database. */
import {
  KeyRefused,
  StoredApiKeys,
  type ApiKeys,
  type IssuedKey,
  type IssueKey,
  environmentOf,
  type KeyEnvironment,
  type ListedKey,
  type RotatedKey,
} from "../payments/frame/accounts/api-keys.ts";
import { SCOPES, type Scope } from "../payments/frame/accounts/caller.ts";
import { readNetwork } from "../core/networks.ts";
import { type PaymentStorage, paymentStorage } from "../payments/payment-storage.ts";
import type { AccountRecord, Tier } from "../payments/frame/tables/identity.ts";
import { everyRow } from "../payments/frame/tables/read.ts";
import { silentLogger, systemClock, systemRandom } from "../core/runtime.ts";
import { withDatabase, type DatabaseOptions } from "./open-database.ts";
import { type Print, UsageError } from "./command.ts";
import { table } from "../core/table.ts";

const DAY_MS = 86_400_000;
interface Place extends DatabaseOptions {
  readonly json: boolean;
}

/** Acts on the database, and prints the answer for a program, or for a person. */
async function onPayments<Answer>(
  place: Place,
  [act, page]: readonly [(storage: PaymentStorage) => Promise<Answer>, (answer: Answer) => string],
  print: Print,
): Promise<void> {
  await withDatabase(place, async ({ storage }) => {
    const answer = await act(paymentStorage(storage));
    print(place.json ? JSON.stringify(answer) : page(answer));
  });
}

export function createAccount(
  { name, tier, ...place }: Place & { readonly name: string; readonly tier: Tier },
  print: Print,
): Promise<void> {
  const create = (storage: PaymentStorage): Promise<{ readonly accountId: string }> =>
    keysOf(storage).createAccount({ name, tier });
  return onPayments(place, [create, ({ accountId }) => accountId], print);
}

export function listAccounts(place: Place, print: Print): Promise<void> {
  return onPayments(place, [allAccounts, accountsPage], print);
}

/** An account or a key. */
interface Named extends Place {
  readonly id: string;
}

interface KeyOptions extends Named {
  readonly scopes: readonly string[] | undefined;
  readonly allow: readonly string[] | undefined;
  /** In days. */
  readonly expiresIn: number | undefined;
}

export async function createKey(wanted: KeyOptions, print: Print): Promise<void> {
  const { id, expiresIn, allow } = wanted;
  const rights: Pick<IssueKey, "scopes" | "allowedAddresses" | "expiresAt"> = {
    scopes: scopesOf(wanted.scopes),
    ...(allow !== undefined && { allowedAddresses: addressesOf(allow) }),
    ...(expiresIn !== undefined && { expiresAt: systemClock.now() + expiresIn * DAY_MS }),
  };
  const issue = async (storage: PaymentStorage): Promise<IssuedKey> => {
    await knownAccount(storage, id);
    const environment = await storedEnvironment(storage);
    return keysOf(storage).issueKey({ accountId: id, environment, ...rights });
  };
  await onPayments(wanted, [issue, shownOnce], print);
}

export function listKeys({ id, ...place }: Named, print: Print): Promise<void> {
  const list = async (storage: PaymentStorage): Promise<readonly ListedKey[]> =>
    keysOf(storage).listKeys((await knownAccount(storage, id)).id);
  return onPayments(place, [list, keysPage], print);
}

export function rotateKey(
  { id, overlap, ...place }: Named & { readonly overlap: number | undefined },
  print: Print,
): Promise<void> {
  const rotate = async (storage: PaymentStorage): Promise<RotatedKey> => {
    if ((await storage.apiKey(id)) === null) throw unknownKey(id);
    return keysOf(storage).rotateKey(id, overlap === undefined ? {} : { overlapMs: overlap });
  };
  const page = (rotated: RotatedKey): string =>
    `${shownOnce(rotated)}\n${rotated.replaces} works until ${day(rotated.previousUntil)}.`;
  return onPayments(place, [rotate, page], print);
}

export function revokeKey({ id, ...place }: Named, print: Print): Promise<void> {
  const revoke = async (storage: PaymentStorage): Promise<object> => {
    const found = await storage.apiKey(id);
    if (found === null) throw unknownKey(id);
    // A key that was revoked before keeps its time.
    if (found.key.revokedAt === null) await keysOf(storage).revokeKey(id);
    return { keyId: id, revoked: true };
  };
  return onPayments(place, [revoke, () => `${id} is revoked: its next request is refused.`], print);
}

function addressesOf(addresses: readonly string[]): readonly string[] {
  const wrong = addresses.find((address) => readNetwork(address) === null);
  if (wrong === undefined) return addresses;
  throw new UsageError(`--allow ${wrong}: expected addresses or networks, such as 203.0.113.7,2001:db8::/32`);
}

/** The key stands alone in its line, so that it can be copied, and is shown here only. */
function shownOnce({ keyId, key }: IssuedKey): string {
  return `Key ${keyId}, shown this once:\n${key}`;
}

function unknownKey(keyId: string): KeyRefused {
  return new KeyRefused(`there is no key ${keyId}: paystate key list ACCOUNT_ID shows them`);
}

/**
 * API keys for commands. No command authenticates a caller, so keys need no environment. A command lacks the master secrets,
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

function scopesOf(given: readonly string[] = SCOPES): readonly Scope[] {
  const unknown = given.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (unknown === undefined) return given as readonly Scope[];
  throw new UsageError(`--scopes ${unknown}: expected ${SCOPES.join(" or ")}`);
}

async function knownAccount(storage: PaymentStorage, id: string): Promise<AccountRecord> {
  const account = await storage.account(id);
  if (account === null) throw new Error(`there is no account ${id}: paystate account list shows them`);
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
