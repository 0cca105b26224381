/** The page's payments that fail, each made on a running `paystate dev` as its row says. */
import bs58 from "bs58";
import { afterAll, expect, test as vitestTest } from "vitest";
import { signPayment } from "../kit/chain-fixture.ts";
import { codeIn, tableOf } from "../readme/page.ts";
import { leaveNothing, newDataFolder, runCommand } from "./command.ts";
import { type Answer, call, DevHome, type DevSession } from "./dev-session.ts";

afterAll(leaveNothing);

const test = vitestTest.extend("home", { scope: "file" }, async ({}) =>
  new DevHome(await newDataFolder(), { args: ["--slot-ms", "50"] }).start(),
);

const ROWS = tableOf("src/cli/README.md", "## Payments that fail");

/** A row of the page, and the payee where the row names none. */
class SandboxPayment {
  readonly #dev: DevSession;
  readonly #isPrivate: boolean;
  readonly #payment: Readonly<Record<string, unknown>>;
  readonly #priced: Readonly<Record<string, unknown>>;
  readonly #acts: readonly string[];

  constructor(dev: DevSession, [name = "", payee, sum, acts = ""]: readonly string[]) {
    const [amount, asset] = codeIn(sum)[0]?.split(" ") ?? [];
    const [alice, bob] = dev.wallets;
    const recipients = [{ address: codeIn(payee)[0] ?? bob?.address, amount }];
    this.#dev = dev;
    this.#isPrivate = name.endsWith("private");
    this.#payment = { sender: alice?.address, recipients };
    this.#priced = { inputAsset: asset, outputAsset: asset, amount, ...this.#payment };
    this.#acts = acts.split(/, (?=`)/).filter((act) => act.includes("`"));
  }

  /** What the API answers in the end: an error with its reason, or a status with what the row may tell of it. */
  async outcome(): Promise<readonly unknown[]> {
    const quote = await this.#quote();
    const taken = quote.status < 400 ? await this.#take(quote) : quote;
    if (taken.status >= 400) {
      const { code, details } = taken.body["error"] as { code: string; details: { reason?: string } };
      return [details.reason === undefined ? code : `${code}.${details.reason}`];
    }
    const { status, reason, attention } = await this.#atRest(String(taken.body["transactionId"]));
    const fees = quote.body["fees"] as Readonly<Record<string, string>>;
    if (status === "completed") return [status, ...(Number(fees["rent"]) > 0 ? ["fees.rent"] : [])];
    return status === "failed" ? [status, reason] : [status, "attention", attention];
  }

  #take(quote: Answer): Promise<Answer> {
    return this.#isPrivate ? this.#order(quote) : this.#send(quote);
  }

  async #quote(): Promise<Answer> {
    return call(this.#dev, "/quotes", { ...this.#priced, ...(this.#isPrivate ? { mode: "private" } : {}) });
  }

  async #send({ body: { quoteId, transaction } }: Answer): Promise<Answer> {
    const secretKey = bs58.decode(this.#dev.wallets[0]?.secretKey ?? "");
    const signedTransaction = signPayment(Buffer.from(String(transaction), "base64"), secretKey);
    await this.#act({});
    return call(this.#dev, "/transactions", { type: "send", quoteId, ...this.#payment, signedTransaction });
  }

  async #order({ body: { quoteId } }: Answer): Promise<Answer> {
    const order = { type: "send", mode: "private", quoteId, ...this.#payment };
    const taken = await call(this.#dev, "/transactions", order);
    if (taken.status < 400) await this.#act({ transactionId: taken.body["transactionId"] });
    return taken;
  }

  /** Does what the row tells to do, in its order. */
  async #act(subject: object): Promise<void> {
    for (const act of this.#acts) {
      const [path, fields = "{}"] = codeIn(act);
      const body = JSON.stringify({ ...subject, ...(JSON.parse(fields) as object) });
      const answered = await fetch(`${this.#dev.baseUrl}${path}`, { method: "POST", body });
      expect(answered.status, `${path} ${await answered.text()}`).toBe(200);
    }
  }

  async #atRest(transactionId: string): Promise<Answer["body"]> {
    for (;;) {
      const { body } = await call(this.#dev, `/transactions/${transactionId}?wait=5`);
      const isFinal = ["completed", "failed", "cancelled"].includes(String(body["status"]));
      if (isFinal || body["attention"] === "held") return body;
    }
  }
}

test("U8: each sandbox address of dev fails as its page says", async ({ home }) => {
  const answered: unknown[] = [];
  for (const row of ROWS) answered.push([row[0], ...(await new SandboxPayment(home.dev, row).outcome())]);
  expect(answered).toEqual(ROWS.map((row) => [row[0], ...codeIn(row[4])]));
});

test("U8: the addresses of the page are those that dev names", ({ home }) => {
  const payees = new Set(ROWS.flatMap(([, payee]) => codeIn(payee)));
  expect(Object.values(home.dev.sandbox)).toEqual([...payees]);
});

test("time that a window took to pass has passed after a kill, too, for service, chain and doctor", async ({
  home,
}) => {
  const row = ROWS.find(([name]) => name === "expired, private") ?? [];
  expect(await new SandboxPayment(home.dev, row).outcome()).toEqual(codeIn(row[4]));
  await home.dev.end("SIGKILL");
  await home.start();
  expect(await new SandboxPayment(home.dev, row).outcome()).toEqual(codeIn(row[4]));
  const { stdout } = await runCommand(["doctor", "--data", home.folder, "--json"]);
  const { findings } = JSON.parse(stdout) as { findings: readonly Readonly<Record<string, unknown>>[] };
  expect(findings.find(({ check }) => check === "clock")).toMatchObject({ verdict: "ok" });
});
