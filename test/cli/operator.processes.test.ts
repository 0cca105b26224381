/** `paystate operator reconcile` and `paystate operator resolve`, beside a running `paystate dev`, after it, and on a restored database. */
import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import bs58 from "bs58";
import { Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction } from "@solana/web3.js";
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
} from "@solana/spl-token";
import { afterAll, expect, test as vitestTest } from "vitest";
import { leaveNothing, newDataFolder, runCommand, type Ended } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";
import { call, connection, DevHome, type DevSession, untilFinal } from "./dev-session.ts";
import { eventually } from "../kit/eventually.ts";

afterAll(leaveNothing);

/** Who acts in this file, and why. */
const BY = ["--actor", "ann", "--reason", "a drill"];

/** The one private order of this file. */
interface Order {
  readonly transactionId: string;
  readonly address: string;
  /** In lamports. */
  readonly due: number;
}

/** `order` makes the one order when it is first asked for. */
const test = vitestTest
  .extend("folder", { scope: "file" }, ({}) => newDataFolder())
  .extend("home", { scope: "file" }, ({ folder }) => {
    return new DevHome(folder, { args: ["--slot-ms", "50"] }).start();
  })
  .extend("reconcile", ({ folder }) => {
    return (...args: string[]) => runCommand(["operator", "reconcile", "--data", folder, ...args]);
  })
  .extend("order", { scope: "file" }, ({ home }) => {
    let placed: Promise<Order> | null = null;
    return () => (placed ??= placeOrder(home.dev));
  });

interface Reconciled {
  readonly isExplained: boolean;
  readonly addresses: number;
  readonly assets: readonly Readonly<Record<string, string>>[];
  readonly findings: readonly { transactionId: string; findings: readonly Record<string, unknown>[] }[];
}

/** Orders a private send of half a SOL. */
async function placeOrder(dev: DevSession): Promise<Order> {
  const [alice, bob] = dev.wallets;
  const recipients = [{ address: bob?.address, amount: "0.5" }];
  const priced = { inputAsset: "SOL", outputAsset: "SOL", amount: "0.5", mode: "private", recipients };
  const { body: quote } = await call(dev, "/quotes", priced);
  const { status, body } = await call(dev, "/transactions", {
    type: "send",
    mode: "private",
    quoteId: quote["quoteId"],
    sender: alice?.address,
    recipients,
  });
  expect(status).toBe(201);
  return {
    transactionId: String(body["transactionId"]),
    address: String(body["ephemeralAddress"]),
    due: Math.round(Number(body["depositAmount"]) * 1e9),
  };
}

/** Pays from the first wallet, as any wallet would. */
async function pay(dev: DevSession, { address, due }: Order): Promise<void> {
  const alice = Keypair.fromSecretKey(bs58.decode(dev.wallets[0]?.secretKey ?? ""));
  const to = { fromPubkey: alice.publicKey, toPubkey: new PublicKey(address), lamports: due };
  await sendAndConfirmTransaction(connection(dev), new Transaction().add(SystemProgram.transfer(to)), [
    alice,
  ]);
}

test(
  "beside a running paystate dev everything is explained, before, during and after a private send",
  { timeout: 120_000 },
  async ({ folder, home, reconcile, order }) => {
    const empty = await reconcile();
    expect(empty).toMatchObject({ code: 0, stderr: "" });
    expect(empty.stdout).toContain("0 deposit addresses: every base unit is explained.\n");
    const ordered = await order();
    // As a backup that was made before anything came.
    await home.dev.end("SIGTERM");
    await copyFile(join(folder, "payments.db"), join(folder, "backup.db"));
    await home.start();
    await pay(home.dev, ordered);
    expect(await reconcile("--json")).toMatchObject({ code: 0, stderr: "" });
    expect(await untilFinal(home.dev, ordered.transactionId)).toMatchObject({ status: "completed" });
    const done = await reconcile("--json");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(/^\{[^\n]*\}\n$/);
    const { isExplained, addresses, assets, findings } = JSON.parse(done.stdout) as Reconciled;
    expect({ isExplained, addresses, findings }).toEqual({ isExplained: true, addresses: 1, findings: [] });
    expect(assets[0]).toMatchObject({
      asset: "SOL",
      deposits: String(ordered.due / 1e9),
      payouts: "0.5",
      missing: "0",
    });
    const page = await reconcile();
    expect(page.stdout).toMatch(/^paid out +0\.5 +0 +0$/m);
    expect(page.stdout).toMatch(/^1 deposit address: every base unit is explained\.$/m);
  },
);

test("an order is held and released by its transaction's id, and what is none is refused in a sentence", async ({
  folder,
  order,
}) => {
  const { transactionId } = await order();
  for (const action of ["hold", "release"]) {
    const decided = await runCommand([
      "operator",
      "resolve",
      transactionId,
      "--action",
      action,
      "--data",
      folder,
      ...BY,
    ]);
    expect(decided).toMatchObject({ code: 0, stderr: "" });
    expect(decided.stdout).toBe(
      `${transactionId}: ${action} is decided. A service at work carries it out.\n`,
    );
  }
  const none = await runCommand([
    "operator",
    "resolve",
    "tx_none",
    "--action",
    "hold",
    "--data",
    folder,
    ...BY,
  ]);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("tx_none");
});

test(
  "P11: two people send tokens of another mint on to the sender, and a sentence says why not",
  { timeout: 120_000 },
  async ({ folder, home, reconcile, order }) => {
    const { dev } = home;
    const { transactionId, address } = await order();
    const alice = Keypair.fromSecretKey(bs58.decode(dev.wallets[0]?.secretKey ?? ""));
    const confirmed = connection(dev);
    const program = TOKEN_2022_PROGRAM_ID;
    const mint = Keypair.generate();
    const account = getAssociatedTokenAddressSync(mint.publicKey, new PublicKey(address), true, program);
    const space = getMintLen([]);
    await sendAndConfirmTransaction(
      confirmed,
      new Transaction().add(
        SystemProgram.createAccount({
          fromPubkey: alice.publicKey,
          newAccountPubkey: mint.publicKey,
          lamports: await confirmed.getMinimumBalanceForRentExemption(space),
          space,
          programId: program,
        }),
        createInitializeMint2Instruction(mint.publicKey, 6, alice.publicKey, null, program),
        createAssociatedTokenAccountIdempotentInstruction(
          ...([alice.publicKey, account, new PublicKey(address), mint.publicKey, program] as const),
        ),
        createMintToCheckedInstruction(mint.publicKey, account, alice.publicKey, 2_500_000n, 6, [], program),
      ),
      [alice, mint],
    );
    const foreign = (...args: string[]): Promise<Ended> =>
      runCommand([
        ...["operator", "resolve", transactionId, "--action", "foreign", "--mint", mint.publicKey.toBase58()],
        ...["--data", folder, ...BY, ...args],
      ]);
    const nowhere = await foreign("--address", "nobody");
    expect(nowhere).toMatchObject({ code: 1, stdout: "" });
    expect(nowhere.stderr).toContain("nobody");
    // A transfer before this one may still be under way.
    let asked = await foreign();
    for (let tries = 0; asked.code !== 0 && tries < 20; tries++) asked = await foreign();
    const sender = dev.wallets[0]?.address ?? "";
    expect(asked).toMatchObject({
      code: 0,
      stderr: "",
      stdout: `${transactionId}: foreign has to be confirmed, at most 2500000 ${mint.publicKey.toBase58()}: paystate operator approve ${transactionId} --address ${sender}\n`,
    });
    const approved = await runCommand([
      ...["operator", "approve", transactionId, "--address", sender, "--data", folder],
      ...["--actor", "bea", "--reason", "a drill"],
    ]);
    expect(approved).toMatchObject({
      code: 0,
      stdout: `${transactionId}: foreign is decided. A service at work carries it out.\n`,
    });
    const own = getAssociatedTokenAddressSync(mint.publicKey, alice.publicKey, true, program);
    await eventually(async () =>
      expect((await confirmed.getTokenAccountBalance(own)).value.amount).toBe("2500000"),
    );
    await eventually(async () =>
      expect((await foreign()).stderr).toContain(`holds nothing of ${mint.publicKey.toBase58()}\n`),
    );
    expect(await reconcile("--json")).toMatchObject({ code: 0, stderr: "" });
  },
);

test("a stopped setup is asked without being started", async ({ home, reconcile }) => {
  await home.dev.end("SIGTERM");
  expect(await reconcile("--json")).toMatchObject({ code: 0, stderr: "" });
});

test("E17: on a database restored from before the payout what its markers say is adopted, and all is explained", async ({
  folder,
  reconcile,
  order,
}) => {
  await order();
  for (const suffix of ["-wal", "-shm"]) await rm(join(folder, `payments.db${suffix}`), { force: true });
  await copyFile(join(folder, "backup.db"), join(folder, "payments.db"));
  const found = JSON.parse((await reconcile("--json")).stdout) as Reconciled;
  expect(found.findings).toEqual([]);
  expect(found.assets[0]).toMatchObject({ asset: "SOL", payouts: "0.5", missing: "0" });
});

test("a host asks its own service by the module that exports it", async () => {
  const own = `${await newDataFolder()}.mjs`;
  await writeFile(
    own,
    `export const service = {
      reconcile: async () => ({
        isExplained: false, addresses: 7, assets: [], findings: [],
        wallet: {
          transactions: 9, unproven: 2,
          findings: [{ transactionId: "tx_9", status: "completed", signature: "S9", onChain: "never_landed" }],
        },
        purses: [{ purse: "desk", address: "D", transactions: 4, isWhole: false, unknownSignatures: ["S1", "S2"] }],
        mendedTotals: [{ resource: "sponsor D", kept: "7", counted: "5" }],
      }),
      operator: {
        settleTransaction: async ({ transactionId, signature }, { actor }) => ({
          transactionId, status: "cancelled",
          landing: { signature, slot: 7, blockTime: 1, fee: 5000n, error: actor === "ann" ? null : "program_error" },
        }),
      },
    };
    setInterval(() => {}, 1_000);`,
  );
  const page = await runCommand(["operator", "reconcile", "--service", own]);
  expect(page).toMatchObject({ code: 1, stderr: "" });
  for (const line of [
    "tx_9 (completed) S9: never landed",
    "desk D: has signed S1, S2, which this database does not know",
    "sponsor D: its total was 7, its rows sum to 5: mended",
    "9 wallet transactions that are over, of 2 of which no node has the history any more. The newest 4 transactions of the desk.",
    "7 deposit addresses: NOT everything is explained.",
  ]) {
    expect(page.stdout).toContain(`${line}\n`);
  }
  const settled = await runCommand([
    "operator",
    "settle",
    "tx_1",
    "--signature",
    "S",
    "--service",
    own,
    ...BY,
  ]);
  expect(settled).toMatchObject({ code: 0, stderr: "" });
  expect(settled.stdout).toBe("tx_1 is settled: S has landed in slot 7. It is shown as cancelled.\n");
  const told = await runCommand([
    ...["operator", "settle", "tx_1", "--signature", "S", "--service", own, "--json"],
    ...["--actor", "bea", "--reason", "a drill"],
  ]);
  expect(JSON.parse(told.stdout)).toEqual({
    transactionId: "tx_1",
    status: "cancelled",
    landing: { signature: "S", slot: 7, blockTime: 1, fee: "5000", error: "program_error" },
  });
  await writeFile(own, "export const payments = {};");
  expect(await runCommand(["operator", "reconcile", "--service", own])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: `paystate: ${own} exports no \`service\`: expected what createPaymentService returns, under this name\n`,
  });
  await rm(own);
});

test.each([
  [
    "operator reconcile --data nowhere",
    "there is no paystate dev in nowhere: name its folder with --data",
    2,
  ],
  [
    "operator reconcile --service nowhere.js",
    "there is no nowhere.js: name a module that exports your service",
    2,
  ],
])("`paystate %s` is refused: %s", async (line, sentence, code) => {
  const ended = await runCommand(line.split(" "));
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  expect(ended.stderr).toBe(`paystate: ${sentence}\n`);
});

test.each([
  ["operator reconcile --data a --service b", "expected --data or --service, not both"],
  ["operator reconcile now", "too many arguments for 'reconcile'. Expected 0 arguments but got 1."],
  ["operator settle --signature S --actor ann --reason x", "missing required argument 'TRANSACTION_ID'"],
  ["operator settle tx_1 --signature S", "required option '--actor <NAME>' not specified"],
  ["operator settle tx_1 --signature S --actor ann", "required option '--reason <TEXT>' not specified"],
])("`paystate %s` is refused as a wrong call: %s", async (line, sentence) => {
  expect(await wrongCall(line.split(" "))).toBe(sentence);
});

test("Q20: purses says what the wallets of the service hold, in JSON what the operator's call answers", async ({
  folder,
  home,
}) => {
  expect(home.dev.baseUrl).toContain("http");
  const page = await runCommand(["operator", "purses", "--data", folder]);
  expect(page).toMatchObject({ code: 0, stderr: "" });
  expect(page.stdout).toMatch(/^sponsor +SOL +\d+(\.\d+)? /m);
  const { stdout } = await runCommand(["operator", "purses", "--data", folder, "--json"]);
  const purses = JSON.parse(stdout) as readonly { readonly purse: string; readonly balance: string }[];
  expect(purses.find(({ purse }) => purse === "sponsor")).toMatchObject({
    isLow: false,
    reserved: expect.any(String) as string,
  });
});

test("Q22: account erase asks in the name of one person and is done in that of another", async () => {
  const own = `${await newDataFolder()}.mjs`;
  await writeFile(
    own,
    `export const service = { reconcile: async () => ({}), operator: {
      erase: async (erasure, { actor }) =>
        ({ ...erasure, transactions: 2, state: actor === "ann" ? "awaits_approval" : "done" }),
    } };`,
  );
  const erase = (actor: string, ...more: string[]) =>
    runCommand([
      "account",
      "erase",
      "acct_1",
      ...more,
      "--service",
      own,
      "--actor",
      actor,
      "--reason",
      "asked",
    ]);
  expect((await erase("ann", "--reference", "carl")).stdout).toBe(
    "one reference of account acct_1, 2 transactions: another person has to ask for the same.\n",
  );
  expect((await erase("bob")).stdout).toBe(
    "account acct_1 is erased, 2 transactions. Backups, archives and logs hold it until you remove them.\n",
  );
  expect((await erase("bob", "--json")).stdout).toBe(
    `${JSON.stringify({ accountId: "acct_1", transactions: 2, state: "done" })}\n`,
  );
  expect((await runCommand(["account", "forget", "acct_1"])).stderr).toContain("unknown command 'forget'");
});
