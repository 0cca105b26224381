/** The container and the unit of the example: what they name exists, in the example and in the package. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { LIVE_PATH, READY_PATH } from "../../src/http/health-probes.ts";
import { wholeHelp } from "../../src/cli/program.ts";
import { solanaLedger, type EndpointSettings } from "../../src/solana/index.ts";
import { blockOf } from "../readme/page.ts";

const FOLDER = "examples/deploy";
/** Peers that a service on Solana brings itself. */
const SOLANA = ["@solana/web3.js", "@solana/buffer-layout"];
const textOf = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const manifestOf = (file: string) =>
  JSON.parse(readFileSync(file, "utf8")) as {
    readonly version: string;
    readonly type: string;
    readonly engines: { readonly node: string };
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly bin: Readonly<Record<string, string>>;
  };

const ours = manifestOf("package.json");
const drivers = manifestOf("test/drivers/better-sqlite3/package.json");
const deployed = manifestOf(join(FOLDER, "package.json"));
const TARBALL = `paystate-${ours.version}.tgz`;

/** The instructions of the Dockerfile, continued lines joined, comments left out. */
const instructions = textOf("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => {
    const [, name = "", rest = ""] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    return { name, rest };
  });

const all = (name: string): readonly string[] =>
  instructions.filter((each) => each.name === name).map(({ rest }) => rest);
const only = (name: string): string => {
  const found = all(name);
  expect(found, name).toHaveLength(1);
  return found[0] ?? "";
};

/** `NAME=value` of some lines. */
const variablesOf = (lines: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    lines
      .flatMap((line) => line.split(/\s+/))
      .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
const inContainer = variablesOf(all("ENV"));

/** The settings of the unit, by section. */
const sections = new Map(
  textOf("paystate.service")
    .replaceAll(/^#.*\n/gm, "")
    .split(/^\[/m)
    .slice(1)
    .map((section) => {
      const [head = "", ...lines] = section.trim().split("\n");
      return [
        head.replace("]", ""),
        lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const),
      ] as const;
    }),
);
const unit = (section: string, key: string): readonly string[] =>
  (sections.get(section) ?? []).filter(([name]) => name === key).map(([, value]) => value);
const underSystemd = variablesOf(unit("Service", "Environment"));

/** The variables that the example reads. */
const source = textOf("settings.ts");
const needed = [...source.matchAll(/needed\("(\w+)"\)/g)].map(([, name = ""]) => name);
const read = new Set([...source.matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, name = ""]) => name));

const stopMs = Number(/const STOP_MS = ([\d_]+);/.exec(textOf("main.ts"))?.[1]?.replaceAll("_", ""));

test("each file that is copied into the image is there, or is the packed library of this version", () => {
  const copied = all("COPY").flatMap((line) => line.split(" ").slice(0, -1));
  expect(copied).toContain(TARBALL);
  for (const name of copied) expect(name === TARBALL || existsSync(join(FOLDER, name)), name).toBe(true);
  const sources = readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));
  expect(copied.filter((name) => name.endsWith(".ts")).toSorted()).toEqual(sources.toSorted());
  const sent = textOf(".dockerignore").trim().split("\n").slice(1);
  for (const name of copied) expect(sent).toContain(name === TARBALL ? "!paystate-*.tgz" : `!${name}`);
});

test("what the image installs is what the package is made and tested with", () => {
  expect(deployed.dependencies["paystate"]).toBe(`file:${TARBALL}`);
  expect(deployed.type).toBe("module");
  const others = Object.entries(deployed.dependencies).filter(([name]) => name !== "paystate");
  const { "better-sqlite3-13": driver = "" } = drivers.optionalDependencies;
  const tested: Record<string, string> = {
    ...ours.devDependencies,
    "better-sqlite3": driver.replace(/^.*@/, ""),
  };
  expect(Object.fromEntries(others)).toEqual(
    Object.fromEntries(others.map(([name]) => [name, tested[name]])),
  );
  const imported = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [...textOf(name).matchAll(/from "([^"./:]+)[^":]*"/g)].map(([, id = ""]) => id));
  const names = new Set([...imported, "xstate", "better-sqlite3", "pg", ...SOLANA]);
  expect(Object.keys(deployed.dependencies).toSorted()).toEqual([...names].toSorted());
});

test("the image's Node runs TypeScript as it is, and fits the package", () => {
  const [, major] = /^node:(\d+)-/.exec(only("FROM")) ?? [];
  expect(Number(major)).toBeGreaterThanOrEqual(24);
  expect(Number(major)).toBeGreaterThan(Number.parseInt(ours.engines.node.replace(">=", ""), 10));
});

test("every variable that is set is read, and every one that is needed is set or told on the page", () => {
  for (const variables of [inContainer, underSystemd]) {
    const set = [...variables.keys()].filter((name) => name !== "NODE_ENV");
    for (const name of set) expect(read, name).toContain(name);
    expect(needed.filter((name) => !variables.has(name))).toEqual([]);
  }
  const page = textOf("README.md");
  for (const name of read) expect(page, name).toContain(`\`${name}\``);
  const file = inContainer.get("ENDPOINTS_FILE") ?? "none";
  expect(page).toContain(`-v "$PWD/${basename(file)}:${file}:ro"`);
  expect(page).toContain(`${unit("Service", "EnvironmentFile")[0] ?? "none"} && chmod 600`);
});

test("the process is not root, and its data is in a volume of its own", () => {
  expect(only("USER")).not.toBe("root");
  expect(only("VOLUME")).toBe(dirname(inContainer.get("DATABASE") ?? ""));
  expect(all("RUN").join("\n")).toContain(`chown ${only("USER")}:${only("USER")} ${only("VOLUME")}`);
  expect(textOf("README.md")).toContain(`-v paystate-data:${only("VOLUME")}`);
  expect(unit("Service", "User")).toEqual(["paystate"]);
  expect(underSystemd.get("DATABASE")).toBe(`%S/${unit("Service", "StateDirectory")[0]}/payments.db`);
});

test("the port that is asked, exposed and published is the one that is listened on", () => {
  const port = inContainer.get("PORT") ?? "";
  expect(only("EXPOSE")).toBe(port);
  expect(textOf("README.md")).toContain(`-p 127.0.0.1:${port}:${port}`);
  expect(only("HEALTHCHECK")).toContain(`http://127.0.0.1:${port}/health/`);
});

test("the health check asks a path that the handler serves, and has one JSON command", () => {
  const [, path] = /:\d+(\/[^']+)'/.exec(only("HEALTHCHECK")) ?? [];
  expect([LIVE_PATH, READY_PATH]).toContain(path);
  const command = JSON.parse(only("HEALTHCHECK").replace(/^.*CMD /, "")) as readonly string[];
  expect(command[0]).toBe("node");
  expect(textOf("main.ts")).toContain("health: true");
  expect(textOf("README.md")).toContain(`\`${READY_PATH}\``);
});

test("no one kills the service before it had its time to stop", () => {
  expect(stopMs).toBeGreaterThan(0);
  const [, docker] = /--stop-timeout (\d+)/.exec(textOf("README.md")) ?? [];
  expect(Number(docker) * 1_000).toBeGreaterThan(stopMs);
  expect(Number(unit("Service", "TimeoutStopSec")[0]) * 1_000).toBeGreaterThan(stopMs);
  for (const signal of [only("STOPSIGNAL"), ...unit("Service", "KillSignal")]) {
    expect(textOf("main.ts")).toContain(`process.on("${signal}"`);
  }
});

test("both start the same program, again when it ends", () => {
  expect(JSON.parse(only("CMD"))).toEqual(["node", "main.ts"]);
  expect(unit("Service", "ExecStart")).toEqual(["/usr/bin/node main.ts"]);
  expect(existsSync(join(FOLDER, "main.ts"))).toBe(true);
  expect(unit("Service", "Restart")).toEqual(["always"]);
  expect(textOf("README.md")).toContain("--restart unless-stopped");
});

test("the page copies what the unit needs to where the unit looks", () => {
  const page = textOf("README.md");
  const [home] = unit("Service", "WorkingDirectory");
  expect(page).toContain(`cp package.json ${TARBALL} settings.ts service.ts main.ts ${home}/`);
  const files = ["MASTER_SECRET_FILE", "ENDPOINTS_FILE"].map((variable) => underSystemd.get(variable));
  const credentials = unit("Service", "LoadCredential").map((credential) => credential.split(":"));
  expect(credentials.map(([name]) => `%d/${name}`)).toEqual(files);
  for (const [name, from] of credentials) expect(page).toContain(`install -m 600 ${name} ${from}`);
  expect(page).toContain("useradd --system");
  expect([...sections.keys()]).toEqual(["Unit", "Service", "Install"]);
});

test("each command of the page is one of the package's, with options that it takes", () => {
  expect(Object.keys(ours.bin)).toEqual(["paystate"]);
  const commands = [...textOf("README.md").matchAll(/npx paystate (\w+)(.*)$/gm)];
  expect(commands.length).toBeGreaterThan(3);
  for (const [, command = "", rest = ""] of commands) {
    expect(wholeHelp()).toContain(`paystate ${command}`);
    for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(wholeHelp(), option).toContain(option);
    for (const [path = ""] of rest.matchAll(/\/data\/payments\.db/g)) {
      expect(inContainer.get("DATABASE")).toBe(path);
    }
  }
});

test("compose runs two of the image on one server, which wait for it, have time to stop, and are told on the page", () => {
  const compose = textOf("compose.yaml");
  const page = textOf("README.md");
  const workers = [...compose.matchAll(/^  (\w+):\n    <<: \*service$/gm)].map(([, name = ""]) => name);
  expect(workers).toHaveLength(2);
  const ports = [...compose.matchAll(/"127\.0\.0\.1:(\d+):(\d+)"/g)];
  const inside = [inContainer.get("PORT"), inContainer.get("METRICS_PORT")];
  expect(ports.map(([, , port]) => port)).toEqual(workers.flatMap(() => inside));
  for (const [, outside] of ports) expect(page).toContain(String(outside));
  const [, environment = ""] = /environment:\n((?: {4}[A-Z_]+: .*\n)+)/.exec(compose) ?? [];
  const set = [...environment.matchAll(/^ +([A-Z_]+):/gm)].map(([, name = ""]) => name);
  expect(needed.filter((name) => !inContainer.has(name) && !set.includes(name))).toEqual([]);
  for (const name of set) expect(read).toContain(name);
  for (const [, name = ""] of compose.matchAll(/\$\{(\w+):\?\}/g)) {
    expect(page).toMatch(new RegExp(`echo "?${name}=.*\\.env`));
  }
  for (const file of ["MASTER_SECRET_FILE", "ENDPOINTS_FILE"]) {
    expect(compose).toContain(`:${inContainer.get(file)}:ro`);
  }
  expect(compose).toContain("condition: service_healthy");
  const [, grace] = /stop_grace_period: (\d+)s/.exec(compose) ?? [];
  expect(Number(grace) * 1_000).toBeGreaterThan(stopMs);
  // One after the other, each ready before the next.
  const restarted = [...page.matchAll(/docker compose up -d --wait --no-deps (\w+)/g)].map(
    ([, name]) => name,
  );
  expect(restarted).toEqual(workers);
});

test("Q21: the example's endpoints are what a ledger takes, with rates and roles of each", () => {
  const endpoints = JSON.parse(blockOf(join(FOLDER, "README.md"), "json")) as EndpointSettings[];
  expect(endpoints.length).toBeGreaterThan(1);
  for (const { requestsPerSecond } of endpoints) expect(requestsPerSecond).toBeGreaterThan(0);
  expect(endpoints.some(({ roles }) => roles !== undefined)).toBe(true);
  expect(() => solanaLedger({ endpoints })).not.toThrow();
});

/** Where the machine has it. */
const analyze = "/usr/bin/systemd-analyze";

test.runIf(existsSync(analyze))("systemd finds nothing wrong with the unit", () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-unit-"));
  const file = join(folder, "paystate.service");
  // It looks whether the program is there; Node lies elsewhere on the machines of tests.
  writeFileSync(file, textOf("paystate.service").replace("/usr/bin/node", process.execPath));
  try {
    const said = execFileSync(analyze, ["verify", "--man=no", file], { encoding: "utf8", stdio: "pipe" });
    expect(said).toBe("");
    writeFileSync(file, textOf("paystate.service").replace("/usr/bin/node", "/nowhere/node"));
    expect(() => execFileSync(analyze, ["verify", "--man=no", file], { stdio: "pipe" })).toThrow(
      "not executable",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
