/** `paystate instance list`, `show`, `history`, `retry`, `drop`, `stop` and `remove` on a database file, while an engine runs on it and after it. */
// modules: jobs, schedules
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test as vitestTest } from "vitest";
import { assign, setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { job } from "../engine/job.ts";
import { passTime } from "../kit/pass-time.ts";
import { NAMESAKES } from "../kit/namesakes.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { leaveNothing, runCommand, startCommand } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";
import { taskIdAt } from "../kit/task-ids.ts";

afterAll(leaveNothing);

const jobs = job(async ({ id }, { failures }) => {
  if (id !== "good" && (id !== "late" || failures < 2)) throw new Error("no \u001b[31mpaper");
  return { event: { type: "DONE", by: "me" } };
});

/** An engine at work on a file: one job done, one that fails again and again. */
const test = vitestTest
  .extend("file", async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    onCleanup(() => rm(folder, { recursive: true }));
    return join(folder, "jobs.db");
  })
  .extend("storage", async ({ file }, { onCleanup }) => {
    new Database(file).exec(NAMESAKES).close();
    const storage = await sqliteStorage(file);
    onCleanup(() => storage.close());
    return storage;
  })
  .extend("clock", ({}) => virtualClock())
  // It is at work also while a test looks from outside alone.
  .extend("engine", { auto: true }, async ({ storage, clock }, { onCleanup }) => {
    const engine = createEngine({ storage, workflows: [jobs], clock, logger: silentLogger });
    onCleanup(() => engine.stop());
    engine.run();
    for (const id of ["good", "bad"]) await engine.start(jobs, { id, input: { id } });
    await passTime({ clock, engine, storage, workflows: [jobs] }, clock.now() + 60_000);
    return engine;
  })
  .extend("paystate", ({ file }) => {
    return (...args: string[]) => runCommand([...args, "--database", file]);
  })
  .extend("json", ({ paystate }) => async (...args: string[]) => {
    const { code, stdout, stderr } = await paystate(...args, "--json");
    expect({ code, stderr, lines: stdout.split("\n").length }).toEqual({ code: 0, stderr: "", lines: 2 });
    return JSON.parse(stdout) as unknown;
  });

test("ps lists what is active with what fails of it, and by choice what has ended", async ({
  paystate,
  json,
}) => {
  const { code, stdout, stderr } = await paystate("instance", "list");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [headings, bad, ...more] = stdout.trimEnd().split("\n");
  expect(headings).toMatch(/^id +workflow +state +status +steps +updated +trouble$/);
  // No byte of an escape sequence reaches the terminal.
  expect(bad).toMatch(
    /^bad +job@1 +working +active +1 +2026-01-01T00:00:00.000Z +work has failed \d+ times: .*no \\u001b\[31mpaper$/,
  );
  expect(more).toEqual([]);
  expect(await json("instance", "list", "--status", "all", "--limit", "1")).toMatchObject({
    instances: [{ id: "bad" }],
    next: expect.any(String) as string,
  });
  expect(await json("instance", "list", "--status", "done")).toMatchObject({
    instances: [{ id: "good" }],
    next: null,
  });
  expect(await json("instance", "list", "--failing")).toMatchObject({ instances: [{ id: "bad" }] });
  expect(await json("instance", "list", "--workflow", "other")).toEqual({ instances: [], next: null });
  expect((await paystate("instance", "list", "--state", "done")).stdout).toBe("No such instance here.\n");
});

test("ps --watch prints the list once, and again when it has changed, until it is ended", async ({
  file,
  engine,
  paystate,
}) => {
  const watch = startCommand(["instance", "list", "--watch", "--database", file]);
  await watch.said(/^bad /m);
  await engine.start(jobs, { id: "fresh", input: { id: "fresh" } });
  await watch.said(/^fresh /m);
  const { code, signal, stderr } = await watch.end("SIGINT");
  expect({ ended: code === 0 || signal === "SIGINT", stderr }).toEqual({ ended: true, stderr: "" });
  const lists = watch
    .stdout()
    .split(/^id +workflow/m)
    .slice(1);
  expect(lists[0]).not.toContain("fresh");
  expect(lists.at(-1)).toContain("fresh");
  // Neither what has not changed is printed again, nor what a terminal obeys into a pipe.
  expect(new Set(lists).size).toBe(lists.length);
  expect(watch.stdout()).not.toContain("\u001b");
  expect(await paystate("instance", "list", "--watch", "--json")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("leave out --json") as string,
  });
});

test("show tells the state, and what an instance waits for", async ({ paystate, json }) => {
  const { code, stdout } = await paystate("instance", "show", "bad");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^id {8}bad\nworkflow {2}job@1\nstate {5}working\n/);
  expect(stdout).toContain('context   {"id":"bad"}\n');
  expect(stdout).toMatch(
    /effect +work +tried again +\S+Z +work has failed \d+ times: .* +bad:[0-9a-v]+:0\n$/,
  );
  expect(await json("instance", "show", "good")).toMatchObject({
    instance: { status: "done" },
    pending: { tasks: [] },
  });
});

test("U6: show draws the chart of a module in TypeScript, with the active state marked", async ({
  file,
  paystate,
}) => {
  const charts = join(dirname(file), "charts.ts");
  const from = JSON.stringify(new URL("../engine/job.ts", import.meta.url).href);
  const text = `import { job, type Job } from ${from};\nexport const jobs: Job = job(async () => null);\n`;
  await writeFile(charts, text);
  const { stdout, stderr } = await paystate("instance", "show", "bad", "--charts", charts);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^ +\* working\n[^*]+DONE → done$/m);
});

test("show tells what made each step", async ({ storage, engine, clock, paystate, json }) => {
  await engine.start(jobs, { id: "late", input: { id: "late" } });
  await passTime({ clock, engine, storage, workflows: [jobs] }, clock.now() + 60_000);
  const { stdout } = await paystate("instance", "show", "late");
  expect(stdout).toMatch(/^ +1 {2}\S+Z {2}started → working \(by a caller\)$/m);
  expect(stdout).toMatch(/^ +2 {2}\S+Z {2}DONE → done \(by its effect work of step 1\)$/m);
  const task = await taskIdAt(engine, "late");
  expect(await json("instance", "history", "late")).toMatchObject([
    { cause: null },
    { cause: { kind: "effect", task, from: { instance: "late", step: task.split(":")[1] }, name: "work" } },
  ]);
});

test("show tells a timer that is due after the last time that a date can be", async ({
  storage,
  paystate,
}) => {
  const task = {
    id: "bad:1:9",
    instance: "bad",
    workflow: "job@1",
    name: "later",
    payload: "{}",
    limits: [],
  };
  await storage.commit([{ arms: [{ task: { ...task, kind: "timer", dueAt: 9e15 } }] }]);
  expect((await paystate("instance", "show", "bad")).stdout).toMatch(/timer +later +due +never +bad:1:9/);
});

test("history gives the steps with what made each, page by page", async ({ paystate, json }) => {
  const { stdout } = await paystate("instance", "history", "good");
  expect(stdout).toMatch(
    /^step +at +event +state +cause +data\n1 +\S+ +\$started +working +by a caller +\{"input":\{"id":"good"\}\}\n2 +\S+ +DONE +done +by its effect work of step 1 +\{"by":"me"\}\n$/,
  );
  expect(await json("instance", "history", "good", "--after", "1")).toMatchObject([
    { version: 2, event: { type: "DONE" } },
  ]);
  expect((await paystate("instance", "history", "good", "--limit", "1")).stdout).toMatch(
    /\n\nGoes on with --after 1\n$/,
  );
});

test("retry makes what has failed due now, and says so when nothing has", async ({ engine, paystate }) => {
  const before = (await engine.pending("bad")).tasks[0];
  const task = await taskIdAt(engine, "bad");
  expect((await paystate("instance", "retry", "bad")).stdout).toBe(
    `Due now: ${task}. A process at work does it.\n`,
  );
  const { tasks } = await engine.pending("bad");
  expect(tasks[0]).toMatchObject({ id: task, failures: before?.failures });
  expect(tasks[0]?.dueAt).not.toBe(before?.dueAt);
  expect((await paystate("instance", "retry", "good")).stdout).toBe(
    "Nothing of good has failed, or it is being done right now.\n",
  );
});

test("stop ends an instance by a process at work, and remove takes away what has ended", async ({
  storage,
  engine,
  paystate,
}) => {
  expect((await paystate("instance", "remove", "bad")).stderr).toBe(
    "paystate: bad has not ended: stop it first\n",
  );
  const said = "A process that has job@1 ends bad and its children.\n";
  await engine.stop();
  expect((await paystate("instance", "stop", "bad")).stdout).toBe(said);
  // Asked twice, it is told once.
  expect((await paystate("instance", "stop", "bad")).stdout).toBe(said);
  expect((await engine.pending("bad")).tasks.filter(({ kind }) => kind === "message")).toHaveLength(1);
  expect((await paystate("instance", "show", "bad")).stdout).toContain("xstate.stop");
  const now = createEngine({ storage, workflows: [jobs], logger: silentLogger });
  now.run();
  await now.waitFor(jobs, "bad", "final");
  await now.stop();
  expect(await engine.read("bad")).toMatchObject({ status: "stopped" });
  expect((await paystate("instance", "stop", "bad")).stdout).toBe("bad has ended already.\n");
  expect((await paystate("instance", "remove", "good")).stdout).toBe("good and its history are removed.\n");
  expect(await engine.read("good")).toBeNull();
  expect(await engine.history("good")).toEqual([]);
});

test("drop removes what was set aside, and nothing that is tried again", async ({
  storage,
  engine,
  paystate,
  json,
}) => {
  expect((await paystate("instance", "drop", "bad")).stdout).toBe("Nothing of bad is set aside.\n");
  await engine.stop();
  const limits = { holder: "gone", leaseMs: 1_000, workflows: ["job@1"], steps: 9, free: 9, limited: 9 };
  // Each claim finds the lease of the one before ended: its holder has vanished.
  for (let claim = 1; claim <= 3; claim++) {
    await storage.claim({ ...limits, now: 2_000_000_000_000 + claim * 10_000, maxCrashes: 1 });
  }
  const task = await taskIdAt(engine, "bad");
  expect((await engine.deadLetters()).map(({ id }) => id)).toEqual([task]);
  expect((await paystate("instance", "list")).stdout).toContain("work is set aside after 2 crashes");
  expect(await json("instance", "drop", "bad")).toEqual({ dropped: [task] });
  expect(await engine.pending("bad")).toMatchObject({ tasks: [] });
});

test("an instance whose chart no process has is counted, listed with that, and shown", async ({
  storage,
  engine,
  paystate,
}) => {
  await engine.stop();
  await engine.retry(await taskIdAt(engine, "bad"));
  const strange = createEngine({ storage, workflows: [] });
  expect(await strange.troubles()).toEqual({ deadLetters: 0, failingTasks: 1, unknownInstances: 1 });
  const { instances } = await strange.list({ unknown: true, status: "active" });
  expect(instances.map(({ id }) => id)).toEqual(["bad"]);
  // The other one fails; this one only waits for a process, and has done so since the first day of 2026.
  const waits = {
    id: "waits",
    stamp: "s",
    parent: null,
    workflow: "job@1",
    hash: "h",
    status: "active",
  } as const;
  const snapshot = JSON.stringify({ value: "working", context: {}, status: "active" });
  await storage.commit([{ starts: [{ ...waits, snapshot, createdAt: 1 }] }]);
  expect((await paystate("instance", "list")).stdout).toMatch(
    /waits +job@1 .* no process does the tasks of job@1 since 2026-01-01T/,
  );
  expect((await paystate("instance", "show", "waits")).code).toBe(0);
});

test.for(["drop", "stop", "remove"])(
  "%s leaves the instances of the payment service alone",
  async (command, { storage, paystate }) => {
    const transfer = {
      id: "t",
      stamp: "s",
      parent: null,
      workflow: "wallet-transfer@1",
      hash: "h",
      status: "active",
      snapshot: "{}",
    } as const;
    await storage.commit([{ starts: [{ ...transfer, createdAt: 1 }] }]);
    const { code, stderr } = await paystate("instance", command, "t");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^paystate: t is a wallet-transfer of the payment service, with money behind it: use /,
    );
    expect(await storage.load("t")).not.toBeNull();
  },
);

vitestTest.each([
  [["instance", "show"], "missing required argument 'ID'"],
  [["instance", "retry", "a", "b"], "too many arguments for 'retry'. Expected 1 argument but got 2."],
  [["instance", "send", "a"], "missing required argument 'EVENT'"],
  [["instance", "send", "a", "{}"], 'Expected JSON such as {"type":"PAY"}.'],
  [["instance", "list", "x"], "too many arguments for 'list'. Expected 0 arguments but got 1."],
  [
    ["instance", "list", "--status", "gone"],
    "option '--status <STATUS>' argument 'gone' is invalid. Allowed choices are active, done, stopped, error, all.",
  ],
  [
    ["instance", "list", "--limit", "0"],
    "option '--limit <N>' argument '0' is invalid. Expected a whole number from 1 to 1000.",
  ],
  [["instance", "list", "--data", "d", "--database", "f"], "expected --data or --database, not both"],
  [
    ["instance", "each", "stop"],
    "instance each expects --where FIELD=VALUE, --workflow NAME or --state STATE",
  ],
  [["instance", "each", "send", "--where", "a=b"], "send expects an EVENT"],
  [["instance", "each", "stop", "GO", "--where", "a=b"], 'stop takes no event "GO"'],
])("`paystate %j` is refused in one sentence", async (args, sentence) => {
  expect(await wrongCall(args)).toBe(sentence);
});

test("an unknown id, a file that is not there, an empty one and a foreign one are refused, and no file is made", async ({
  file,
  paystate,
}) => {
  const folder = dirname(file);
  for (const command of ["show", "history", "retry", "drop", "stop", "remove"]) {
    const { code, stderr } = await paystate("instance", command, "none");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `paystate: there is no instance none in ${file}: \`paystate instance list --status all\` lists them\n`,
    });
  }
  await writeFile(join(folder, "empty.db"), "");
  await writeFile(join(folder, "foreign.db"), "this is no database at all, and never was one".repeat(100));
  const files = await readdir(folder);
  for (const [name, problem] of [
    ["absent.db", "there is no database"],
    ["empty.db", "is empty"],
    ["foreign.db", "database"],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(["instance", "list", "--database", join(folder, name)]);
    expect({ code, stdout, lines: stderr.split("\n").length }, stderr).toEqual({
      code: 1,
      stdout: "",
      lines: 2,
    });
    expect(stderr).toContain(problem);
  }
  expect((await readdir(folder)).filter((name) => !files.includes(name))).toEqual([]);
});

const orders = workflow(
  setup({
    types: {
      context: {} as { customer: string; notes: readonly string[] },
      input: {} as { customer: string },
      events: {} as { type: "CANCEL" } | { type: "NOTE"; text: string },
    },
  }).createMachine({
    id: "order",
    context: ({ input }) => ({ ...input, notes: [] }),
    initial: "open",
    states: { open: { on: { CANCEL: "cancelled" } }, cancelled: {} },
    on: {
      NOTE: { actions: assign({ notes: ({ context, event }) => [...context.notes, event.text] }) },
    },
  }),
)({ version: 1, search: { customer: ({ context }) => context.customer } });

test("F8: send, stop and retry are for each instance of a filter, too", async ({ file, paystate, json }) => {
  const storage = await sqliteStorage(file);
  const engine = createEngine({ storage, workflows: [orders], logger: silentLogger, pollMs: 10 });
  const stateOf = async (id: string): Promise<unknown> => (await engine.read(orders, id))?.value;
  try {
    for (const [id, customer] of Object.entries({ a: "ada", b: "ada", c: "bob" })) {
      await engine.start(orders, { id, input: { customer } });
    }
    const wrong = await paystate("instance", "each", "send", "--where", "colour=red", "CANCEL");
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining(
        "--where colour=red: no workflow has these search fields: job@1 has none; order@1 has customer",
      ),
    ]);
    // Nobody runs the charts yet: the job is done all the same, by the command itself.
    const twice = await paystate(
      "instance",
      "each",
      "send",
      "--where",
      "customer=ada",
      "--where",
      "customer=bob",
      "CANCEL",
    );
    expect(twice.stderr).toContain("--where customer=…: the field is given twice");
    expect(await json("instance", "each", "send", "--where", "customer=ada", "CANCEL")).toEqual([
      { job: expect.stringMatching(/^each-/) as unknown, workflow: "order@1", touched: 2 },
    ]);
    expect(await json("instance", "send", "c", '{"type":"NOTE","text":"hello"}')).toEqual({ send: "asked" });
    engine.run();
    await engine.waitFor(orders, "b", { state: "cancelled" });
    await engine.settled();
    expect(await Promise.all(["a", "b", "c"].map(stateOf))).toEqual(["cancelled", "cancelled", "open"]);
    expect((await engine.read(orders, "c"))?.context.notes).toEqual(["hello"]);
    const { stdout } = await paystate(
      "instance",
      "each",
      "stop",
      "--workflow",
      "order",
      "--state",
      "cancelled",
    );
    expect(stdout).toMatch(/^each-\w+: a process that has order@1 ends 2 instances\.\n$/);
    await engine.waitFor(orders, "a", "final");
    expect((await engine.read(orders, "c"))?.status).toBe("active");
    expect((await paystate("instance", "each", "retry", "--where", "customer=ada")).stdout).toContain(
      "retries what fails of 0 instances",
    );
  } finally {
    await engine.stop();
    await storage.close();
  }
});

test("schedules lists what is started by time, pauses it, lets it go on, and starts a run", async ({
  engine,
  clock,
  paystate,
  json,
}) => {
  expect((await paystate("schedule", "list")).stdout).toBe("No schedule here.\n");
  const rule = { cron: "0 12 * * *", timezone: "UTC" };
  await engine.schedule("noon", { ...rule, workflow: jobs, input: { id: "good" } });
  const { stdout } = await paystate("schedule", "list");
  expect(stdout).toMatch(
    /^id +workflow .*\nnoon +job@1 +0 12 \* \* \* +UTC +last +never +2026-01-01T12:00:00/,
  );
  expect(await json("schedule", "pause", "noon")).toEqual({ paused: true });
  expect((await paystate("schedule", "pause", "noon")).stdout).toBe("noon was paused before.\n");
  expect(await json("schedule", "list")).toMatchObject([{ id: "noon", next: null }]);
  expect(await json("schedule", "resume", "noon")).toEqual({ resumed: true });
  const { instance } = (await json("schedule", "trigger", "noon")) as { instance: string };
  clock.set(Date.now());
  await engine.settled();
  expect((await engine.read(instance))?.status).toBe("done");
  expect((await paystate("schedule", "remove", "noon")).stdout).toBe("noon is removed.\n");
  expect((await paystate("schedule", "list")).stdout).toBe("No schedule here.\n");
  expect((await paystate("schedule", "pause", "moon")).stderr).toContain('there is no schedule "moon"');
});
