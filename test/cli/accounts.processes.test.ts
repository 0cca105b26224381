/** Accounts and keys on the command line, straight on a database file. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StoredApiKeys, type IssuedKey } from "../../src/payments/frame/accounts/api-keys.ts";
import { MAINNET_GENESIS } from "../../src/payments/frame/assets/assets.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { silentLogger, systemClock, systemRandom } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { leaveNothing, newDataFolder, runCommand, type Ended } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";

let file: string;

beforeAll(async () => {
  const folder = await newDataFolder();
  await mkdir(folder);
  file = join(folder, "payments.db");
  await (await sqliteStorage(file)).close();
});
afterAll(leaveNothing);

const on = (...args: string[]): Promise<Ended> => runCommand([...args, "--database", file]);
const bindTo = async (value: string): Promise<void> => {
  const storage = await sqliteStorage(file);
  await storage.commit([{ writes: [{ table: "facts", insert: { id: "genesisHash", value } }] }]);
  await storage.close();
};
/** Who a service on this database takes the key for. */
const authenticated = async (key: string, address: string | null = null): Promise<Caller> => {
  const storage = await sqliteStorage(file);
  const keys = new StoredApiKeys({
    storage,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    environment: () => Promise.resolve("live"),
    checksums: null,
  });
  try {
    return await keys.authenticate(`Bearer ${key}`, address);
  } finally {
    await storage.close();
  }
};

test("an account is opened, its key is shown once and opens the service, is listed without its secret, and is revoked", async () => {
  const opened = await on("account", "create", "Shop & Sons", "--tier", "pro");
  expect(opened).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/^acct_\w+\n$/) as string,
  });
  const accountId = opened.stdout.trim();
  expect((await on("account", "list")).stdout).toMatch(
    new RegExp(`^account +tier +created +name\\n${accountId} +pro +\\S+ +Shop & Sons\\n$`),
  );
  expect((await on("key", "list", accountId)).stdout).toBe("There are no keys.\n");

  // Which keys are right is known once the database belongs to a chain.
  expect(await on("key", "create", accountId)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "paystate: this database belongs to no chain yet: start the service on it once, then make keys\n",
  });
  await bindTo(MAINNET_GENESIS);
  const made = await on(
    "key",
    "create",
    accountId,
    "--scopes",
    "tokens:read,quotes:write",
    "--expires-in",
    "30",
  );
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const [, keyId = "", key = ""] = /^Key (\w+), shown this once:\n(ps_live_\w+)\n$/.exec(made.stdout) ?? [];
  expect(await authenticated(key)).toEqual({
    accountId,
    tier: "pro",
    scopes: ["tokens:read", "quotes:write"],
  });

  const listed = JSON.parse((await on("key", "list", accountId, "--json")).stdout) as object[];
  expect(listed).toEqual([
    {
      id: keyId,
      accountId,
      environment: "live",
      scopes: ["tokens:read", "quotes:write"],
      allowedAddresses: null,
      replaces: null,
      lastUsedAt: expect.any(Number) as number,
      createdAt: expect.any(Number) as number,
      expiresAt: expect.any(Number) as number,
      revokedAt: null,
    },
  ]);
  const page = (await on("key", "list", accountId)).stdout;
  expect(page).toContain(keyId);
  expect(page).not.toContain(key.split("_")[3]);

  expect((await on("key", "revoke", keyId)).stdout).toBe(
    `${keyId} is revoked: its next request is refused.\n`,
  );
  await expect(authenticated(key)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
  const [revoked] = JSON.parse((await on("key", "list", accountId, "--json")).stdout) as {
    revokedAt: number;
  }[];
  await on("key", "revoke", keyId);
  expect(JSON.parse((await on("key", "list", accountId, "--json")).stdout)).toMatchObject([revoked]);
});

test("a key is made for two addresses, and rotated: its successor has the same, and it works for the overlap", async () => {
  const accountId = (await on("account", "create", "Two doors", "--tier", "free")).stdout.trim();
  const bound = ["--scopes", "tokens:read", "--allow", "203.0.113.0/24,2001:db8::7"];
  const made = JSON.parse((await on("key", "create", accountId, ...bound, "--json")).stdout) as IssuedKey;
  const rotated = await on("key", "rotate", made.keyId, "--overlap", "30m");
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  const [, next = "", key = ""] = /^Key (\w+), shown this once:\n(ps_live_\w+)\n/.exec(rotated.stdout) ?? [];
  expect(rotated.stdout).toContain(`\n${made.keyId} works until 2`);
  for (const each of [made.key, key]) {
    await expect(authenticated(each)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    expect((await authenticated(each, "203.0.113.9")).accountId).toBe(accountId);
  }
  const page = (await on("key", "list", accountId)).stdout.split("\n");
  expect(page[0]).toMatch(/^key +for +created +last used +expires +revoked +from +scopes$/);
  expect(page[2]).toMatch(
    new RegExp(`^${next} +live +\\S+Z +\\S+Z +- +- +203.0.113.0/24,2001:db8::7 +tokens:read$`),
  );
  const again = await on("key", "rotate", made.keyId);
  const sentence = `the key ${made.keyId} was replaced before: rotate the key that replaces it`;
  expect(again).toMatchObject({ code: 1, stdout: "", stderr: `paystate: ${sentence}\n` });
});

test.concurrent.each([
  ["key create acct_none", "there is no account acct_none: paystate account list shows them"],
  ["key list acct_none", "there is no account acct_none: paystate account list shows them"],
  ["key revoke none", "there is no key none: paystate key list ACCOUNT_ID shows them"],
  ["key rotate none", "there is no key none: paystate key list ACCOUNT_ID shows them"],
])("`paystate %s` is refused: %s", async (line, sentence) => {
  const { code, stdout, stderr } = await on(...line.split(" "));
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: `paystate: ${sentence}\n` });
});

test.concurrent.each([
  ["key create a --allow 203.0.113.0/33", /^--allow 203.0.113.0\/33: expected addresses or networks/],
  [
    "key rotate a --overlap 1",
    /^option '--overlap <TIME>' argument '1' is invalid. Expected a time such as 90s, 30m, 24h or 7d, at most 90d/,
  ],
  ["key rotate a --overlap 91d", /^option '--overlap <TIME>' argument '91d' is invalid. Expected a time/],
  ["key rotate", /^missing required argument 'KEY_ID'/],
])("`paystate %s` is refused before the database is opened", async (line, sentence) => {
  expect(await wrongCall(line.split(" "))).toMatch(sentence);
});

test("an unknown scope is refused with those there are, and a mistyped file is not made", async () => {
  const { stderr } = await on("key", "create", "a", "--scopes", "tokens:read,all");
  expect(stderr).toMatch(/^paystate: --scopes all: expected tokens:read or /);
  const nowhere = `${file}.none`;
  const refused = { code: 1, stdout: "" };
  const sentence = `paystate: there is no database ${nowhere}: name one with --database FILE\n`;
  for (let time = 0; time < 2; time++) {
    const asked = await runCommand(["account", "list", "--database", nowhere]);
    expect(asked).toMatchObject({ ...refused, stderr: sentence });
  }
});

test("U12: a control character in a name is refused; what an older version stored is printed by its code", async () => {
  const refused = await on("account", "create", "Shop\u001b[2J", "--tier", "pro");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("name: U+001B is a control character or invisible: leave it out");
  const storage = await sqliteStorage(file);
  const name = "Old\u001b]0;gone\u0007\n\u009b2J\u202eknab";
  const insert = { id: "acct_old", name, tier: "pro", createdAt: 0 } as const;
  await storage.commit([{ writes: [{ table: "accounts", insert }] }]);
  await storage.close();
  const listed = await on("account", "list");
  expect(listed.stdout).toMatch(
    /^acct_old +pro +\S+ +Old\\u001b\]0;gone\\u0007\\u000a\\u009b2J\\u202eknab$/m,
  );
  const { stdout } = await on("account", "list", "--json");
  expect(stdout).toMatch(/^[^\p{Cc}\p{Bidi_Control}]+\n$/u);
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ id: "acct_old", name }));
});
