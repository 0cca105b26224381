/** Chains that the deployment is tried on, and the program itself as a process beside the test. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type PaymentClient } from "../../src/client/index.ts";
import { signPayment, type Wallet } from "../kit/chain-fixture.ts";
import { units } from "../kit/money.ts";
import { newDataFolder, runCommand, startProgram, type Ended, type Running } from "../cli/command.ts";

/** A chain of no money's worth, with two mints of its own. */
export interface ChainToTry {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly sponsor: Wallet;
  readonly treasury: Wallet;
  /** Holds SOL and USDC. */
  readonly alice: Wallet;
  /** Have never been used. */
  readonly payees: readonly string[];
  giveUsdc(owner: string, amount: bigint): Promise<void>;
  close(): Promise<void>;
}

/** The deployment of one chain: its variables, its folder and its commands. */
export class Deployment {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.env = env;
  }

  /** Configures it, by variables and files alone. */
  static async on(
    { rpcUrl, mints, sponsor, treasury }: ChainToTry,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Deployment> {
    const folder = await newDataFolder();
    await mkdir(folder);
    const [secret, sponsorKey] = [join(folder, "master-secret"), join(folder, "sponsor.json")];
    const endpoints = join(folder, "endpoints.json");
    // Two names of one node stand for two providers.
    const urls = [rpcUrl, rpcUrl.replace("127.0.0.1", "localhost")];
    const rates = { requestsPerSecond: 1_000, sendsPerSecond: 100 };
    await writeFile(endpoints, JSON.stringify(urls.map((url) => ({ url, ...rates }))));
    await writeFile(secret, `${randomBytes(32).toString("hex")}\n`);
    await writeFile(sponsorKey, JSON.stringify([...sponsor.secretKey]));
    return new Deployment(folder, {
      DATABASE: join(folder, "payments.db"),
      MASTER_SECRET_FILE: secret,
      HOST: "127.0.0.1",
      PORT: "0",
      METRICS_PORT: "0",
      ENDPOINTS_FILE: endpoints,
      RECOVERY_FILE: join(folder, "orders.jsonl"),
      USDC_MINT: mints.USDC,
      USDT_MINT: mints.USDT,
      SPONSOR_KEY_FILE: sponsorKey,
      TREASURY: treasury.address,
      DOLLARS_PER_SOL: "150",
      ...more,
    });
  }

  /** Starts a program of the repository's with these variables. */
  run(...args: readonly string[]): Running {
    return startProgram(process.execPath, ["--import", "tsx", ...args], this.env);
  }

  /** Runs `paystate` to its end. */
  paystate(...args: readonly string[]): Promise<Ended> {
    return runCommand(args, this.env);
  }

  /** Starts the service, and says where it listens. */
  async start(): Promise<{ readonly service: Running; readonly baseUrl: string }> {
    const command = [process.execPath, "--import", "tsx", "examples/deploy/main.ts"].join(" ");
    // Its log goes to stderr, which is looked at here as if it were stdout.
    const service = startProgram("/bin/sh", ["-c", `exec ${command} 2>&1`], this.env);
    await service.said(/the service listens/);
    const [, port = ""] = /"port":(\d+),"msg":"the service listens"/.exec(service.stdout()) ?? [];
    return { service, baseUrl: `http://127.0.0.1:${port}` };
  }
}

/** One send and one payroll of either mode, each of them completed. */
export async function payInEveryWay(chain: ChainToTry, connection: Connection): Promise<void> {
  for (const mode of ["wallet", "private"] as const) {
    for (const payees of [chain.payees.slice(0, 1), chain.payees]) {
      await payOnce(chain, connection, { mode, payees });
    }
  }
}

type Connection = Parameters<typeof createClient>[0];

/** A payment of one dollar to each. */
interface Order {
  readonly mode: "wallet" | "private";
  readonly payees: readonly string[];
}

/** Pays, and waits until it is completed. */
export async function payOnce(chain: ChainToTry, connection: Connection, order: Order): Promise<void> {
  const client = createClient(connection);
  const transactionId = await pay(client, chain, order);
  await client.waitFor(transactionId, "completed", { signal: AbortSignal.timeout(100_000) });
}

async function pay(client: PaymentClient, chain: ChainToTry, order: Order): Promise<string> {
  const created = await takeOrder(client, chain, order);
  // modules: private
  if ("ephemeralAddress" in created) {
    await chain.giveUsdc(created.ephemeralAddress, units(created.depositAmount, 6));
  }
  return created.transactionId;
}

/** Has a payment taken; of private mode it waits for its deposit then. */
export async function takeOrder(
  client: PaymentClient,
  { alice }: ChainToTry,
  { mode, payees }: Order,
): Promise<Awaited<ReturnType<PaymentClient["createTransaction"]>>> {
  const recipients = payees.map((address) => ({ address, amount: "1" }));
  const assets = { inputAsset: "USDC", outputAsset: "USDC", amount: String(payees.length) } as const;
  const quote = await client.createQuote({ ...assets, mode, sender: alice.address, recipients });
  return client.createTransaction({
    type: payees.length === 1 ? "send" : "payroll",
    mode,
    quoteId: quote.quoteId,
    sender: alice.address,
    recipients,
    ...(mode === "private"
      ? {}
      : { signedTransaction: signPayment(Buffer.from(quote.transaction ?? "", "base64"), alice.secretKey) }),
  });
}
