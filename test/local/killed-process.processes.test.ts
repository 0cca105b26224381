/** A chain whose process is killed with SIGKILL while it is being written to loses nothing it acknowledged. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Connection, Keypair, PublicKey, type VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { expect, onTestFinished, test } from "vitest";
import { createLocalChain, type LocalChain } from "paystate/local";
import { program } from "../programs/programs.ts";
import { connect, NEW_YEAR, signed, somebody, transfer } from "./kit.ts";

/** How many payments are under way at once, so that the kill finds some at every stage. */
const WRITERS = 4;

/** Three processes, on a machine that has other tests to run. */
const STARTS_TIMEOUT_MS = 120_000;

interface Running {
  readonly process: ChildProcess;
  readonly connection: Connection;
  readonly payer: Keypair;
}

async function start(journal: string): Promise<Running> {
  const child = spawn(process.execPath, [...program("chain-process"), journal], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url, secretKey } = JSON.parse(line) as { url: string; secretKey: number[] };
  return {
    process: child,
    connection: new Connection(url, { commitment: "processed", disableRetryOnRateLimit: true }),
    payer: Keypair.fromSecretKey(Uint8Array.from(secretKey)),
  };
}

/** A payment and whether the chain ever said that it took it. */
interface Payment {
  readonly transaction: VersionedTransaction;
  readonly signature: string;
  readonly recipient: PublicKey;
  acknowledged: boolean;
}

/** Pays different people, several at a time, until the node stops answering; `onAcknowledged` may bring that about. */
async function payUntilItDies(
  { connection, payer }: Running,
  onAcknowledged: (count: number) => void,
): Promise<Payment[]> {
  const payments: Payment[] = [];
  let acknowledged = 0;
  const { blockhash } = await connection.getLatestBlockhash();
  const writer = async (): Promise<void> => {
    for (;;) {
      const recipient = somebody();
      const transaction = signed(blockhash, [transfer(payer, recipient, 2_000_000n)], [payer]);
      const signature = bs58.encode(transaction.signatures[0] ?? new Uint8Array());
      const payment: Payment = { transaction, signature, recipient, acknowledged: false };
      payments.push(payment);
      await connection.sendTransaction(transaction, { skipPreflight: payments.length % 2 === 0 });
      payment.acknowledged = true;
      acknowledged += 1;
      onAcknowledged(acknowledged);
    }
  };
  await Promise.allSettled(Array.from({ length: WRITERS }, writer));
  return payments;
}

const HISTORY = { searchTransactionHistory: true };

/** The acknowledged payments that the chain does not know as landed without an error. */
async function missingIn(connection: Connection, payments: readonly Payment[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { signature, acknowledged } of payments) {
    const { value: status } = await connection.getSignatureStatus(signature, HISTORY);
    if (acknowledged && status?.err !== null) missing.push(signature);
  }
  return missing;
}

/** The chain of the journal in this process, which reads it as the next process would. */
function reopened(journal: string): Promise<LocalChain> {
  return createLocalChain({ clock: { now: () => NEW_YEAR }, slotMs: 0, journal });
}

test(
  "what a killed chain acknowledged is there after each of three kills, nothing is half there",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "paystate-killed-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const journal = join(directory, "chain.jsonl");
    const all: Payment[] = [];
    let lastSlot = 0;
    for (const killAfter of [5, 23, 60]) {
      const running = await start(journal);
      const exited = once(running.process, "exit");
      const slot = await running.connection.getSlot();
      expect(slot).toBeGreaterThanOrEqual(lastSlot);
      lastSlot = slot;
      expect(await missingIn(running.connection, all)).toEqual([]);
      const payments = await payUntilItDies(running, (count) => {
        if (count === killAfter) running.process.kill("SIGKILL");
      });
      expect((await exited)[1]).toBe("SIGKILL");
      expect(payments.filter(({ acknowledged }) => acknowledged).length).toBeGreaterThanOrEqual(killAfter);
      all.push(...payments);
    }

    const chain = await reopened(journal);
    onTestFinished(() => chain.close());
    const connection = connect(chain, "processed");
    expect(await missingIn(connection, all)).toEqual([]);
    let landed = 0;
    for (const { signature, recipient } of all) {
      const { value: status } = await connection.getSignatureStatus(signature, HISTORY);
      // Both or neither: the status, and the money.
      expect(await connection.getBalance(recipient), signature).toBe(status === null ? 0 : 2_000_000);
      if (status !== null) landed += 1;
    }
    const payer = new PublicKey(chain.wallets()[0]?.address ?? "");
    expect(await connection.getBalance(payer)).toBe(1_000_000_000_000 - landed * 2_005_000);
    const lines = readFileSync(journal, "utf8").split("\n").filter(Boolean);
    const written = lines.map((line) => JSON.parse(line) as { kind: string; bytes?: string });
    // The founding of the wallet, and each payment once.
    expect(written.filter(({ kind }) => kind === "transaction")).toHaveLength(landed + 1);
  },
  STARTS_TIMEOUT_MS,
);
