/** What must stay secret: API keys are stored hashed, webhook secrets sealed for one row under one master secret. */
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../kit/storages.ts";
import { silentLogger, systemRandom } from "../../src/core/runtime.ts";
import { InvalidOptions } from "../../src/core/options.ts";
import { commitOne } from "../../storage/decided.ts";
import { StoredApiKeys } from "../../src/payments/frame/accounts/api-keys.ts";
import { bindDatabase } from "../../src/payments/frame/secrets/bind-database.ts";
import { KeyChecksums } from "../../src/payments/frame/secrets/key-checksums.ts";
import { keepingOpened, createSecretBox } from "../../src/payments/frame/secrets/secret-box.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";

const secretOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const place = { table: "webhooks", row: "wh_1", owner: "acct_1" };

describe("API keys", () => {
  const make = async (given?: PaymentStorage) => {
    const storage = given ?? (await memoryStorage());
    const clock = virtualClock();
    const masterSecrets = [{ version: 1, secret: secretOf(1) }];
    const sealing = createSecretBox(masterSecrets, systemRandom);
    const keys = new StoredApiKeys({
      storage,
      clock,
      random: systemRandom,
      log: silentLogger,
      environment: () => Promise.resolve("test"),
      checksums: new KeyChecksums({
        storage,
        clock,
        sealing,
        masterSecrets,
        random: systemRandom,
        log: silentLogger,
      }),
    });
    return { storage, clock, keys };
  };

  test("a key opens its account, and its secret is not stored", async () => {
    const { keys, storage } = await make();
    const { accountId } = await keys.createAccount({ name: "a", tier: "pro" });
    const { key, keyId } = await keys.issueKey({ accountId, environment: "test", scopes: ["tokens:read"] });
    expect(await keys.authenticate(`Bearer ${key}`)).toEqual({
      accountId,
      tier: "pro",
      scopes: ["tokens:read"],
    });
    const [, , , secret = ""] = key.split("_");
    const stored = JSON.stringify(await storage.apiKey(keyId));
    expect(secret).toHaveLength(64);
    expect(stored).not.toContain(secret);
  });

  test("H17: missing, garbled, altered, unknown, revoked, expired and misplaced keys are refused alike", async () => {
    const { keys, clock } = await make();
    const { accountId } = await keys.createAccount({ name: "a", tier: "free" });
    const issue = async (environment: "live" | "test", expiresAt?: number) =>
      keys.issueKey({ accountId, environment, ...(expiresAt === undefined ? {} : { expiresAt }) });
    const { key } = await issue("test");
    const revoked = await issue("test");
    await keys.revokeKey(revoked.keyId);
    const expired = await issue("test", clock.now() + 1_000);
    const live = await issue("live");
    clock.advance(1_000);
    const altered = key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const headers = [null, "", "Bearer", key, `Basic ${key}`, `Bearer ${altered}`, `Bearer ${key} `]
      .concat([revoked.key, expired.key, live.key].map((each) => `Bearer ${each}`))
      .concat(`Bearer ${key.replace("psk_test", "psk_live")}`);
    for (const header of headers) {
      await expect(keys.authenticate(header), String(header)).rejects.toMatchObject({
        code: "INVALID_API_KEY",
        details: {},
      });
    }
    await keys.authenticate(`Bearer ${key}`);
  });

  test("unknown scopes are named when a key is issued", async () => {
    const { keys } = await make();
    const scopes = ["everything"] as never;
    await expect(keys.issueKey({ accountId: "acct_1", environment: "test", scopes })).rejects.toThrow(
      /everything/,
    );
  });

  test("U11: a key that has ended, or comes from elsewhere, is looked up once a minute, from however many addresses", async () => {
    const storage = await memoryStorage();
    let lookups = 0;
    const { keys, clock } = await make({
      ...storage,
      apiKey: (id) => {
        lookups += 1;
        return storage.apiKey(id);
      },
    });
    const { accountId } = await keys.createAccount({ name: "a", tier: "free" });
    const expiresAt = clock.now() + 1_000;
    const bound = { allowedAddresses: ["203.0.113.7"] };
    const expired = await keys.issueKey({ accountId, environment: "test", expiresAt });
    const leaked = await keys.issueKey({ accountId, environment: "test", ...bound });
    clock.advance(1_000);
    for (const { key } of [expired, leaked]) {
      lookups = 0;
      for (let n = 0; n < 100; n++) {
        await expect(keys.authenticate(`Bearer ${key}`, `2001:db8::${n}`)).rejects.toThrow("API key");
      }
      expect(lookups).toBe(1);
      clock.advance(60_000);
      await expect(keys.authenticate(`Bearer ${key}`, null)).rejects.toThrow("API key");
      expect(lookups).toBe(2);
    }
    await keys.authenticate(`Bearer ${leaked.key}`, "203.0.113.7");
  });

  test("a backup without the secret of the checksums is restored under a process that knows the secret: keys issued since work", async () => {
    const storage = await memoryStorage();
    const { keys, clock } = await make(storage);
    const { accountId } = await keys.createAccount({ name: "a", tier: "free" });
    await keys.issueKey({ accountId, environment: "test" });
    const restored = { id: "apiKeyChecksum", set: { value: "" }, table: "facts" } as const;
    const box = createSecretBox([{ version: 1, secret: secretOf(1) }], systemRandom);
    const value = box.seal("ab".repeat(32), { table: "facts", row: "apiKeyChecksum", owner: "" });
    await commitOne(storage, { writes: [{ ...restored, set: { value } }] });
    const other = await (await make(storage)).keys.issueKey({ accountId, environment: "test" });
    const late = (): Promise<unknown> => keys.authenticate(`Bearer ${other.key}`);
    await expect(late()).rejects.toThrow("API key");
    clock.advance(60_000);
    expect(await late()).toMatchObject({ accountId });
    const { key } = await keys.issueKey({ accountId, environment: "test" });
    expect(await (await make(storage)).keys.authenticate(`Bearer ${key}`)).toMatchObject({ accountId });
  });

  test("a key of no environment, account or time is refused with what is right", async () => {
    const { keys } = await make();
    const wrong: readonly [object, string][] = [
      [{ environment: undefined }, "environment: "],
      [{ environment: "prod" }, "environment: "],
      [{ accountId: undefined }, "accountId: "],
      [{ expiresAt: Number.NaN }, "expiresAt: "],
      [{ expiresAt: "2027-01-01" }, "expiresAt: "],
      [{ scopes: "tokens:read" }, "scopes: "],
      [{ allowedAddresses: "203.0.113.7" }, "allowedAddresses: "],
    ];
    for (const [part, said] of wrong) {
      const refused = keys.issueKey({ accountId: "acct_1", environment: "test", ...part });
      await expect(refused).rejects.toThrow(InvalidOptions);
      await expect(refused).rejects.toThrow(said);
    }
  });
});

describe("sealed secrets", () => {
  test("what was sealed opens again, also after the master secret was replaced by a newer version", () => {
    const old = { version: 1, secret: secretOf(1) };
    const sealed = createSecretBox([old], systemRandom).seal("whsec_über", place);
    const rotated = createSecretBox([{ version: 2, secret: secretOf(2) }, old], systemRandom);
    expect(rotated.open(sealed, place)).toBe("whsec_über");
    expect(rotated.seal("x", place)).toMatch(/^2\./);
    expect(sealed).not.toContain("whsec");
  });

  test("altered, moved to another row or owner, or under an unknown master secret it does not open", () => {
    const sealing = createSecretBox([{ version: 1, secret: secretOf(1) }], systemRandom);
    const sealed = sealing.seal("secret", place);
    const bytes = Buffer.from(sealed.slice(2), "base64");
    bytes[14] = (bytes[14] ?? 0) ^ 1;
    expect(() => sealing.open(`1.${bytes.toString("base64")}`, place)).toThrow(/unable to authenticate/i);
    expect(() => sealing.open(sealed, { ...place, row: "wh_2" })).toThrow(/unable to authenticate/i);
    expect(() => sealing.open(sealed, { ...place, owner: "acct_2" })).toThrow(/unable to authenticate/i);
    expect(() => sealing.open(sealed.replace("1.", "9."), place)).toThrow(/master secret 9/);
  });

  test("kept open, each still opens only for its own row and owner, and only what was opened is kept", () => {
    const sealing = createSecretBox([{ version: 1, secret: secretOf(1) }], systemRandom);
    let opened = 0;
    const kept = keepingOpened({
      ...sealing,
      open: (...given) => {
        opened += 1;
        return sealing.open(...given);
      },
    });
    const [one, other] = [kept.seal("one", place), kept.seal("other", place)];
    expect([one, other, one, other].map((sealed) => kept.open(sealed, place))).toEqual([
      "one",
      "other",
      "one",
      "other",
    ]);
    expect(opened).toBe(2);
    expect(() => kept.open(one, { ...place, owner: "acct_2" })).toThrow(/unable to authenticate/i);
    expect(() => kept.open(one, { ...place, row: "wh_2" })).toThrow(/unable to authenticate/i);
    expect(opened).toBe(4);
  });

  test("the same secret is sealed differently each time", () => {
    const sealing = createSecretBox([{ version: 1, secret: secretOf(1) }], systemRandom);
    expect(sealing.seal("secret", place)).not.toBe(sealing.seal("secret", place));
  });
});

describe("a database is bound to its chain and secrets", () => {
  test("E14: another genesis hash or another secret under a known version refuses to start", async () => {
    const storage = await memoryStorage();
    const secrets = [{ version: 1, secret: secretOf(1) }];
    await bindDatabase(storage, "genesis-a", secrets);
    await bindDatabase(storage, "genesis-a", [{ version: 2, secret: secretOf(2) }, ...secrets]);
    await expect(bindDatabase(storage, "genesis-b", secrets)).rejects.toThrow(/genesis hash genesis-a/);
    await expect(bindDatabase(storage, "genesis-a", [{ version: 1, secret: secretOf(9) }])).rejects.toThrow(
      /masterSecrets: version 1/,
    );
  });

  test("two processes that bind a new database at once agree", async () => {
    const storage = await memoryStorage();
    const results = await Promise.allSettled(
      ["genesis-a", "genesis-b"].map((genesis) => bindDatabase(storage, genesis, [])),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });
});
