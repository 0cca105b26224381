/** A chain that begins with a snapshot is the chain that replays its whole journal: nobody can tell one from the other. */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeMint2Instruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLocalChain, type LocalChain, type LocalChainOptions } from "paystate/local";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { connect, keyOf, NEW_YEAR, rpc, signed, SOL, somebody, transfer } from "./kit.ts";

const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "paystate-snapshot-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A chain that may stay open, as one whose process is killed. */
function open(folder: string, options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const journal = join(folder, "chain.jsonl");
  return createLocalChain({ clock: { now: () => NEW_YEAR }, slotMs: 0, journal, ...options });
}

/** What is in the folder now, as a killed process leaves it. */
function copyOf(folder: string): string {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** As `copyOf`, with nothing but the journal. */
function journalOf(folder: string): string {
  const copy = newFolder();
  cpSync(join(folder, "chain.jsonl"), join(copy, "chain.jsonl"));
  return copy;
}

function snapshotFile(folder: string): string {
  return join(folder, "chain.jsonl.snapshot", "snapshot.jsonl");
}

/** How many transactions the snapshot in the folder stands for, -1 without one. */
function snapshotted(folder: string): number {
  if (!existsSync(snapshotFile(folder))) return -1;
  const [header] = readFileSync(snapshotFile(folder), "utf8").split("\n", 1);
  return (JSON.parse(header ?? "") as { readonly transactions: number }).transactions;
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

interface KnownTransaction {
  readonly signature: string;
  readonly slot: number;
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
}

/** Every transaction that the chain tells of, by its blocks. */
async function blocksOf(chain: LocalChain): Promise<readonly (KnownTransaction & { block: unknown })[]> {
  const found = [];
  const config = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0 };
  for (let slot = 1000; slot <= chain.slot(); slot += 1) {
    const { result: block } = await rpc(chain, "getBlock", slot, config);
    const { transactions = [] } = (block ?? {}) as { transactions?: { transaction: unknown }[] };
    for (const one of transactions) {
      const transaction = one.transaction as KnownTransaction["transaction"] & { signatures: string[] };
      found.push({ signature: transaction.signatures[0] ?? "", slot, transaction, block });
    }
  }
  return found;
}

/** The answer of every method that reads, for everything that a client could have heard of. */
async function everything(chain: LocalChain, others: readonly string[]): Promise<unknown[]> {
  const answers: unknown[] = [chain.wallets(), chain.slot(), chain.blockHeight(), chain.genesisHash];
  const ask = async (method: string, ...params: unknown[]): Promise<void> => {
    answers.push([method, params, await rpc(chain, method, ...params)]);
  };
  const blocks = await blocksOf(chain);
  const named = blocks.flatMap(({ transaction }) => transaction.message.accountKeys);
  const addresses = [...new Set([...named, ...others])].toSorted();
  answers.push(blocks);
  for (const commitment of COMMITMENTS) {
    const config = { commitment, encoding: "base64" };
    for (const address of addresses) {
      await ask("getAccountInfo", address, config);
      await ask("getTokenAccountsByOwner", address, { programId: TOKEN }, config);
    }
    for (const method of ["getSlot", "getBlockHeight", "getLatestBlockhash", "getEpochInfo"]) {
      await ask(method, { commitment });
    }
    const { result: owned } = await rpc(chain, "getProgramAccounts", TOKEN, config);
    answers.push((owned as { pubkey: string }[]).toSorted((a, b) => (a.pubkey < b.pubkey ? -1 : 1)));
  }
  for (const address of addresses) {
    await ask("getSignaturesForAddress", address, { commitment: "confirmed" });
    await ask("getSignaturesForAddress", address, { commitment: "finalized", limit: 2 });
  }
  const signatures = blocks.map(({ signature }) => signature);
  const config = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0 };
  for (const signature of signatures) {
    await ask("getTransaction", signature, config);
    await ask("getSignatureStatuses", [signature], { searchTransactionHistory: true });
  }
  for (let slot = 999; slot <= chain.slot(); slot += 1) await ask("getBlockTime", slot);
  await ask("getTransactionCount");
  await ask("getMinimumBalanceForRentExemption", 165);
  return answers;
}

/** The chain of the folder beside the one that replays the folder's journal from its beginning; both end with the test. */
async function bothOf(folder: string): Promise<readonly [LocalChain, LocalChain]> {
  const whole = journalOf(folder);
  const restored = await open(folder);
  const replayed = await open(whole);
  onTestFinished(async () => {
    await restored.close();
    await replayed.close();
  });
  return [restored, replayed];
}

/** A life that is drawn by lot: what happens to one chain, and who takes part. */
class Life {
  readonly chain: LocalChain;
  readonly people: readonly Keypair[];
  /** Everything that was sent. */
  readonly sent: Uint8Array[] = [];

  constructor(chain: LocalChain) {
    this.chain = chain;
    this.people = ["ada", "bob", "cleo"].map((name) =>
      keyOf(chain.createWallet(name, { lamports: 10n * SOL, usdc: 5_000_000n })),
    );
  }

  get addresses(): string[] {
    const { faucet, mints } = this.chain;
    return [
      faucet.address,
      mints.USDC,
      mints.USDT,
      ...this.people.map(({ publicKey }) => publicKey.toBase58()),
    ];
  }

  async send(
    instructions: TransactionInstruction[],
    signers: readonly [Keypair, ...Keypair[]],
  ): Promise<void> {
    const connection = connect(this.chain, "processed");
    const { blockhash } = await connection.getLatestBlockhash();
    const bytes = signed(blockhash, instructions, signers).serialize();
    this.sent.push(bytes);
    await connection.sendRawTransaction(bytes, { skipPreflight: true });
  }

  async act({ kind, from, to, amount }: Act): Promise<void> {
    const { chain, people } = this;
    const [payer, payee] = [people[from % 3], people[to % 3]];
    if (payer === undefined || payee === undefined) throw new Error("three people take part");
    const usdc = new PublicKey(chain.mints.USDC);
    const ata = (owner: PublicKey): PublicKey => getAssociatedTokenAddressSync(usdc, owner);
    const { publicKey } = payer;
    switch (kind) {
      case "pay":
        return this.send([transfer(payer, payee.publicKey, BigInt(amount) * 10_000_000n)], [payer]);
      case "pay somebody":
        return this.send([transfer(payer, somebody(), BigInt(amount) * 10_000n)], [payer]);
      case "pay tokens":
        return this.send(
          [
            createAssociatedTokenAccountIdempotentInstruction(
              publicKey,
              ata(payee.publicKey),
              payee.publicKey,
              usdc,
            ),
            createTransferCheckedInstruction(
              ata(publicKey),
              usdc,
              ata(payee.publicKey),
              publicKey,
              amount * 10_000,
              6,
            ),
          ],
          [payer],
        );
      case "close":
        return this.send(
          [createCloseAccountInstruction(ata(publicKey), payee.publicKey, publicKey)],
          [payer],
        );
      case "make a mint of Token-2022":
        return this.#makeMint(payer);
      case "fund":
        chain.fund(publicKey.toBase58(), { lamports: BigInt(amount), usdt: BigInt(amount) });
        return;
      case "advance":
        chain.advance(1 + (amount % 50));
        return;
      case "roll back":
        chain.rollback(Math.max(1000, chain.slot() - (amount % 30)));
        return;
      case "change the rent":
        chain.setRent(BigInt(6_000 + amount));
        return;
    }
  }

  async #makeMint(payer: Keypair): Promise<void> {
    const mint = Keypair.generate();
    const create = SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      lamports: 10_000_000,
      space: MINT_SIZE,
      programId: TOKEN_2022_PROGRAM_ID,
    });
    const begin = createInitializeMint2Instruction(
      mint.publicKey,
      6,
      payer.publicKey,
      null,
      TOKEN_2022_PROGRAM_ID,
    );
    return this.send([create, begin], [payer, mint]);
  }
}

const KINDS = [
  "pay",
  "pay somebody",
  "pay tokens",
  "close",
  "make a mint of Token-2022",
  "fund",
  "advance",
  "roll back",
  "change the rent",
] as const;

interface Act {
  readonly kind: (typeof KINDS)[number];
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

const acts = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 2 }),
    amount: fc.integer({ min: 1, max: 500 }),
  }),
  { minLength: 5, maxLength: 40 },
);

test(
  "whatever happened, the chain of a snapshot answers like the one that replays all, and both go on alike",
  async () => {
    const lives = fc.asyncProperty(acts, acts, fc.integer({ min: 1, max: 9 }), async (first, then, every) => {
      const folder = newFolder();
      const life = new Life(await open(folder, { snapshotEvery: every }));
      for (const act of first) await life.act(act);
      const killed = copyOf(folder);
      for (const act of then) await life.act(act);
      await life.chain.close();
      expect(snapshotted(folder)).toBeGreaterThanOrEqual(0);
      for (const left of [killed, folder]) await alike(left, life);
    });
    await fc.assert(lives, { numRuns: byDepth({ quick: 2, ci: 15, long: 300 }) });
  },
  EXPLORING_MS,
);

/** Compares all answers, refuses what has landed, and compares again after new transactions. */
async function alike(folder: string, { addresses, sent, people }: Life): Promise<void> {
  const [restored, replayed] = await bothOf(folder);
  expect(await everything(restored, addresses)).toEqual(await everything(replayed, addresses));
  const blockhash = (await connect(replayed, "processed").getLatestBlockhash()).blockhash;
  const fresh = people.map((payer) =>
    signed(blockhash, [transfer(payer, somebody(), SOL)], [payer]).serialize(),
  );
  const results = [restored, replayed].map(async (chain) => {
    const connection = connect(chain, "processed");
    const told: unknown[] = [];
    for (const bytes of [...sent, ...fresh, ...fresh]) {
      told.push(await connection.sendRawTransaction(bytes).catch((error: unknown) => String(error)));
      told.push(await connection.sendRawTransaction(bytes, { skipPreflight: true }).catch(String));
    }
    return told;
  });
  expect(await results[0]).toEqual(await results[1]);
  for (const chain of [restored, replayed]) chain.advance(40);
  expect(await everything(restored, addresses)).toEqual(await everything(replayed, addresses));
}

/** Pays one after another, and lets the event loop come round in between. */
async function pay({ chain, people: [payer] }: Life, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    chain.fund(payer?.publicKey.toBase58() ?? "", { lamports: 1n, usdc: BigInt(n + 1) });
    if (n % 3 === 0) chain.advance(1);
    await turn();
  }
}

test("killed between any two steps of writing a snapshot, it goes on from the one before or from the new one", async () => {
  const folder = newFolder();
  const life = new Life(await open(folder, { snapshotEvery: 10 }));
  onTestFinished(() => life.chain.close());
  const left = new Map<string, string>();
  const look = (): void => {
    const files = readdirSync(`${join(folder, "chain.jsonl")}.snapshot`);
    const name = `${files.join(" ")} ${snapshotted(folder)} ${String(files.includes("snapshot.new"))}`;
    if (!left.has(name)) left.set(name, copyOf(folder));
  };
  for (let round = 0; round < 3; round += 1) {
    const before = snapshotted(folder);
    await pay(life, 10);
    for (let turns = 0; snapshotted(folder) === before; turns += 1) {
      look();
      await turn();
      if (turns > 100_000) throw new Error("no snapshot was written");
    }
    look();
  }
  // Beside the old snapshot and beside none a new one was half there.
  expect([...left.keys()].filter((name) => name.includes("snapshot.new")).length).toBeGreaterThan(1);
  for (const copy of left.values()) {
    const [restored, replayed] = await bothOf(copy);
    expect(await everything(restored, life.addresses)).toEqual(await everything(replayed, life.addresses));
  }
});

const DAMAGES: Readonly<Record<string, (folder: string) => void>> = {
  "cut off": (folder) => truncateSync(snapshotFile(folder), 300),
  "cut off at the end of a line": (folder) => {
    const lines = readFileSync(snapshotFile(folder), "utf8").split("\n");
    writeFileSync(snapshotFile(folder), `${lines.slice(0, -2).join("\n")}\n`);
  },
  empty: (folder) => truncateSync(snapshotFile(folder), 0),
  "with another balance": (folder) => edit(snapshotFile(folder), '"lamports":"', '"lamports":"1'),
  "of another format": (folder) => reseal(folder, '"format":1', '"format":2'),
  "of another litesvm": (folder) => reseal(folder, '"litesvm":"1.5.0"', '"litesvm":"1.6.0"'),
  "of a chain that is final earlier": (folder) => reseal(folder, '"finalizedAfter":32', '"finalizedAfter":3'),
  "with changed notes": (folder) =>
    edit(join(`${folder}/chain.jsonl.snapshot`, "notes.jsonl"), '"slot":1000', '"slot":1001'),
  "with notes cut off": (folder) => truncateSync(join(`${folder}/chain.jsonl.snapshot`, "notes.jsonl"), 500),
  "with a history cut off": (folder) => truncateSync(join(`${folder}/chain.jsonl.snapshot`, "history"), 500),
};

/** Replaces the first place where `from` stands. */
function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
}

/** Changes a snapshot and makes its checksum fit. */
function reseal(folder: string, from: string, to: string): void {
  edit(snapshotFile(folder), from, to);
  const lines = readFileSync(snapshotFile(folder), "utf8").split("\n").slice(0, -2);
  const text = `${lines.join("\n")}\n`;
  const digest = createHash("sha256").update(text).digest("hex");
  writeFileSync(snapshotFile(folder), `${text}${JSON.stringify({ kind: "end", digest })}\n`);
}

async function closedChain(): Promise<{ readonly folder: string; readonly life: Life }> {
  const folder = newFolder();
  const life = new Life(await open(folder));
  await pay(life, 5);
  await life.chain.close();
  return { folder, life };
}

test.each(Object.entries(DAMAGES))(
  "a snapshot %s is left out with a warning, and the journal replayed",
  async (_, damage) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const { folder, life } = await closedChain();
    await open(copyOf(folder)).then((chain) => chain.close());
    expect(warn).not.toHaveBeenCalled();
    damage(folder);
    const [restored, replayed] = await bothOf(folder);
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/snapshot .+ replayed instead/));
    expect(await everything(restored, life.addresses)).toEqual(await everything(replayed, life.addresses));
    restored.fund(restored.faucet.address, { lamports: 1n });
    await restored.close();
    await open(folder).then((chain) => chain.close());
    expect(warn).toHaveBeenCalledOnce();
  },
);

test("a snapshot of another journal is left out: one that was restored from a copy tells another story", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const { folder, life } = await closedChain();
  const older = journalOf(folder);
  const again = await open(folder);
  await pay(new Life(again), 7);
  await again.close();
  cpSync(join(older, "chain.jsonl"), join(folder, "chain.jsonl"));
  const [restored, replayed] = await bothOf(folder);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("does not belong to its journal"));
  expect(await everything(restored, life.addresses)).toEqual(await everything(replayed, life.addresses));
});

test("where the journal was deleted a new chain begins, without a word of the old one", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const { folder, life } = await closedChain();
  rmSync(join(folder, "chain.jsonl"));
  const begun = await open(folder);
  expect(warn).not.toHaveBeenCalled();
  const fresh = await open(newFolder());
  expect(await everything(begun, life.addresses)).toEqual(await everything(fresh, life.addresses));
});

test("damage to the journal is refused with the number of its line, behind a snapshot and before its end", async () => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const { folder } = await closedChain();
  const behind = copyOf(folder);
  const lines = readFileSync(join(folder, "chain.jsonl"), "utf8").split("\n");
  appendFileSync(join(behind, "chain.jsonl"), "nonsense\n");
  await expect(open(behind)).rejects.toThrow(`cannot be read at line ${lines.length}:`);
  writeFileSync(join(folder, "chain.jsonl"), lines.with(3, "nonsense").join("\n"));
  await expect(open(folder)).rejects.toThrow("cannot be read at line 4:");
});

test("where a snapshot cannot be written, the chain goes on and says so once", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const folder = newFolder();
  mkdirSync(join(folder, "chain.jsonl.snapshot", "snapshot.new"), { recursive: true });
  const life = new Life(await open(folder));
  await pay(life, 5);
  await life.chain.close();
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/could not be written .+: the next start takes longer/),
  );
  expect(snapshotted(folder)).toBe(-1);
  await open(folder).then((chain) => chain.close());

  const file = newFolder();
  writeFileSync(join(file, "chain.jsonl.snapshot"), "");
  const chain = await open(file);
  chain.fund(chain.faucet.address, { lamports: 1n });
  await chain.close();
  expect(warn).toHaveBeenLastCalledWith(
    expect.stringMatching(/cannot be kept .+: each start replays the whole journal/),
  );
});

test("only its owner may read what is kept beside the journal", async () => {
  const { folder } = await closedChain();
  const kept = join(folder, "chain.jsonl.snapshot");
  const modes = [kept, ...readdirSync(kept).map((name) => join(kept, name))].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
});
