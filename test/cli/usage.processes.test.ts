/** What the command prints and what it refuses: one sentence that names the thing and what would be right. */
// modules: jobs, schedules
import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommand as run } from "../../src/cli/program.ts";
import { leaveNothing, runCommand } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";

afterAll(leaveNothing);

const MACHINES = "wallet-transfer or private-order or order-transfer or webhook-delivery";

test.each(COMMANDS.map(({ name }) => name))(
  "`paystate %s` is a command, and knows its options",
  async (name) => {
    expect(await wrongCall([...name.split(" "), "--colour"])).toMatch(/^unknown option '--colour'/);
  },
);

test.each([
  [
    "",
    "expected a command: init, dev, machines, inspect, doctor, backup, migrate, instance, schedule, operator, account, key",
  ],
  ["pay", "unknown command 'pay'"],
  ["instnce list", "unknown command 'instnce' (Did you mean instance?)"],
  ["instance", "expected a command: list, show, history, send, retry, drop, stop, remove, each"],
  ["instance shwo", "unknown command 'shwo' (Did you mean show?)"],
  [
    "init shop",
    "command-argument value 'shop' is invalid for argument 'engine|payments'. Allowed choices are engine, payments.",
  ],
  ["init engine src", "src: expected a new folder, or an empty one"],
  ["init engine src again", "too many arguments for 'init'. Expected 2 arguments but got 3."],
  ["dev now", "too many arguments for 'dev'. Expected 0 arguments but got 1."],
  ["dev --prot 1", "unknown option '--prot' (Did you mean --port?)"],
  ["dev --data", "option '--data <DIR>' argument missing"],
  [
    "dev --data --json",
    "option '--data <DIR>' argument '--json' is invalid. Expected a value before the next option.",
  ],
  ["dev --port -1", "option '--port <N>' argument '-1' is invalid. Expected a whole number from 0 to 65535."],
  ["dev --port=-1", "option '--port <N>' argument '-1' is invalid. Expected a whole number from 0 to 65535."],
  [
    "dev --port 65536",
    "option '--port <N>' argument '65536' is invalid. Expected a whole number from 0 to 65535.",
  ],
  [
    "dev --rpc-port 1e3",
    "option '--rpc-port <N>' argument '1e3' is invalid. Expected a whole number from 0 to 65535.",
  ],
  [
    "dev --slot-ms 9",
    "option '--slot-ms <N>' argument '9' is invalid. Expected a whole number from 10 to 60000.",
  ],
  [
    "dev --broadcast-delay-ms 20001",
    "option '--broadcast-delay-ms <N>' argument '20001' is invalid. Expected a whole number from 0 to 20000.",
  ],
  ["machines order", `there is no machine "order": expected ${MACHINES}`],
  ["machines constructor", `there is no machine "constructor": expected ${MACHINES}`],
  ["machines --format svg", "--format svg draws one machine: name it, such as machines wallet-transfer"],
  [
    "machines --format gif",
    "option '--format <FORMAT>' argument 'gif' is invalid. Allowed choices are mermaid, svg, json.",
  ],
  ["inspect", "missing required argument 'FILE'"],
  ["inspect a.db b.db", "too many arguments for 'inspect'. Expected 1 argument but got 2."],
  ["doctor --live", "--live expects --service FILE, the service that is to go live"],
  ["backup", "missing required argument 'FILE'"],
  ["migrate --from a", "required option '--to <URL>' not specified"],
  ["account close", "unknown command 'close'"],
  ["account export", "missing required argument 'ACCOUNT_ID'"],
  ["account export a --to 2027-02-01T00:00:00Z", "required option '--from <TIME>' not specified"],
  [
    "account export a --from yesterday --to 2027-02-01T00:00:00Z",
    '--from: expected a time in UTC such as "2027-01-31T12:00:00Z"',
  ],
  [
    "account export a --from 2027-01-01T00:00:00Z --to 2027-02-02T00:00:00Z",
    "--to: expected at most 31 days after `from`",
  ],
  ["account create --tier pro", "missing required argument 'NAME'"],
  ["account create shop", "required option '--tier <TIER>' not specified"],
  [
    "account create shop --tier gold",
    "option '--tier <TIER>' argument 'gold' is invalid. Allowed choices are free, pro, enterprise.",
  ],
  ["account list all", "too many arguments for 'list'. Expected 0 arguments but got 1."],
  ["schedule stop", "unknown command 'stop'"],
  ["schedule pause", "missing required argument 'ID'"],
  ["schedule list all", "too many arguments for 'list'. Expected 0 arguments but got 1."],
  ["key renew", "unknown command 'renew'"],
  ["key create", "missing required argument 'ACCOUNT_ID'"],
  ["key revoke", "missing required argument 'KEY_ID'"],
  [
    "key create a --expires-in 0",
    "option '--expires-in <DAYS>' argument '0' is invalid. Expected a whole number from 1 to 3650.",
  ],
  ["key list a --data x --database y", "expected --data or --database, not both"],
])("`paystate %s` is refused: %s", async (line, sentence) => {
  expect(await wrongCall(line.split(" ").filter(Boolean))).toBe(sentence);
});

test("a password that is mistyped into an option's name is not repeated", async () => {
  expect(await wrongCall(["instance", "list", "--databse=postgres://ann:hunter2@host/db"])).toBe(
    "unknown option '--databse' (Did you mean --database?)",
  );
});

test.concurrent.each([
  ["pay", 1, "unknown command 'pay'", "paystate"],
  ["dev now", 1, "too many arguments for 'dev'. Expected 0 arguments but got 1.", "paystate dev"],
  [
    "operator reconcile now",
    2,
    "too many arguments for 'reconcile'. Expected 0 arguments but got 1.",
    "paystate operator reconcile",
  ],
])(
  "`paystate %s` ends with %i, its sentence on stderr, and where to read on",
  async (line, code, sentence, help) => {
    const ended = await runCommand(line.split(" "));
    const stderr = `paystate: ${sentence}\nRun \`${help} --help\` for what it takes.\n`;
    expect(ended).toEqual({ code, signal: null, stdout: "", stderr });
  },
);

test("with --debug a refusal shows where it comes from", async () => {
  const { code, stderr } = await runCommand(["machines", "order", "--debug"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^paystate: UsageError: there is no machine "order".*\n +at /);
});

test.concurrent.each(["--help", "-h", "help"])("`paystate %s` lists every command", async (line) => {
  const { code, stdout, stderr } = await runCommand([line]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const words = new Set(COMMANDS.map(({ name }) => name.split(" ")[0]));
  for (const word of words) expect(stdout).toMatch(new RegExp(`^  ${word} `, "m"));
});

test.each(COMMANDS.map(({ name }) => name))("`paystate %s --help` says what it takes", async (name) => {
  const printed: string[] = [];
  await run([...name.split(" "), "--help"], (text) => void printed.push(text));
  const [page = ""] = printed;
  expect(page).toMatch(new RegExp(`^Usage: paystate ${name} .*\n\n[A-Z]`));
  // Each argument and option has its words.
  for (const [line] of page.matchAll(/^ {2}(-|[A-Z]).*$/gm)) expect(line).toMatch(/ {2,}\S.* \S+|$/);
  expect(page).toContain("--debug");
});

test("U6: `paystate --version` prints the version of the package", async () => {
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { readonly version: string };
  expect(await runCommand(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("`paystate machines` draws every chart, and by name one", async () => {
  const all = await runCommand(["machines", "--format", "mermaid"]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  const charts = all.stdout.split("\n\n");
  expect(charts.map((chart) => /^%% (\S+)\n/.exec(chart)?.[1])).toEqual(MACHINES.split(" or "));
  const transfer = charts[0];
  const delivery = charts.at(-1);
  expect(transfer).toMatch(/^%% wallet-transfer\nstateDiagram-v2\n {2}\[\*\] --> accepted\n/);
  expect(transfer).toContain("\n  accepted --> broadcasting: after broadcastDelay\n");
  expect(transfer).toContain("\n  completed --> [*]\n");
  expect(delivery).toMatch(/^%% webhook-delivery\nstateDiagram-v2\n {2}\[\*\] --> queued\n/);
  const one = await runCommand(["machines", "webhook-delivery"]);
  expect(one).toMatchObject({ code: 0, stdout: delivery, stderr: "" });
});
