/** The operator's room on the command line: beside a running `paystate dev`, without it, and on a host's own service. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import bs58 from "bs58";
import { Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction } from "@solana/web3.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaveNothing, newDataFolder, runCommand, type Ended } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";
import { balances, call, connection, type DevSession, startDev } from "./dev-session.ts";
import { eventually } from "../kit/eventually.ts";

const FAST_SLOTS = ["--slot-ms", "50"];
const BY = ["--actor", "ann", "--reason", "a drill"];

let folder: string;
let dev: DevSession;

beforeAll(async () => {
  folder = await newDataFolder();
  dev = await startDev(folder, { args: FAST_SLOTS });
});

afterAll(leaveNothing);

const room = (...args: string[]): Promise<Ended> => runCommand(["operator", ...args, "--data", folder]);
const json = async (...args: string[]): Promise<unknown> => {
  const ended = await room(...args, "--json");
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toMatch(/^[^\n]*\n$/);
  return JSON.parse(ended.stdout);
};

const quote = () => call(dev, "/quotes", { inputAsset: "USDC", outputAsset: "USDC", amount: "1" });

test("M14: what is paused on the command line is paused in the running service at once", async () => {
  expect((await quote()).status).toBe(201);
  const paused = await room("pause", "--asset", "USDC", "--mode", "wallet", ...BY);
  expect(paused).toMatchObject({
    code: 0,
    stderr: "",
    stdout: "Paused: wallet, USDC. Nothing new is taken; what is under way goes on.\n",
  });
  expect((await quote()).status).toBe(503);
  const { stdout } = await room("paused");
  expect(stdout).toMatch(/^since +what +whom +actor +reason\n\S+ +paused +wallet, USDC +ann +a drill\n$/);
  expect(await room("pause", "--asset", "USDC", "--mode", "wallet", ...BY)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "paystate: mode wallet, asset USDC is paused already\n",
  });
  expect(await room("resume", "--asset", "USDC", "--mode", "wallet", ...BY)).toMatchObject({
    code: 0,
    stdout: "Resumed: wallet, USDC.\n",
  });
  expect((await quote()).status).toBe(201);
  expect((await room("paused")).stdout).toBe("Nothing is paused, and no account is suspended.\n");
});

test("accounts are suspended and restored, limits set and ended, and all of it stands in the log", async () => {
  expect((await room("suspend", "acct_1", ...BY)).stdout).toBe(
    "acct_1 is suspended. Nothing new is taken for it; what is under way goes on.\n",
  );
  expect(await json("paused")).toMatchObject({
    paused: [],
    suspended: [{ accountId: "acct_1", actor: "ann" }],
  });
  expect((await room("restore", "acct_1", ...BY)).stdout).toBe("acct_1 is restored.\n");
  const set = await room("limit", "--asset", "USDC", "--per-day", "100", "--direction", "out", ...BY);
  expect(set.stdout).toMatch(/\nevery account +USDC +out +- +100 +ann +a drill\n$/);
  expect(await json("limits")).toMatchObject([{ asset: "USDC", direction: "out", perDay: "100" }]);
  expect((await room("limit", "--asset", "USDC", ...BY)).stdout).toBe("There are no limits.\n");
  const log = (await json("audit")) as { id: string; act: string }[];
  expect(log.map(({ act }) => act)).toEqual([
    ...["pause", "resume", "suspend", "restore", "set_limits", "set_limits"],
  ]);
  const page = await room("audit", "--after", log[3]?.id ?? "", "--limit", "1");
  expect(page.stdout).toMatch(
    /\n\S+ +ann +set_limits +\{"asset":"USDC",.*\} +a drill\n\nGoes on with --after audit_\w+\n$/,
  );
  expect((await room("attention")).stdout).toBe("Nothing needs a person.\n");
  expect(await room("witnesses", "--lower", "1", "--minutes", "5", ...BY)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "paystate: witnesses: enough endpoints answer (1), so there is nothing to lower\n",
  });
  expect(await room("witnesses", "--restore", ...BY)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "paystate: the number of witnesses is not lowered\n",
  });
});

test(
  "M15: without its database a folder brings an order back of its journal, and sends back what is there",
  { timeout: 120_000 },
  async () => {
    const [alice, bob] = dev.wallets;
    const recipients = [{ address: bob?.address, amount: "0.5" }];
    const priced = { inputAsset: "SOL", outputAsset: "SOL", amount: "0.5", mode: "private", recipients };
    const { body: quoted } = await call(dev, "/quotes", priced);
    const { body: created } = await call(dev, "/transactions", {
      type: "send",
      mode: "private",
      quoteId: quoted["quoteId"],
      sender: alice?.address,
      recipients,
    });
    const address = String(created["ephemeralAddress"]);
    const payer = Keypair.fromSecretKey(bs58.decode(alice?.secretKey ?? ""));
    // Half of what is asked for: the order waits for the rest.
    const half = { fromPubkey: payer.publicKey, toPubkey: new PublicKey(address), lamports: 250_000_000 };
    await sendAndConfirmTransaction(connection(dev), new Transaction().add(SystemProgram.transfer(half)), [
      payer,
    ]);
    await eventually(async () =>
      expect(await connection(dev).getBalance(half.toPubkey, "finalized")).toBe(half.lamports),
    );
    const before = Number((await balances(dev, 0))["SOL"]);
    await dev.end("SIGTERM");
    for (const suffix of ["", "-wal", "-shm"]) {
      await rm(join(folder, `payments.db${suffix}`), { force: true });
    }

    const orders = join(folder, "orders.jsonl");
    const lines = await readFile(orders, "utf8");
    expect(lines).toContain(String(created["transactionId"]));
    expect((await room("recover", orders, ...BY)).stdout).toMatch(/ open$/m);
    // Its window is over.
    const late = `${folder}-late.jsonl`;
    await writeFile(late, lines.replaceAll(/"windowEnds":\d+/g, '"windowEnds":1'));
    const recovered = await room("recover", late, ...BY);
    expect(recovered).toMatchObject({ code: 0, stderr: "" });
    expect(recovered.stdout).toMatch(
      new RegExp(`^${String(created["transactionId"])} +${address} +restored +0.25 SOL$`, "m"),
    );
    expect((await room("attention")).stdout).toBe("Nothing needs a person.\n");

    dev = await startDev(folder, { args: FAST_SLOTS });
    await eventually(async () =>
      expect(Number((await balances(dev, 0))["SOL"])).toBeGreaterThan(before + 0.2),
    );
    expect(await room("recover", join(folder, "nowhere"), ...BY)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `paystate: ${join(folder, "nowhere")} cannot be read (ENOENT): name the file of a recovery journal\n`,
    });
  },
);

test("a host resolves and approves matters of its own service", async () => {
  const own = `${folder}-service.mjs`;
  await writeFile(
    own,
    `const matter = { kind: "held", id: "held:A", transactionId: "tx_1", since: "2026-01-01T00:00:00.000Z",
      message: "order tx_1 is held: screening", actions: ["release", "refundTo"] };
    const told = (resolution) => async (id, ...rest) => {
      process.stderr.write(JSON.stringify(rest) + "\\n");
      return { id, action: "refundTo", ...resolution };
    };
    export const service = {
      reconcile: async () => ({}),
      operator: {
        attention: async () => [matter],
        resolve: told({ state: "awaits_approval", address: "B" }),
        approve: told({ state: "done" }),
      },
    };`,
  );
  const on = (...args: string[]): Promise<Ended> => runCommand(["operator", ...args, "--service", own]);
  expect((await on("attention")).stdout).toBe(
    "2026-01-01T00:00:00.000Z  order tx_1 is held: screening (tx_1)\n" +
      "    paystate operator resolve held:A --action release|refundTo\n",
  );
  expect(await on("resolve", "held:A", "--action", "refundTo", "--address", "B", ...BY)).toMatchObject({
    code: 0,
    stdout: "held:A: refundTo has to be confirmed: paystate operator approve held:A --address B\n",
    stderr: '[{"action":"refundTo","address":"B"},{"actor":"ann","reason":"a drill"}]\n',
  });
  expect(await on("approve", "held:A", "--address", "B", ...BY)).toMatchObject({
    stdout: "held:A: refundTo is decided. A service at work carries it out.\n",
    stderr: '[{"address":"B"},{"actor":"ann","reason":"a drill"}]\n',
  });
  await rm(own);
});

test.concurrent.each([
  ["attention now", "too many arguments for 'attention'. Expected 0 arguments but got 1."],
  ["resolve --action retry --actor ann --reason x", "missing required argument 'ID'"],
  [
    "resolve a b --action retry --actor ann --reason x",
    "too many arguments for 'resolve'. Expected 1 argument but got 2.",
  ],
  ["resolve a --actor ann --reason x", "required option '--action <ACTION>' not specified"],
  [
    "resolve a --action pay --actor ann --reason x",
    "option '--action <ACTION>' argument 'pay' is invalid. Allowed choices are retry, drop, writeOff, settle, hold, release, decline, foreclose, conclude, refundTo, collect, foreign.",
  ],
  ["resolve a --action refundTo --actor ann --reason x", "--action refundTo expects --address"],
  [
    "resolve a --action retry --address B --actor ann --reason x",
    "--address expects --action refundTo or foreign",
  ],
  ["resolve a --action settle --actor ann --reason x", "--action settle expects --signature"],
  ["approve a", "required option '--actor <NAME>' not specified"],
  ["pause", "required option '--actor <NAME>' not specified"],
  ["pause --actor ann", "required option '--reason <TEXT>' not specified"],
  [
    "pause --actor --reason x",
    "option '--actor <NAME>' argument '--reason' is invalid. Expected a value before the next option.",
  ],
  ["limit --per-day 5 --actor ann --reason x", "required option '--asset <ASSET>' not specified"],
  ["suspend --actor ann --reason x", "missing required argument 'ACCOUNT_ID'"],
  [
    "audit --limit 0",
    "option '--limit <N>' argument '0' is invalid. Expected a whole number from 1 to 1000.",
  ],
  ["settle tx_1 --actor ann --reason x", "required option '--signature <SIGNATURE>' not specified"],
  [
    "witnesses --lower 1 --actor ann --reason x",
    "expected --lower NUMBER with --minutes MINUTES, or --restore",
  ],
  ["witnesses --actor ann --reason x", "expected --lower NUMBER with --minutes MINUTES, or --restore"],
  [
    "witnesses --lower 1 --minutes 5 --restore --actor ann --reason x",
    "expected --lower NUMBER with --minutes MINUTES, or --restore",
  ],
  [
    "witnesses --lower 1 --minutes 1441 --actor ann --reason outage",
    "option '--minutes <MINUTES>' argument '1441' is invalid. Expected a whole number from 1 to 1440.",
  ],
  [
    "endpoint --suspend a --actor ann --reason x",
    "expected --suspend NAME with --minutes MINUTES, or --restore NAME",
  ],
  [
    "endpoint --suspend a --minutes 5 --restore b --actor ann --reason x",
    "expected --suspend NAME with --minutes MINUTES, or --restore NAME",
  ],
  ["endpoint --actor ann --reason x", "expected --suspend NAME with --minutes MINUTES, or --restore NAME"],
  ["recover --actor ann --reason x", "missing required argument 'FILE'"],
])("`paystate operator %s` is refused: %s", async (line, sentence) => {
  expect(await wrongCall(["operator", ...line.split(" ")])).toBe(sentence);
});
