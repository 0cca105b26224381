/** What the doctor says before real money moves: of services on a real chain, and of one fault each. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { checkLive, type LiveFacts } from "../../../src/service/diagnosis/check-live.ts";
import type { EndpointStatus } from "../../../src/ledger/ledger.ts";
import { MAINNET_GENESIS } from "../../../src/payments/frame/assets/assets.ts";
import { fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import { deskProvider } from "../../../src/payments/swap/desk/desk-provider.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { BY } from "../../kit/by.ts";
import { oddEndpoint } from "../../kit/odd-endpoints.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150 } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { sqliteStorage } from "../../kit/storages.ts";
import { leaveNothing, newDataFolder, runCommand, withoutPackage } from "../command.ts";

afterAll(leaveNothing);

async function factsOf(service: PaymentService, besides?: string): Promise<LiveFacts> {
  const diagnosis = await service.diagnose(besides === undefined ? {} : { besides });
  const { witnesses } = await service.health();
  const [limits, purses] = await Promise.all([service.operator.limits(), service.operator.purses()]);
  return { ...diagnosis, witnesses, limits, purses, database: "file" };
}

/** Options of a service that is ready for mainnet, over two nodes of the world's chain. */
function readyOptions(world: PrivateFixture): Partial<PaymentServiceOptions> {
  const rates = { requestsPerSecond: 50, sendsPerSecond: 5 };
  const nodes = ["one", "two"].map((name) => ({ ...oddEndpoint(world.chain, name).option, ...rates }));
  const prices = { rate: solAt150(world).rate };
  const desk = keypairSigner(world.wallet("desk", { lamports: 1_000_000_000n }).secretKey);
  // The wallets are finalized.
  world.chain.advance(40);
  return {
    ledger: world.ledgerOf(nodes),
    approvals: 2,
    keep: { transactions: "400d" },
    archive: async () => {},
    // modules: private
    privateRouting: {
      sponsor: keypairSigner(world.sponsor.secretKey),
      treasury: world.treasury.address,
      prices,
      screen: async () => "ok",
      maxSponsorSpendPerDay: "2",
    },
    swap: {
      provider: deskProvider({
        desk,
        prices,
        maxGivenPerDay: { SOL: "10", USDC: "1000", USDT: "1000" },
      }),
    },
  };
}

async function limitAll(service: PaymentService): Promise<void> {
  for (const asset of ["SOL", "USDC", "USDT"]) {
    await service.operator.setLimits({ asset, perTransaction: "100", perDay: "1000" }, BY);
  }
}

test("N14: a service as it comes is told each unready thing with its remedy, on a real chain", async ({
  world,
}) => {
  const folder = await newDataFolder();
  await mkdir(folder);
  await writeFile(
    join(folder, "key.json"),
    JSON.stringify({ key: Buffer.from(TEST_MASTER_SECRET.secret).toString("hex") }),
  );
  const provider = deskProvider({ desk: keypairSigner(new Uint8Array(32).fill(9)) });
  const service = world.another({ swap: { provider } });
  world.chain.advance(40);
  const findings = checkLive(await factsOf(service, folder));
  const told = Object.fromEntries(findings.map(({ check, found }) => [check, found]));
  expect(told).toEqual({
    "two witnesses": "the word of 1 endpoint is believed",
    providers: "each witness has a provider of its own",
    "rate limits": "local has no requestsPerSecond and no sendsPerSecond",
    fees: "bids have a floor that counts, and room to rise",
    prices: expect.stringContaining("privateRouting.prices: these prices never move") as string,
    screening: "private mode serves everybody",
    limits: "none for SOL, USDC, USDT",
    "sponsor's day": "the sponsor may spend all it has in a day",
    "desk's day": "the desk may give all its SOL, USDC, USDT in a day",
    "purses' day": "each purse holds what the last day took",
    "two people": "one person alone may send held money elsewhere",
    retention: "everything is kept for good",
    "master secret's place": "key.json, in the folder of the database, holds it",
  });
  const unready = findings.filter(({ verdict }) => verdict !== "ok");
  expect(unready).toHaveLength(10);
  expect(unready.every(({ todo }) => todo !== null)).toBe(true);
});

test("N14: of a service that is ready nothing is told, on a real chain", async ({ world }) => {
  const folder = await newDataFolder();
  await mkdir(folder);
  await writeFile(join(folder, "settings.json"), "{}");
  const service = world.another(readyOptions(world));
  await limitAll(service);
  const findings = checkLive(await factsOf(service, folder));
  expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
});

describe("N14: one fault among what is ready is told alone", () => {
  const [one, two] = ["one.example", "two.example"];
  const endpoint = (facts: LiveFacts, name: string, more: Partial<EndpointStatus>): LiveFacts => ({
    ...facts,
    endpoints: facts.endpoints.map((each) => (each.endpoint === name ? { ...each, ...more } : each)),
  });
  const setting = (facts: LiveFacts, more: Partial<LiveFacts["settings"]>): LiveFacts => ({
    ...facts,
    settings: { ...facts.settings, ...more },
  });

  test.for<[string, string, (facts: LiveFacts) => LiveFacts]>([
    ["two witnesses", "the word of 1 endpoint", (facts) => endpoint(facts, two, { roles: ["read", "send"] })],
    [
      "two witnesses",
      "one of the witnesses alone",
      (facts) => ({ ...facts, witnesses: { needed: 1, answering: 2 } }),
    ],
    [
      "providers",
      "a.rpc.example and b.rpc.example are of rpc.example",
      (facts) =>
        endpoint(endpoint(facts, one, { endpoint: "a.rpc.example" }), two, { endpoint: "b.rpc.example" }),
    ],
    [
      "providers",
      "10.0.0.7 and 10.0.0.7#2 are of 10.0.0.7",
      (facts) => endpoint(endpoint(facts, one, { endpoint: "10.0.0.7" }), two, { endpoint: "10.0.0.7#2" }),
    ],
    [
      "rate limits",
      `${two} has no sendsPerSecond`,
      (facts) => endpoint(facts, two, { sendsPerSecond: null }),
    ],
    ["fees", "the floor is 999", (facts) => setting(facts, { bids: { floor: 999, ceiling: 50_000 } })],
    ["fees", "the ceiling of 5599", (facts) => setting(facts, { bids: { floor: 1_000, ceiling: 5_599 } })],
    ["prices", "never move", (facts) => setting(facts, { priceFault: "these prices never move" })],
    [
      "limits",
      "none for USDT",
      (facts) => ({
        ...facts,
        limits: facts.limits.map((limit) => (limit.asset === "USDT" ? { ...limit, accountId: "a" } : limit)),
      }),
    ],
    [
      "purses' day",
      "the sponsor has less than the 9.5 SOL of the last day free",
      (facts) => ({
        ...facts,
        purses: (facts.purses ?? []).map((each) =>
          each.purse === "sponsor" ? { ...each, reserved: "1", spentInADay: "9.5" } : each,
        ),
      }),
    ],
    [
      "purses' day",
      "the treasury is no wallet yet",
      (facts) => ({
        ...facts,
        purses: (facts.purses ?? []).map((each) =>
          each.purse === "treasury" ? { ...each, balance: "0" } : each,
        ),
      }),
    ],
    ["purses' day", "cannot be read", (facts) => ({ ...facts, purses: null })],
    ["retention", "without an archive", (facts) => setting(facts, { archives: false })],
    ["master secret's place", "was not looked for", (facts) => ({ ...facts, database: null })],
  ])("%s: %s", async ([check, found, spoil], { world }) => {
    const service = world.another(readyOptions(world));
    await limitAll(service);
    const unready = checkLive(spoil(await factsOf(service))).filter(({ verdict }) => verdict !== "ok");
    expect(unready).toMatchObject([{ check, verdict: "warning" }]);
    expect(unready[0]?.found).toContain(found);
  });
});

test("N14: prices that mainnet refuses are wrong where the endpoints serve mainnet", async ({ world }) => {
  const facts = await factsOf(
    world.another({ swap: { provider: deskProvider({ desk: keypairSigner(new Uint8Array(32).fill(9)) }) } }),
  );
  const onMainnet = { ...facts, genesisHash: MAINNET_GENESIS };
  expect(checkLive(onMainnet).find(({ check }) => check === "prices")?.verdict).toBe("wrong");
  const moving = world.another({
    ...readyOptions(world),
    swap: { provider: deskProvider({ desk: keypairSigner(new Uint8Array(32).fill(9)) }) },
  });
  const { settings } = await moving.diagnose();
  expect(settings.priceFault).toContain("without `prices` the desk's inventory makes the price");
  // modules: private
  const fixed = { ...readyOptions(world).privateRouting, prices: fixedPrices({}) };
  // modules: private
  const { settings: others } = await world
    .another({ ...readyOptions(world), privateRouting: fixed as PaymentServiceOptions["privateRouting"] })
    .diagnose();
  expect(others.priceFault).toContain("privateRouting.prices"); // modules: private
});

test("N14: a master secret is found beside the database as bytes, hex, base64 and numbers, and no larger file is read", async ({
  world,
}) => {
  const secret = Buffer.from(TEST_MASTER_SECRET.secret);
  const beside = async (content: string | Buffer): Promise<string | null> => {
    const folder = await newDataFolder();
    await mkdir(join(folder, "a folder"), { recursive: true });
    await writeFile(join(folder, ".env"), content);
    return (await world.service.diagnose({ besides: folder })).secretBeside;
  };
  const forms = [
    secret,
    secret.toString("hex").toUpperCase(),
    secret.toString("base64url"),
    secret.join(","),
  ];
  for (const form of forms) expect(await beside(form)).toBe(".env");
  expect(await beside(`SECRET="${secret.toString("base64")}"\n`)).toBe(".env");
  expect(await beside("SECRET=elsewhere")).toBeNull();
  expect(await beside(secret.toString("hex") + " ".repeat(65_536))).toBeNull();
  expect((await world.service.diagnose()).secretBeside).toBeNull();
});

/** A module of a host whose service, as it is set, tells what it is asked for; of its folder it says where it was told to look. */
async function ownService({ settings, besides }: { settings: object; besides: string }): Promise<string> {
  const folder = await newDataFolder();
  await mkdir(folder);
  const own = join(folder, "own.mjs");
  const { approvals = 1 } = settings as { readonly approvals?: number };
  await writeFile(
    own,
    `const people = { verdict: ${approvals === 2} ? "ok" : "warning", check: "two people",
      found: "one person alone may send held money elsewhere", todo: "set \`approvals: 2\`" };
    export const service = {
      reconcile: async () => ({}),
      diagnose: async ({ besides, live }) => ({ findings: live === undefined ? [] : [people,
        ...(besides === ${JSON.stringify(besides)} ? [{ verdict: "warning", check: "master secret's place",
          found: "key.json, in the folder of the database, holds it", todo: "keep it elsewhere" }] : [])] }),
    };`,
  );
  return own;
}

const READY = { approvals: 2, removesOld: true, archives: true };

test("N14: the command looks beside the database, changes nothing, and says nothing of it without --live", async () => {
  const folder = await newDataFolder();
  await mkdir(folder);
  const file = join(folder, "payments.db");
  await (await sqliteStorage(file)).close();
  const args = [
    "doctor",
    "--service",
    await ownService({ settings: {}, besides: folder }),
    "--database",
    file,
  ];
  const live = await runCommand([...args, "--live"]);
  expect(live.stdout).toMatch(
    /^warning +master secret's place +key\.json, in the folder of the database, holds it; /m,
  );
  expect(live.stdout).toMatch(/^warning +two people +one person alone .*; set `approvals: 2`/m);
  expect((await runCommand(args)).stdout).not.toContain("two people");
});

test("Q19: with --live a warning alone ends the command with 2, and without it with 0; what is ready ends with 0", async () => {
  const folder = await newDataFolder();
  await mkdir(folder);
  const file = join(folder, "payments.db");
  await (await sqliteStorage(file)).close();
  const run = async (settings: object, ...more: string[]) => {
    const own = await ownService({ settings, besides: "elsewhere" });
    const args = ["doctor", "--service", own, "--database", file, "--json", ...more];
    const { code, stdout } = await runCommand(args);
    const { isWell, findings } = JSON.parse(stdout) as LiveReport;
    const warned = findings.filter(({ verdict }) => verdict !== "ok").map(({ check }) => check);
    return { code, isWell, warned };
  };
  const onePerson = { ...READY, approvals: 1 };
  expect(await run(onePerson, "--live")).toEqual({ code: 2, isWell: false, warned: ["two people"] });
  expect(await run(onePerson)).toEqual({ code: 0, isWell: true, warned: [] });
  expect(await run(READY, "--live")).toEqual({ code: 0, isWell: true, warned: [] });
});

interface LiveReport {
  readonly isWell: boolean;
  readonly findings: readonly { readonly check: string; readonly verdict: string; readonly found: string }[];
}

test("Q19: on PostgreSQL the page's command asks the service, needs no driver of SQLite, and looks through no folder", async () => {
  const own = await ownService({ settings: READY, besides: "elsewhere" });
  const url = "postgres://me:hunter2@127.0.0.1:1/db";
  const args = ["doctor", "--live", "--database", url, "--service", own, "--json"];
  const { code, stdout } = await runCommand(args, withoutPackage("better-sqlite3"));
  const { findings } = JSON.parse(stdout) as LiveReport;
  expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
  expect(findings).toContainEqual(expect.objectContaining({ check: "database", verdict: "ok" }));
  expect(code).toBe(0);
  expect(stdout).not.toContain("hunter2");
});

test("Q19: --live without a service is refused, since it could never fail", async () => {
  const { code, stderr } = await runCommand(["doctor", "--live", "--database", "payments.db"]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    1,
    "paystate: --live expects --service FILE, the service that is to go live",
  ]);
});
