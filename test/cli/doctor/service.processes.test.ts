/** What the doctor says of a service and its chain: each line from a real service, and each bad one from what was broken. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  checkChain,
  checkClock,
  checkEndpoints,
  checkMasterSecrets,
  checkPurses,
  checkWitnesses,
  checkWork,
  readPurses,
  type WorkHealth,
} from "../../../src/service/diagnosis/check-service.ts";
import { checkEgress } from "../../../src/service/diagnosis/check-egress.ts";
import { ENDPOINT_ROLES, LedgerUnavailable, type EndpointStatus } from "../../../src/ledger/ledger.ts";
import type { DiagnosisFinding } from "../../../src/service/diagnosis/finding.ts";
import type { Health } from "../../../src/service/read-health.ts";
import type { PurseBody } from "../../../src/payments/frame/purses/purses.ts";
import type { DiagnosedFacts } from "../../../src/service/diagnosis/facts.ts";
import { leaveNothing, newDataFolder, runCommand } from "../command.ts";

afterAll(leaveNothing);

const NOW = 1_800_000_000_000;
const OURS = "ours";

const endpoint = (name: string, told: Partial<EndpointStatus> = {}): EndpointStatus => ({
  endpoint: name,
  roles: ENDPOINT_ROLES,
  requestsPerSecond: null,
  sendsPerSecond: null,
  genesisHash: OURS,
  slot: 1_000,
  blockTime: NOW - 1_000,
  readAt: NOW,
  trouble: null,
  ...told,
});

const silent = (name: string): EndpointStatus =>
  endpoint(name, {
    genesisHash: null,
    slot: null,
    blockTime: null,
    trouble: { endpoint: name, kind: "unreachable", code: null, message: "no connection" },
  });

const diagnosis = (
  ...endpoints: readonly EndpointStatus[]
): Omit<DiagnosedFacts, "settings" | "secretBeside"> => ({
  genesisHash: OURS,
  masterSecrets: [],
  endpoints,
  egress: null, // modules: webhooks
});

const THEIRS = { genesisHash: "theirs" };
const LOWERED = { needed: 1, answering: 1, loweredUntil: "2030-01-01T00:00:00.000Z" };

const chainOf = (...endpoints: readonly EndpointStatus[]) => [checkChain(diagnosis(...endpoints))];
const newChainOf = (told: EndpointStatus) => [checkChain({ ...diagnosis(told), genesisHash: null })];
const endpointsOf = (...endpoints: readonly EndpointStatus[]) => checkEndpoints(diagnosis(...endpoints));
const witnessesOf = (witnesses: Health["witnesses"]) => [checkWitnesses({ witnesses })];

type Told = readonly [verdict: DiagnosisFinding["verdict"], found?: string];

test.each<[string, readonly DiagnosisFinding[], readonly Told[]]>([
  ["database and endpoints agree", chainOf(endpoint("a"), silent("b")), [["ok"]]],
  [
    "E14 endpoints of another chain are wrong",
    chainOf(endpoint("a", THEIRS)),
    [["wrong", "the database belongs to ours, the endpoints serve theirs"]],
  ],
  [
    "one endpoint of another chain among ours is wrong",
    chainOf(endpoint("a"), endpoint("b", THEIRS)),
    [["wrong", "the database belongs to ours, the endpoints serve ours and theirs"]],
  ],
  ["a new database belongs to no chain yet", newChainOf(endpoint("a")), [["warning"]]],
  ["a silent chain is wrong", chainOf(silent("a")), [["wrong"]]],
  ["a silent chain is wrong for a new database too", newChainOf(silent("a")), [["wrong"]]],
  ["50 slots behind are fine", endpointsOf(endpoint("a"), endpoint("b", { slot: 950 })), [["ok"], ["ok"]]],
  [
    "an endpoint that is further behind is a warning with the number of slots",
    endpointsOf(endpoint("a"), endpoint("b", { slot: 900 })),
    [["ok"], ["warning", "answers, slot 900, 100 behind the newest"]],
  ],
  [
    "a silent endpoint beside one that answers is a warning",
    endpointsOf(endpoint("a"), silent("b")),
    [["ok"], ["warning"]],
  ],
  ["where no endpoint answers, all are wrong", endpointsOf(silent("a"), silent("b")), [["wrong"], ["wrong"]]],
  [
    "an endpoint of another chain is wrong, however new its slots are, and makes no other look late",
    endpointsOf(endpoint("a", { ...THEIRS, slot: 9_000_000 }), endpoint("b")),
    [["wrong"], ["ok"]],
  ],
  [
    "N5: an endpoint that only takes broadcasts is not asked, and nothing is wrong with it",
    endpointsOf(endpoint("relay", { roles: ["send"], genesisHash: null, slot: null }), endpoint("a")),
    [["ok"], ["ok"]],
  ],
  ["enough witnesses are fine", witnessesOf({ needed: 2, answering: 2 }), [["ok"]]],
  ["too few witnesses are wrong", witnessesOf({ needed: 2, answering: 1 }), [["wrong"]]],
  ["lowered witnesses are a warning", witnessesOf(LOWERED), [["warning"]]],
  ["witnesses that cannot be counted are wrong", witnessesOf(null), [["wrong"]]],
  [
    "a clock that no endpoint helps to compare is a warning",
    [checkClock(diagnosis(silent("a"), endpoint("b", { blockTime: null })))],
    [["warning"]],
  ],
])("%s", (_, findings, told) => {
  const expected = told.map(([verdict, found]) => ({ verdict, ...(found !== undefined && { found }) }));
  expect(findings).toMatchObject(expected);
});

test("each endpoint is told by its name", () => {
  expect(endpointsOf(endpoint("a"), silent("b")).map(({ check }) => check)).toEqual([
    "endpoint a",
    "endpoint b",
  ]);
});

test.each([
  [1_000, "ok", "1.0 s after the newest block"],
  [-5_000, "ok", "5.0 s behind the newest block"],
  [-5_001, "warning", "5.0 s behind the newest block"],
  [60_000, "warning", "60.0 s after the newest block"],
])("a clock %i ms after the newest block is %s", (skewMs, verdict, found) => {
  const told = diagnosis(
    endpoint("late", { slot: 5, blockTime: NOW - 3_600_000 }),
    endpoint("newest", { blockTime: NOW - skewMs }),
    endpoint("other chain", { ...THEIRS, slot: 9_000, blockTime: 0 }),
  );
  expect(checkClock(told)).toMatchObject({ verdict, found });
});

test.each([
  ["same", "ok"],
  ["unused", "warning"],
  ["another", "wrong"],
] as const)("a master secret that is %s is %s, under its version", (standing, verdict) => {
  const told = checkMasterSecrets({ masterSecrets: [{ version: 3, standing }] });
  expect(told).toMatchObject([{ check: "master secret 3", verdict }]);
});

describe("purses", () => {
  const purse: PurseBody = {
    purse: "sponsor",
    address: "A",
    asset: "SOL",
    balance: "2",
    reserved: "1",
    spentInADay: "0",
    lastsUntil: null,
    lowBelow: "3",
    isLow: false,
  };

  test("one with enough, and one that is low with its address", async () => {
    const purses = async () => [purse, { ...purse, isLow: true }];
    expect(checkPurses(await readPurses({ purses }))).toMatchObject([
      { verdict: "ok", check: "sponsor SOL", found: "2 SOL, 1 of it promised" },
      { verdict: "warning", found: "2 SOL, 1 of it promised: less than 3 is free", todo: "send SOL to A" },
    ]);
  });

  test("those that cannot be read are a warning, and a fault of ours is thrown", async () => {
    const failing = (error: Error) => ({
      purses: async () => {
        throw error;
      },
    });
    expect(checkPurses(await readPurses(failing(new LedgerUnavailable("silence"))))).toMatchObject([
      { verdict: "warning", check: "purses" },
    ]);
    await expect(readPurses(failing(new Error("a bug")))).rejects.toThrow("a bug");
  });
});

describe("stored work", () => {
  const rest: WorkHealth = {
    storage: "ok",
    overdueMs: 0,
    deadLetters: 0,
    failingTasks: 0,
    unknownInstances: 0,
    unprovable: 0,
    attention: 0,
  };
  const troubles = (work: Partial<WorkHealth>) =>
    checkWork({ ...rest, ...work })
      .filter(({ verdict }) => verdict !== "ok")
      .map(({ check, verdict }) => [check, verdict]);

  test.each([
    [{}, []],
    [{ overdueMs: 20_000 }, []],
    [{ overdueMs: 20_001 }, [["work due", "wrong"]]],
    [{ deadLetters: 1 }, [["dead letters", "wrong"]]],
    [{ failingTasks: 2 }, [["failing tasks", "warning"]]],
    [{ unknownInstances: 3 }, [["unknown instances", "warning"]]],
    [{ unprovable: 1 }, [["unprovable transactions", "warning"]]],
    [{ attention: 1 }, [["matters for a person", "warning"]]],
    [{ storage: "unavailable" }, [["storage", "wrong"]]],
  ] as const)("of %o is said %o", (work, said) => {
    expect(troubles(work)).toEqual(said);
  });
});

// modules: webhooks
test("webhook egress: without a proxy, through one that answers, and through one that does not", () => {
  expect(checkEgress(diagnosis())).toMatchObject({ verdict: "ok" });
  const egress = (trouble: string | null) => ({ ...diagnosis(), egress: { proxy: "p:1", trouble } });
  expect(checkEgress(egress(null))).toMatchObject({ verdict: "ok" });
  expect(checkEgress(egress("ECONNREFUSED"))).toMatchObject({
    verdict: "wrong",
    found: "the proxy p:1 cannot be reached: ECONNREFUSED",
  });
});

test("the command asks the service of a module, and does not wait for it to end", async () => {
  const folder = await newDataFolder();
  await mkdir(folder);
  const own = join(folder, "own.mjs");
  const module = (verdict: DiagnosisFinding["verdict"]): string => `
    setInterval(() => {}, 1_000);
    const findings = [{ verdict: ${JSON.stringify(verdict)}, check: "endpoint a.example", found: "does not answer", todo: null }];
    export const service = { reconcile: async () => ({}), diagnose: async () => ({ findings }) };`;
  await writeFile(own, module("ok"));
  const well = await runCommand(["doctor", "--service", own, "--json"]);
  expect(well).toMatchObject({ code: 0, stderr: "" });
  const { isWell, findings } = JSON.parse(well.stdout) as {
    isWell: boolean;
    findings: readonly { check: string; verdict: string }[];
  };
  expect(isWell).toBe(true);
  expect(findings.map(({ check }) => check)).toEqual([...["node", "sqlite driver", "endpoint a.example"]]);
  await writeFile(own, module("wrong"));
  const ill = await runCommand(["doctor", "--service", own]);
  expect(ill.code).toBe(1);
  expect(ill.stdout).toMatch(/^wrong +endpoint a\.example +does not answer/m);

  await writeFile(own, "export const payments = {};");
  const none = await runCommand(["doctor", "--service", own]);
  expect(none.code).toBe(1);
  expect(none.stdout).toMatch(/^wrong +service +cannot be looked at; .*exports no `service`/m);
});
