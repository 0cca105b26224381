/** Walks the page from the desk to mainnet from top to bottom, on surfpool: each command of it does what the page says. */
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { leaveNothing, newDataFolder, startCommand, type Ended, type Running } from "../../cli/command.ts";
import { HAS_SURFPOOL, surfnet } from "./surfnet.ts";
import { Deployment, payInEveryWay, payOnce, type ChainToTry } from "../../deploy/chain-to-try.ts";

afterAll(leaveNothing);

const PAGE = "examples/deploy/README.md";
const SOL = 1_000_000_000n;

async function surfpoolToTry(): Promise<ChainToTry> {
  const node = await surfnet();
  const payees = await Promise.all(["bob", "carol", "dave"].map(() => node.wallet({})));
  return {
    rpcUrl: node.rpcUrl,
    mints: node.mints,
    sponsor: await node.wallet({ lamports: 100n * SOL }),
    treasury: await node.wallet({ lamports: SOL }),
    alice: await node.wallet({ lamports: SOL, usdc: 1_000_000_000n }),
    payees: payees.map(({ address }) => address),
    giveUsdc: (owner, amount) => node.fundTokens(owner, amount),
    close: async () => node.close(),
  };
}

const BOXES = [
  "One send and one payroll of either mode",
  "the copy was [restored]",
  "was sent in wallet mode",
  "was sent in private mode",
] as const;

/** Somebody who goes through the page, with what has come of it so far. */
class Reader {
  readonly #chain: ChainToTry;
  readonly #deployment: Deployment;
  #running: { readonly service: Running; readonly baseUrl: string };
  /** The boxes that are more than commands. */
  readonly ticked: string[] = [];
  readonly #tick: Readonly<Record<(typeof BOXES)[number], () => Promise<void>>> = {
    "One send and one payroll of either mode": () => payInEveryWay(this.#chain, this.#connection),
    "the copy was [restored]": () => this.#restore(),
    "was sent in wallet mode": () => this.#payOnce("wallet"),
    "was sent in private mode": () => this.#payOnce("private"),
  };
  #accountId = "";
  #apiKey = "";

  constructor(chain: ChainToTry, deployment: Deployment, running: Awaited<ReturnType<Deployment["start"]>>) {
    this.#chain = chain;
    this.#deployment = deployment;
    this.#running = running;
  }

  get #connection() {
    return { baseUrl: this.#running.baseUrl, apiKey: this.#apiKey };
  }

  /** Runs a command as the page writes it, for the files, amounts and names of this deployment. */
  async #command(text: string): Promise<Ended> {
    const { DATABASE = "" } = this.#deployment.env;
    const named = text
      .replace("…", "--service service.ts --actor you --reason done")
      .replaceAll("ACCOUNT_ID", this.#accountId)
      .replaceAll("AMOUNT", "1000")
      .replaceAll("payments.db", DATABASE)
      .replaceAll("copy.db", this.#file("copy.db"))
      .replaceAll("service.ts", "examples/deploy/service.ts");
    const args = [...named.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare);
    return await this.#deployment.paystate(...args, ...(/^(account|key) /.test(text) ? ["--json"] : []));
  }

  /** Does what a line of the page asks for. */
  async read(line: string): Promise<void> {
    for (const [, text = ""] of line.matchAll(/npx paystate ([^`]+)/g)) {
      const { code, stdout, stderr } = await this.#command(text);
      // On devnet its prices never move, which is no fault and not ready for real money.
      const expected = text.startsWith("doctor --live") ? 2 : 0;
      expect(code, `paystate ${text}: ${stderr}`).toBe(expected);
      if (text.startsWith("account ")) this.#accountId = String(fieldOf(stdout, "accountId"));
      if (text.startsWith("key ")) this.#apiKey = String(fieldOf(stdout, "key"));
      if (text.startsWith("operator pause")) {
        await expect(this.#payOnce("private")).rejects.toThrow("ROUTING_UNAVAILABLE");
      }
    }
    for (const box of BOXES.filter((each) => line.includes(each))) {
      this.ticked.push(box);
      await this.#tick[box]();
    }
  }

  async end(): Promise<void> {
    expect(await this.#running.service.end("SIGTERM")).toMatchObject({ code: 0 });
  }

  #payOnce(mode: "wallet" | "private"): Promise<void> {
    const payees = this.#chain.payees.slice(0, 1);
    return payOnce(this.#chain, this.#connection, { mode, payees });
  }

  async #restore(): Promise<void> {
    await this.end();
    const { DATABASE = "" } = this.#deployment.env;
    const away = this.#file("away");
    await mkdir(away);
    for (const suffix of ["", "-wal", "-shm"]) {
      await rename(`${DATABASE}${suffix}`, join(away, `payments.db${suffix}`)).catch(() => undefined);
    }
    await copyFile(this.#file("copy.db"), DATABASE);
    await this.read("`npx paystate operator reconcile --service service.ts`");
    this.#running = await this.#deployment.start();
  }

  #file(name: string): string {
    return join(this.#deployment.folder, name);
  }
}

const fieldOf = (line: string, name: string): unknown => (JSON.parse(line) as Record<string, unknown>)[name];

const sections = (await readFile(PAGE, "utf8")).split(/^## /m);
const at = (title: string): number => sections.findIndex((section) => section.startsWith(`${title}\n`));
const [desk = "", ...rest] = sections.slice(at("On your desk"), at("Where it runs"));

// Where there is no addon for a machine the run tells these tests as skipped.
describe.skipIf(!HAS_SURFPOOL)("From the desk to mainnet", () => {
  test("N12, N13: from devnet on each command of the page ends with 0, and each payment of it is completed", async () => {
    const chain = await surfpoolToTry();
    const deployment = await Deployment.on(chain);
    const reader = new Reader(chain, deployment, await deployment.start());
    for (const line of rest.join("").split("\n")) await reader.read(line);
    expect(reader.ticked).toEqual(BOXES);
    await reader.end();
    await chain.close();
  }, 240_000);
});

test("the command for the desk runs until it is ended", async () => {
  const commands = [...desk.matchAll(/npx paystate ([^`\n]+)/g)].map(([, text = ""]) => text);
  expect(commands).toEqual(["dev"]);
  const data = ["--data", await newDataFolder(), "--port", "0"];
  const dev = startCommand(["dev", ...data, "--rpc-port", "0"]);
  await dev.said(/127\.0\.0\.1/);
  expect(await dev.end("SIGINT")).toMatchObject({ code: 0 });
});
