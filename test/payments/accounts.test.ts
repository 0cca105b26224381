/** Keys in use: when they were last used, where they may be used from, and how one takes the place of another. */
import { expect, test } from "vitest";
import type { CommitAnswer } from "../../storage/storage.ts";
import { sha256Hex } from "../../src/payments/frame/ids.ts";
import { KeyRefused, StoredApiKeys, type IssueKey } from "../../src/payments/frame/accounts/api-keys.ts";
import { KeyChecksums } from "../../src/payments/frame/secrets/key-checksums.ts";
import { createSecretBox } from "../../src/payments/frame/secrets/secret-box.ts";
import { silentLogger, systemRandom } from "../../src/core/runtime.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { memoryStorage } from "../kit/storages.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const REFUSED = { code: "INVALID_API_KEY", details: {} };

async function keysOnMemory() {
  const masterSecrets = [TEST_MASTER_SECRET];
  const sealing = createSecretBox(masterSecrets, systemRandom);
  const storage = await memoryStorage();
  const clock = virtualClock();
  let commits = 0;
  let broken = false;
  let meanwhile: (() => Promise<void>) | null = null;
  const counting: typeof storage = {
    ...storage,
    async commit(items): Promise<readonly CommitAnswer[]> {
      commits += 1;
      if (broken) throw new Error("the disk is full");
      const overtaking = meanwhile;
      meanwhile = null;
      await overtaking?.();
      return storage.commit(items);
    },
  };
  const keys = new StoredApiKeys({
    storage: counting,
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
  const { accountId } = await keys.createAccount({ name: "a", tier: "free" });
  return {
    keys,
    clock,
    accountId,
    issue: (more: Partial<IssueKey> = {}) => keys.issueKey({ accountId, environment: "test", ...more }),
    listed: async (id: string) => (await keys.listKeys(accountId)).find((key) => key.id === id),
    commits: () => commits,
    /** Done once, before the next commit is made. */
    beforeCommit: (act: () => Promise<void>) => {
      meanwhile = act;
    },
    breakDisk: () => {
      broken = true;
    },
  };
}

test("the last use of a key is noted at most once a minute, and what is refused is no use", async () => {
  const { keys, clock, issue, listed, commits } = await keysOnMemory();
  const { key, keyId } = await issue();
  expect((await listed(keyId))?.lastUsedAt).toBeNull();
  const before = commits();
  const first = clock.now();
  for (let n = 0; n < 60; n++) {
    await keys.authenticate(`Bearer ${key}`);
    clock.advance(999);
  }
  expect([commits() - before, (await listed(keyId))?.lastUsedAt]).toEqual([1, first]);
  clock.advance(60);
  await Promise.all([1, 2, 3].map(async () => keys.authenticate(`Bearer ${key}`)));
  await expect.poll(async () => (await listed(keyId))?.lastUsedAt).toBe(clock.now());
  expect(commits() - before).toBe(2);

  const bound = await issue({ allowedAddresses: ["203.0.113.7"] });
  await expect(keys.authenticate(`Bearer ${bound.key}`, "203.0.113.8")).rejects.toMatchObject(REFUSED);
  expect((await listed(bound.keyId))?.lastUsedAt).toBeNull();
});

test("a request does not fail, nor wait, because its use cannot be noted", async () => {
  const { keys, accountId, issue, listed, breakDisk } = await keysOnMemory();
  const { key, keyId } = await issue();
  breakDisk();
  expect((await keys.authenticate(`Bearer ${key}`)).accountId).toBe(accountId);
  expect((await keys.authenticate(`Bearer ${key}`)).accountId).toBe(accountId);
  expect((await listed(keyId))?.lastUsedAt).toBeNull();
});

test("H17: a key is refused from an address that it does not allow, as an unknown key is; an unknown address is none", async () => {
  const { keys, accountId, issue } = await keysOnMemory();
  const { key } = await issue({ allowedAddresses: ["203.0.113.0/24", "2001:db8:1::/48", "198.51.100.7"] });
  const good = [
    "203.0.113.255",
    "::ffff:203.0.113.1",
    "2001:db8:1:ffff::1",
    "198.51.100.7",
    "::ffff:c633:6407",
  ];
  for (const address of good) {
    expect((await keys.authenticate(`Bearer ${key}`, address)).accountId, address).toBe(accountId);
  }
  const bad = [
    "203.0.114.0",
    "198.51.100.8",
    "2001:db8:2::1",
    "::1",
    "",
    "203.0.113.1, 10.0.0.1",
    "localhost",
  ];
  for (const address of [...bad, null, undefined]) {
    await expect(keys.authenticate(`Bearer ${key}`, address), String(address)).rejects.toMatchObject(REFUSED);
  }
});

test("addresses that are none are named when a key is issued", async () => {
  const { issue } = await keysOnMemory();
  for (const [address, sentence] of [
    ["10.0.0.0/33", /allowedAddresses: 10\.0\.0\.0\/33: expected an address or a network/],
    ["pay.example", /allowedAddresses: pay\.example/],
    ["fe80::1%eth0", /allowedAddresses: fe80/],
  ] as const) {
    await expect(issue({ allowedAddresses: ["10.0.0.1", address] })).rejects.toThrow(sentence);
  }
  await expect(issue({ allowedAddresses: [] })).rejects.toThrow(/leave it out for any address/);
  const many = Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`);
  await expect(issue({ allowedAddresses: many })).rejects.toThrow(/101 of them: expected at most 100/);
});

test("a rotated key works for its overlap beside the one that replaces it, which can do as much and no more", async () => {
  const { keys, clock, accountId, issue, listed } = await keysOnMemory();
  const bound = { scopes: ["tokens:read"], allowedAddresses: ["203.0.113.7"] } as const;
  const old = await issue({ ...bound, expiresAt: clock.now() + 30 * DAY });
  clock.advance(20 * DAY);
  const next = await keys.rotateKey(old.keyId, { overlapMs: 2 * HOUR });
  expect(next).toMatchObject({ replaces: old.keyId, previousUntil: clock.now() + 2 * HOUR });
  expect(await listed(next.keyId)).toMatchObject({
    accountId,
    replaces: old.keyId,
    ...bound,
    expiresAt: clock.now() + 30 * DAY,
  });
  const opens = async ({ key }: { readonly key: string }): Promise<boolean> =>
    keys.authenticate(`Bearer ${key}`, "203.0.113.7").then(
      () => true,
      () => false,
    );
  clock.advance(2 * HOUR - 1);
  expect([await opens(old), await opens(next)]).toEqual([true, true]);
  await expect(keys.authenticate(`Bearer ${next.key}`, "203.0.113.8")).rejects.toMatchObject(REFUSED);
  clock.advance(1);
  expect([await opens(old), await opens(next)]).toEqual([false, true]);
});

test("a rotation never lengthens the life of the key before, and no overlap ends it at once", async () => {
  const { keys, clock, issue, listed } = await keysOnMemory();
  const short = await issue({ expiresAt: clock.now() + HOUR });
  expect((await keys.rotateKey(short.keyId)).previousUntil).toBe(clock.now() + HOUR);
  const leaked = await issue();
  const next = await keys.rotateKey(leaked.keyId, { overlapMs: 0 });
  await expect(keys.authenticate(`Bearer ${leaked.key}`)).rejects.toMatchObject(REFUSED);
  expect((await listed(next.keyId))?.expiresAt).toBeNull();
});

test("of two rotations at once one is made; what has ended, is unknown or was replaced is refused, and nothing is issued", async () => {
  const { keys, accountId, issue, listed } = await keysOnMemory();
  const { keyId } = await issue();
  const both = await Promise.allSettled([
    keys.rotateKey(keyId, { overlapMs: HOUR }),
    keys.rotateKey(keyId, { overlapMs: 5 * HOUR }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await keys.listKeys(accountId)).toHaveLength(2);
  const ends = (await listed(keyId))?.expiresAt;
  await expect(keys.rotateKey(keyId)).rejects.toThrow(/was replaced before: rotate the key that replaces it/);
  expect((await listed(keyId))?.expiresAt).toBe(ends);

  const revoked = await issue();
  await keys.revokeKey(revoked.keyId);
  await expect(keys.rotateKey(revoked.keyId)).rejects.toThrow(/has ended: issue a new one/);
  await expect(keys.rotateKey("none")).rejects.toThrow(KeyRefused);
  await expect(keys.rotateKey(keyId, { overlapMs: 91 * DAY })).rejects.toThrow(
    /overlapMs: expected whole milliseconds/,
  );
  expect(await keys.listKeys(accountId)).toHaveLength(3);
});

test("a key that is revoked while it is rotated gets no successor", async () => {
  const { keys, accountId, issue, listed, beforeCommit } = await keysOnMemory();
  const { keyId } = await issue();
  beforeCommit(() => keys.revokeKey(keyId));
  await expect(keys.rotateKey(keyId)).rejects.toThrow(/has ended: issue a new one/);
  expect(await keys.listKeys(accountId)).toHaveLength(1);
  expect((await listed(keyId))?.revokedAt).not.toBeNull();
});

test("a key that is used while it is rotated is rotated all the same", async () => {
  const { keys, accountId, issue, beforeCommit } = await keysOnMemory();
  const { key, keyId } = await issue();
  beforeCommit(async () => void (await keys.authenticate(`Bearer ${key}`)));
  expect((await keys.rotateKey(keyId)).replaces).toBe(keyId);
  expect(await keys.listKeys(accountId)).toHaveLength(2);
});

test("a right id with a checksum that anybody can compute and another secret is refused as an unknown key", async () => {
  const { keys, issue } = await keysOnMemory();
  const { keyId } = await issue();
  const body = `ps_test_${keyId}_${"0".repeat(64)}`;
  const forged = `${body}_${sha256Hex(body).slice(0, 8)}`;
  await expect(keys.authenticate(`Bearer ${forged}`)).rejects.toMatchObject(REFUSED);
});
