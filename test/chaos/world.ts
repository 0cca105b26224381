/** One chaos run: services that are killed again and again, a chain that fails, customers who pay all the while. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { NOTICE_EVENTS } from "../../src/payments/webhooks/sending/notice-body.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { silentLogger } from "../../src/runtime.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../kit/https-receiver.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres-server.ts";
import { CarefulApi } from "./careful-api.ts";
import { Child } from "./child.ts";
import { Customers } from "./customers.ts";
import { HappeningCount } from "./happenings.ts";
import { openStorage } from "./open-storage.ts";
import { type ChaosPlan, type ChaosSettings, planOf } from "./plan.ts";
import type { ChainDemand, ChainReady, DatabaseSettings } from "./processes/settings.ts";
import { chaosOptions } from "./service-options.ts";
import { brokenPromises, type ChaosAtRest, storedOf } from "./verdict.ts";
import { Victim } from "./victim.ts";

/** How a run went. */
export interface ChaosReport {
  /** One sentence per broken promise; empty when all hold. */
  readonly findings: readonly string[];
  readonly orders: number;
  readonly kills: number;
  readonly seconds: number;
  /** What the processes complained about, the last lines. */
  readonly complaints: string;
  /** What is stored of the orders that the findings name. */
  readonly stored: string;
}

/** Told how many of the processes have been killed, and what is waited for. */
export type OnProgress = (kills: number, doing: string) => void;

const SLOT_MS = 60;
const CUSTOMERS = 12;
const LOOK_MS = 100;
/** Timers of addresses that rest are due in minutes and hours. */
const SOON_MS = 30_000;
const UNDER_WAY: ReadonlySet<string> = new Set(["planned", "broadcast", "confirmed"]);
const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
/** After so long with everything healed, whatever is not final is lost. */
const REST_MS = 240_000;
/** How far the clocks of the machines are off. A file has one machine. */
const CLOCKS_OFF_MS = [0, 5_000, -5_000, 2_500];

/** Runs it. Rejects only where the run itself could not be made. */
export async function runChaos(settings: ChaosSettings, onProgress: OnProgress): Promise<ChaosReport> {
  const began = performance.now();
  const world = await World.open(settings);
  try {
    const troubles = await world.live(planOf(settings), onProgress);
    onProgress(settings.kills, "checking");
    const findings = [...troubles, ...(await brokenPromises(world.atRest))];
    return {
      findings,
      orders: world.customers.placed.length,
      kills: settings.kills,
      seconds: (performance.now() - began) / 1_000,
      complaints: world.complaints,
      stored: await storedOf(world.atRest, findings),
    };
  } finally {
    await world.close();
  }
}

interface Parts {
  readonly folder: string;
  readonly server: PostgresServer | null;
  readonly receiver: HttpsReceiver;
  readonly chain: Child<ChainReady>;
  readonly ready: ChainReady;
  readonly storage: PaymentStorage;
  /** Asks and judges, and is never started. */
  readonly service: PaymentService;
  readonly victims: readonly Victim[];
  readonly api: CarefulApi;
  readonly customers: Customers;
}

class World {
  readonly #parts: Parts;
  #kills = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  get customers(): Customers {
    return this.#parts.customers;
  }

  get complaints(): string {
    return this.#parts.victims.map(({ complaints }) => complaints).join("");
  }

  static async open({ database: kind, processes, kills, seed }: ChaosSettings): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "paystate-chaos-"));
    const server = kind === "postgres" ? await startPostgres() : null;
    const database: DatabaseSettings =
      server === null
        ? { kind: "sqlite", path: join(folder, "chaos.db") }
        : { kind: "postgres", url: server.url };
    const receiver = await startHttpsReceiver();
    const happenings = new HappeningCount();
    receiver.answer((_request, response) => {
      happenings.add();
      response.writeHead(200).end();
    });
    const chain = new Child<ChainReady>("chaos-chain", { slotMs: SLOT_MS, seed });
    const ready = await chain.ready;
    if (ready === null) throw new Error(`the chain did not start: ${chain.complaints}`);
    const storage = await openStorage(database);
    const common = { database, chain: ready, receiverAuthority: receiver.ca };
    const service = createPaymentService({ ...chaosOptions(common), storage, logger: silentLogger });
    const { accountId } = await service.createAccount({ name: "chaos", tier: "enterprise" });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    const victims = Array.from({ length: processes }, (_, index) => {
      const clockOffMs = server === null ? 0 : (CLOCKS_OFF_MS[index % CLOCKS_OFF_MS.length] ?? 0);
      return new Victim({ ...common, clockOffMs }, happenings.more);
    });
    const api = new CarefulApi(() => victims.flatMap(({ baseUrl }) => baseUrl ?? []), key, happenings.add);
    const tell = (demand: ChainDemand): void => void chain.process.send(demand);
    const customers = new Customers({
      api,
      alice: ready.wallets.alice,
      wishes: planOf({ kills, seed }).wishes,
      give: (address, amount) => tell({ asks: "give", address, amount: String(amount) }),
    });
    return new World({ folder, server, receiver, chain, ready, storage, service, victims, api, customers });
  }

  /** Lets everything go wrong, then heals it and waits until all is final. Answers what broke on the way. */
  async live(plan: ChaosPlan, onProgress: OnProgress): Promise<readonly string[]> {
    const { victims, customers, chain } = this.#parts;
    const shops = new AbortController();
    const troubles: string[] = [];
    const shopping = this.#shop(shops.signal);
    const lives = [...plan.lives];
    await Promise.all(
      victims.map(async (victim) => {
        for (let life = lives.shift(); life !== undefined; life = lives.shift()) {
          await victim.live(life);
          this.#kills += 1;
          onProgress(this.#kills, `${customers.placed.length} orders`);
          if (plan.outages.includes(this.#kills)) await this.#loseDatabase();
        }
      }),
    );
    chain.process.send({ asks: "heal" } satisfies ChainDemand);
    shops.abort();
    await Promise.all(victims.map((victim) => victim.start()));
    troubles.push(...(await shopping));
    onProgress(this.#kills, `${customers.placed.length} orders, waiting for the last to be final`);
    troubles.push(...(await this.#rest()), ...(await this.#repeatAll()));
    await Promise.all(victims.map((victim) => victim.end()));
    return [...troubles, ...victims.flatMap(({ findings }) => findings)];
  }

  /** Answers why a customer gave up, where one did. */
  async #shop(signal: AbortSignal): Promise<readonly string[]> {
    const { api, receiver, customers } = this.#parts;
    const hook = { url: receiver.url, events: [...NOTICE_EVENTS] };
    await api.ask({ method: "POST", path: "/webhooks", body: hook, key: "webhook" });
    const ends = await Promise.allSettled(Array.from({ length: CUSTOMERS }, () => customers.shop(signal)));
    return ends.flatMap((end) =>
      end.status === "rejected" ? `a customer gave up: ${String(end.reason)}` : [],
    );
  }

  async #loseDatabase(): Promise<void> {
    await this.#parts.server?.kill();
    await this.#parts.server?.restart();
  }

  /** Waits until every order is final, every notice delivered and nothing due; says what is not. */
  async #rest(): Promise<readonly string[]> {
    const { storage, service, customers } = this.#parts;
    const keys = service.workflows.map(({ key }) => key);
    const until = performance.now() + REST_MS;
    const ids = customers.placed.map(({ transactionId }) => transactionId);
    let open = await this.#unfinished(ids);
    for (;;) {
      const dueIn = ((await storage.nextDue(keys)) ?? Infinity) - Date.now();
      if (open.size === 0 && dueIn > SOON_MS) {
        // What one order began when another was looked at: a refund follows the end of its order.
        open = await this.#unfinished(ids);
        if (open.size === 0) return [];
      }
      if (performance.now() > until) return [...open.values(), `G6: something is due in ${dueIn} ms`];
      await sleep(LOOK_MS);
      open = await this.#unfinished([...open.keys()]);
    }
  }

  /** Those of these orders that have not come to rest, each with what it waits for. */
  async #unfinished(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const open = new Map<string, string>();
    for (const id of ids) {
      const waits = await this.#waitsOf(id);
      if (waits !== null) open.set(id, waits);
    }
    return open;
  }

  /** What an order still waits for; null when its money and its news have come to rest. */
  async #waitsOf(id: string): Promise<string | null> {
    const { storage } = this.#parts;
    const view = await storage.transaction(id);
    const status = view?.transaction.status ?? "gone";
    const payments = (view?.payments ?? []).filter((each) => UNDER_WAY.has(each.status));
    const undelivered = (await storage.deliveries(id)).filter((each) => each.status !== "delivered");
    if (FINAL.has(status) && payments.length === 0 && undelivered.length === 0) return null;
    const waits = [...payments, ...undelivered].map((each) => `${each.id} is ${each.status}`);
    return `I6: ${id} is ${status} ${waits.join(", ")}`;
  }

  /** I8: every order answers as it did, however often it is posted. */
  async #repeatAll(): Promise<readonly string[]> {
    const { api, customers } = this.#parts;
    const broken: string[] = [];
    for (const { asked, transactionId } of customers.placed) {
      const { status, body } = await api.ask(asked);
      if (status !== 201 || body["transactionId"] !== transactionId) {
        broken.push(`I8: the order of ${transactionId} is now answered ${status} ${JSON.stringify(body)}`);
      }
    }
    return broken;
  }

  /** What is left to be judged. */
  get atRest(): ChaosAtRest {
    const { storage, service, receiver, customers, ready } = this.#parts;
    return { storage, service, receiver, placed: customers.placed, chain: ready };
  }

  async close(): Promise<void> {
    const { victims, chain, receiver, storage, server, folder } = this.#parts;
    await Promise.all(victims.map((victim) => victim.end()));
    await chain.kill();
    await receiver.close();
    await storage.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
