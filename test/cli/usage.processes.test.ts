/** What the command prints and what it refuses: one sentence that names the thing and what would be right. */
// modules: jobs, schedules
import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { leaveNothing, runCommand } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";

afterAll(leaveNothing);

const HINT = "Run `paystate --help` for what it takes.\n";
const DEV_OPTIONS =
  "--port VALUE, --rpc-port VALUE, --data VALUE, --slot-ms VALUE, --broadcast-delay-ms VALUE, --json, --debug";
const COMMANDS =
  "init, dev, listen, machines, explain, inspect, reconcile, accounts, keys, trigger, backup, migrate, doctor, schedules, ps, show, history, send, retry, drop, stop, remove, attention, purses, resolve, approve, pause, resume, paused, limits, suspend, restore, account, witnesses, endpoint, audit, settle or recover";
const EVENTS =
  "transaction.pending, transaction.confirmed, transaction.completed, transaction.failed, transaction.deposit_received, transaction.held, transaction.refunded, transaction.cancelled";
const MACHINES = "wallet-transfer or private-order or order-transfer or webhook-delivery";

test.each(COMMANDS.split(/, | or /))("`paystate %s` is a command", async (name) => {
  expect(await wrongCall([name, "--colour"])).toContain("Unknown option '--colour': expected ");
});

test.each([
  ["", `expected a command: ${COMMANDS}`],
  ["pay", `there is no command "pay": expected ${COMMANDS}`],
  [
    "init shop src again",
    '"shop": expected engine or payments; src: expected a new folder, or an empty one; init takes one folder, and no "again"',
  ],
  ["init engine --colour", "Unknown option '--colour': expected --debug"],
  ["dev now", 'dev takes no argument "now"'],
  ["dev --colour", `Unknown option '--colour': expected ${DEV_OPTIONS}`],
  ["dev --format mermaid", `Unknown option '--format': expected ${DEV_OPTIONS}`],
  ["dev --data", `Option '--data <value>' argument missing: expected ${DEV_OPTIONS}`],
  ["dev --port -1", `Option '--port' argument is ambiguous: expected ${DEV_OPTIONS}`],
  ["dev --port=-1", "--port -1: expected a whole number from 0 to 65535"],
  ["dev --port 65536", "--port 65536: expected a whole number from 0 to 65535"],
  ["dev --rpc-port 1e3", "--rpc-port 1e3: expected a whole number from 0 to 65535"],
  ["dev --slot-ms 9", "--slot-ms 9: expected a whole number from 10 to 60000"],
  ["dev --broadcast-delay-ms 20001", "--broadcast-delay-ms 20001: expected a whole number from 0 to 20000"],
  ["listen", "listen expects --forward-to URL"],
  ["listen now", 'listen takes no argument "now"'],
  [
    "listen --forward-to localhost:3000",
    "--forward-to localhost:3000: expected a URL that begins with http:// or https://",
  ],
  [
    "listen --forward-to http://localhost --events transaction.done",
    `there is no event "transaction.done": expected ${EVENTS}`,
  ],
  [
    "listen --forward-to http://localhost --port 65536",
    "--port 65536: expected a whole number from 0 to 65535",
  ],
  ["machines order", `there is no machine "order": expected ${MACHINES}`],
  ["machines constructor", `there is no machine "constructor": expected ${MACHINES}`],
  ["explain", "explain expects an error, such as INVALID_QUOTE.expired"],
  ["explain INVALID_QUOTE expired", 'explain takes one error, and no "expired"'],
  [
    "explain UNAUTHORIZED.expired",
    'UNAUTHORIZED has no reason "expired": expected UNAUTHORIZED alone: it has no reasons',
  ],
  ["inspect", "inspect expects a database file, or a bundle"],
  ["inspect a.db b.db", 'inspect takes one file, and no "b.db"'],
  ["account close", "account expects export or erase"],
  ["account export", "account export expects the id of an account"],
  [
    "account export a --to 2027-02-01T00:00:00Z",
    '--from: expected a time in UTC such as "2027-01-31T12:00:00Z"',
  ],
  [
    "account export a --from 2027-01-01T00:00:00Z --to 2027-02-02T00:00:00Z",
    "--to: expected at most 31 days after `from`",
  ],
  ["accounts", "accounts expects create or list"],
  ["accounts close", 'accounts has no "close": expected create or list'],
  ["accounts create", "accounts create expects a name"],
  ["accounts create shop", "--tier : expected free or pro or enterprise"],
  ["accounts list all", 'accounts list takes no argument "all"'],
  ["schedules stop", 'schedules has no "stop": expected list, pause, resume, remove or trigger'],
  ["schedules pause", "schedules pause expects the id of a schedule"],
  ["schedules list all", 'schedules list takes no argument "all"'],
  ["keys renew", 'keys has no "renew": expected create, list, rotate or revoke'],
  ["keys create", "keys create expects the id of an account"],
  ["keys revoke", "keys revoke expects the id of a key"],
  ["keys create a --expires-in 0", "--expires-in 0: expected a whole number from 1 to 3650"],
  ["keys list a --data x --database y", "expected --data or --database, not both"],
  ["trigger", "trigger expects an event"],
  [
    "trigger transaction.done --to http://localhost",
    `there is no event "transaction.done": expected ${EVENTS}`,
  ],
  ["trigger transaction.failed", "expected either --to or --webhook"],
  ["trigger transaction.failed --to here", "--to here: expected a URL that begins with http:// or https://"],
  ["trigger transaction.failed --webhook w", "--webhook expects the --account that it belongs to"],
  ["witnesses --lower 1", "expected --lower NUMBER with --minutes MINUTES, or --restore"],
  [
    "witnesses --lower 1 --minutes 1441 --actor ann --reason outage",
    "--minutes 1441: expected a whole number from 1 to 1440",
  ],
  ["machines --format svg", "--format svg draws one machine: name it, such as machines wallet-transfer"],
])("`paystate %s` is refused: %s", async (line, sentence) => {
  expect(await wrongCall(line.split(" ").filter(Boolean))).toBe(sentence);
});

test.concurrent.each([
  ["pay", 1, `there is no command "pay": expected ${COMMANDS}`],
  ["reconcile now", 2, 'reconcile takes no argument "now"'],
])(
  "`paystate %s` ends with %i, its sentence on stderr, and where to read on",
  async (line, code, sentence) => {
    const ended = await runCommand(line.split(" "));
    expect(ended).toEqual({ code, signal: null, stdout: "", stderr: `paystate: ${sentence}\n${HINT}` });
  },
);

test("with --debug a refusal shows where it comes from", async () => {
  const { code, stderr } = await runCommand(["machines", "order", "--debug"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^paystate: UsageError: there is no machine "order".*\n +at /);
});

test.concurrent.each(["--help", "-h", "help", "dev --help"])(
  "`paystate %s` says what it takes",
  async (line) => {
    const { code, stdout, stderr } = await runCommand(line.split(" "));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const part of ["paystate dev", "--rpc-port", "paystate machines", "--debug"]) {
      expect(stdout).toContain(part);
    }
  },
);

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

test("`paystate explain` tells status, meaning and remedy of a code, of each of its reasons, or of one", async () => {
  const one = await runCommand(["explain", "QUOTE_NOT_FOUND"]);
  expect(one.stdout).toBe(
    "QUOTE_NOT_FOUND (HTTP 404)\nThere is no such quote.\n\nCheck the id, or get a new quote: those long expired are removed.\n",
  );
  const reason = await runCommand(["explain", "INVALID_QUOTE.expired"]);
  expect(reason.stdout.split("\n").slice(3)).toEqual([
    "reason   what to do",
    "expired  Refresh the quote, or get a new one: no transaction will use this one as it is.",
    "",
  ]);
  const all = await runCommand(["explain", "INVALID_QUOTE"]);
  expect(all.stdout.split("\n")).toHaveLength(3 + 1 + 10 + 1);
});
