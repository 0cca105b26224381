/** What a service tells of itself to a person who looks for a fault: nothing is changed, and no secret is told. */
import { expect } from "vitest";
import type { DiagnosisQuery } from "../../src/service/diagnosis.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { memoryStorage } from "../kit/storages.ts";
import { startConnectProxy } from "../kit/connect-proxy.ts";
import { gone, lyingAbout, oddEndpoint } from "../kit/odd-endpoints.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { privateTest as test } from "../kit/private-test.ts";

test("a service that never started tells its endpoints, and binds its database to nothing", async ({
  world,
}) => {
  const storage = await memoryStorage();
  const service = world.another({ storage });
  const { endpoints, ...told } = await service.diagnose();
  expect(told).toMatchObject({
    genesisHash: null,
    egress: null, // modules: webhooks
    masterSecrets: [{ version: 1, standing: "unused" }],
  });
  expect(endpoints).toMatchObject([{ genesisHash: world.chain.genesisHash, trouble: null }]);
  expect(await storage.fact("genesisHash")).toBeNull();
  expect(await storage.fact("masterSecret:1")).toBeNull();
});

test("a database knows its chain and its master secrets, and tells another secret from them", async ({
  world,
}) => {
  const other = { version: 2, secret: new Uint8Array(32).fill(9) };
  const secrets = [{ ...TEST_MASTER_SECRET, secret: new Uint8Array(32).fill(8) }, other];
  expect(await world.service.diagnose()).toMatchObject({
    genesisHash: world.chain.genesisHash,
    masterSecrets: [{ version: 1, standing: "same" }],
  });
  expect((await world.another({ masterSecrets: secrets }).diagnose()).masterSecrets).toEqual([
    { version: 1, standing: "another" },
    { version: 2, standing: "unused" },
  ]);
});

test("an endpoint of another chain and one that refuses are told beside the one that is well", async ({
  world,
}) => {
  const well = oddEndpoint(world.chain, "well");
  const refusing = oddEndpoint(world.chain, "refusing", gone);
  const other = oddEndpoint(
    world.chain,
    "other",
    lyingAbout("getGenesisHash", () => "11111111111111111111111111111111"),
  );
  const ledger = world.ledgerOf([well, refusing, other].map(({ option }) => option));
  const { endpoints } = await world.another({ ledger }).diagnose();
  expect(endpoints).toMatchObject([
    { endpoint: "well.example", genesisHash: world.chain.genesisHash, trouble: null },
    { endpoint: "refusing.example", slot: null, trouble: { kind: "http", code: 403 } },
    { endpoint: "other.example", genesisHash: "11111111111111111111111111111111", trouble: null },
  ]);
  await ledger.close();
});

// modules: webhooks
test("a proxy that takes connections, and one that is gone: without its credentials, and nothing is asked of it", async ({
  world,
}) => {
  const proxy = await startConnectProxy();
  const url = new URL(proxy.url);
  url.username = "user";
  url.password = "hidden";
  const service = world.another({ webhooks: { proxy: url.href } });
  expect((await service.diagnose()).egress).toEqual({ proxy: url.host, trouble: null });
  expect(proxy.asked).toEqual([]);
  await proxy.close();
  const diagnosis = await service.diagnose();
  expect(diagnosis.egress).toEqual({ proxy: url.host, trouble: "ECONNREFUSED" });
  expect(JSON.stringify(diagnosis)).not.toContain("hidden");
});

test("Q19: what is wrong is told as findings, of real money only where that is asked for, and of a lost database too", async ({
  world,
}) => {
  const storage = await sqliteStorage(":memory:");
  const service = world.another({ storage });
  const checked = async (query: DiagnosisQuery): Promise<readonly string[]> =>
    (await service.diagnose(query)).findings.map(({ check }) => check);
  const usual = await checked({});
  expect([usual[0], usual.at(-1)]).toEqual(["chain", "webhook egress"]);
  expect(usual).toEqual(expect.arrayContaining(["witnesses", "clock", "master secret 1", "dead letters"]));
  const live = await checked({ live: { database: null } });
  expect(live.slice(0, usual.length)).toEqual(usual);
  expect(live.at(-1)).toBe("master secret's place");
  await storage.close();
  expect(await checked({ live: { database: null } })).toEqual(["storage"]);
});
