/** One chaos run: services that are killed again and again, a chain that fails, customers who pay all the while. */
// modules: private, webhooks
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { NOTICE_EVENTS } from "../../src/payments/frame/notices/notice-body.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../kit/https-receiver.ts";
import { photograph, type Photograph } from "../payments/private/photograph.ts";
import { shownChain } from "./books.ts";
import { CarefulApi } from "./careful-api.ts";
import { Child } from "./child.ts";
import { Customers, type Placed } from "./customers.ts";
import { type DatabaseServer, lonelyServer, serverWithStandby } from "./database-server.ts";
import { dieAsDrawn, dieEachSecond } from "./deaths.ts";
import { HappeningCount } from "./happenings.ts";
import { type LentStorage, lentStorage } from "./open-storage.ts";
import {
  type ChaosForm,
  type ChaosPlan,
  type ChaosSettings,
  type FailoverKind,
  planOf,
  type ReplacementKind,
} from "./plan.ts";
import type { ChainDemand, ChainReady, DatabaseSettings, ServiceSettings } from "./processes/settings.ts";
import { copyOf, replaceFile } from "./replaced-file.ts";
import { unfinished, unrested } from "./rest.ts";
import { chaosOptions } from "./service-options.ts";
import { stepClocks } from "./stepped-clocks.ts";
import { TurnedClocks } from "./turned-clocks.ts";
import { brokenPromises, type ChaosAtRest, storedOf } from "./verdict.ts";
import { fillDisk, mountSmallDisk, unmountSmallDisk } from "./small-disk.ts";
import { Victim } from "./victim.ts";

/** How a run went. */
export interface ChaosReport {
  /** One sentence per broken promise; empty when all hold. */
  readonly findings: readonly string[];
  readonly orders: number;
  /** Those of them that were taken while processes were killed. */
  readonly ordersUnderLoad: number;
  /** Under load and after it. */
  readonly kills: number;
  /** How often the clocks were turned. */
  readonly turns: number;
  readonly seconds: number;
  /** What the processes complained about, the last lines. */
  readonly complaints: string;
  /** What is stored of the orders that the findings name. */
  readonly stored: string;
}

/** Told how many of the processes have been killed, and what is waited for. */
export type OnProgress = (kills: number, doing: string) => void;

const FILE = "chaos.db";
/** A copy of it from before the first order. */
const OLDER = "older.db";
const SLOT_MS = 60;
const CUSTOMERS = 12;
/** How far the clocks of the machines are off. A file has one machine. */
const CLOCKS_OFF_MS = [0, 5_000, -5_000, 2_500];

/** Runs it. Rejects only where the run itself could not be made. */
export async function runChaos(settings: ChaosSettings, onProgress: OnProgress): Promise<ChaosReport> {
  const began = performance.now();
  const world = await World.open(settings, onProgress);
  try {
    const troubles = await world.live(settings);
    onProgress(world.kills, "checking");
    const findings = [...troubles, ...(await brokenPromises(world.atRest))];
    return {
      findings,
      orders: world.customers.placed.length,
      ordersUnderLoad: world.ordersUnderLoad,
      kills: world.kills,
      turns: world.turns,
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
  readonly server: DatabaseServer | null;
  readonly isSmallDisk: boolean;
  /** Whether the standby that takes over lacks what was acknowledged last. */
  readonly losesCommits: boolean;
  /** What becomes of the file of SQLite, null where it stays. */
  readonly replacement: ReplacementKind | null;
  readonly lent: LentStorage;
  readonly receiver: HttpsReceiver;
  readonly chain: Child<ChainReady>;
  readonly ready: ChainReady;
  /** The chain before the first order. */
  readonly before: Photograph;
  readonly settings: ServiceSettings;
  readonly storage: PaymentStorage;
  /** Asks and judges, and is never started. */
  readonly service: PaymentService;
  readonly victims: readonly Victim[];
  readonly api: CarefulApi;
  readonly customers: Customers;
}

class World {
  readonly #parts: Parts;
  readonly #clocks: TurnedClocks;
  readonly #onProgress: OnProgress;
  #kills = 0;
  #ordersUnderLoad = 0;
  #outage = Promise.resolve();
  readonly #troubles: string[] = [];
  /** How many orders were begun when the last commits were lost, and which of them had come to rest before. */
  #loss: { readonly begun: number; readonly settled: ReadonlySet<string> } | null = null;

  private constructor(parts: Parts, onProgress: OnProgress) {
    this.#parts = parts;
    this.#onProgress = onProgress;
    this.#clocks = new TurnedClocks({
      ...parts,
      orders: () => this.#lasting(),
      onDeath: async () => void this.#countDeath(),
    });
  }

  get kills(): number {
    return this.#kills;
  }

  get ordersUnderLoad(): number {
    return this.#ordersUnderLoad;
  }

  get turns(): number {
    return this.#clocks.turns;
  }

  get customers(): Customers {
    return this.#parts.customers;
  }

  get complaints(): string {
    return this.#parts.victims.map(({ complaints }) => complaints).join("");
  }

  static async open(
    { form, database: kind, processes, kills, seed }: ChaosSettings,
    onProgress: OnProgress,
  ): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "paystate-chaos-"));
    const isSmallDisk = form === "full-disk";
    if (isSmallDisk) mountSmallDisk(folder);
    const { wishes, failover, ...plan } = planOf({ kills, seed });
    const replacement = form === "replaced-file" ? plan.replacement : null;
    const losesCommits = form === "failover" && failover === "asynchronous";
    const server = kind === "sqlite" ? null : await serverOf(form, failover);
    const database: DatabaseSettings =
      server === null
        ? { kind: "sqlite", path: join(folder, FILE) }
        : { kind: "postgres", url: server.url, clock: "database" };
    const receiver = await startHttpsReceiver();
    const happenings = new HappeningCount();
    receiver.answer((_request, response) => {
      happenings.add();
      response.writeHead(200).end();
    });
    const chain = new Child<ChainReady>("chaos-chain", { slotMs: SLOT_MS, seed });
    const ready = await chain.ready;
    if (ready === null) throw new Error(`the chain did not start: ${chain.complaints}`);
    const lent = await lentStorage(database);
    const { storage } = lent;
    const settings = {
      database,
      chain: ready,
      receiverAuthority: receiver.ca,
      clockOffMs: 0,
      clockFile: null,
    };
    const before = await photograph(shownChain(ready));
    const service = createPaymentService({ ...chaosOptions(settings), storage, logger: silentLogger });
    const { accountId } = await service.createAccount({ name: "chaos", tier: "enterprise" });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    if (form === "replaced-file") copyOf(join(folder, FILE), join(folder, OLDER));
    const victims = Array.from({ length: processes }, (_, index) => {
      const clockOffMs = server === null ? 0 : (CLOCKS_OFF_MS[index % CLOCKS_OFF_MS.length] ?? 0);
      const clockFile = join(folder, `clock ${index}`);
      writeFileSync(clockFile, new Float64Array(1));
      return new Victim({ ...settings, clockOffMs, clockFile }, happenings.more);
    });
    const api = new CarefulApi(() => victims.flatMap(({ baseUrl }) => baseUrl ?? []), key, happenings.add);
    const tell = (demand: ChainDemand): void => void chain.process.send(demand);
    const customers = new Customers({
      api,
      alice: ready.wallets.alice,
      wishes,
      give: (address, amount) => tell({ asks: "give", address, amount: String(amount) }),
    });
    const judged = { receiver, ready, before, storage, service, customers };
    return new World(
      {
        ...judged,
        lent,
        replacement,
        folder,
        server,
        isSmallDisk,
        losesCommits,
        chain,
        settings,
        victims,
        api,
      },
      onProgress,
    );
  }

  /** Lets everything go wrong under load, heals it, and again in the months after. Answers what broke on the way. */
  async live(settings: ChaosSettings): Promise<readonly string[]> {
    const { victims, customers, chain, storage, service } = this.#parts;
    const plan = planOf(settings);
    const shops = new AbortController();
    const shopping = this.#shop(shops.signal);
    await this.#dieUnderLoad(settings, plan);
    this.#ordersUnderLoad = customers.placed.length;
    chain.process.send({ asks: "heal" } satisfies ChainDemand);
    shops.abort();
    await Promise.all(victims.map((victim) => victim.start()));
    const troubles = [...this.#troubles, ...(await shopping)];
    this.#tell("waiting for the last to be final");
    const transactionIds = this.#lasting().map((order) => order.transactionId);
    troubles.push(...(await unrested({ storage, service, transactionIds, aheadMs: 0 })));
    troubles.push(...(await this.#repeatAll()));
    troubles.push(...(await this.#clocks.untilAllIsClosed(plan.laterLives)));
    await Promise.all(victims.map((victim) => victim.end()));
    return [...troubles, ...victims.flatMap(({ findings }) => findings)];
  }

  async #dieUnderLoad({ form, kills }: ChaosSettings, { lives, outages }: ChaosPlan): Promise<void> {
    const { victims, server } = this.#parts;
    const onDeath = async (): Promise<void> => {
      const nth = this.#countDeath();
      if (outages.includes(nth)) await this.#loseDatabase();
    };
    if (form === "each-second") return dieEachSecond({ victims, onDeath }, kills);
    const stepping = new AbortController();
    const isStepped = form === "stepped-clocks";
    const clocks = isStepped ? stepClocks(victims, server === null, stepping.signal) : null;
    await dieAsDrawn({ victims, onDeath }, lives);
    stepping.abort();
    await clocks;
  }

  /** Answers how many have died so far. */
  #countDeath(): number {
    this.#kills += 1;
    this.#parts.api.forgive();
    this.#tell(this.turns === 0 ? "under load" : `clocks turned ${this.turns} times`);
    return this.#kills;
  }

  #tell(doing: string): void {
    this.#onProgress(this.#kills, `${this.customers.placed.length} orders, ${doing}`);
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

  /** One outage ends before the next one begins. */
  #loseDatabase(): Promise<void> {
    const { server, isSmallDisk, folder, losesCommits, replacement } = this.#parts;
    this.#outage = this.#outage.then(async () => {
      if (isSmallDisk) await fillDisk(folder);
      if (replacement !== null) await this.#replaceFile(replacement);
      if (losesCommits && this.#loss === null) await this.#loseCommits();
      else await server?.lose();
    });
    return this.#outage;
  }

  async #replaceFile(kind: ReplacementKind): Promise<void> {
    const { lent, folder, victims, api } = this.#parts;
    const file = { kind, path: join(folder, FILE), older: join(folder, OLDER), victims, api };
    this.#troubles.push(...(await lent.whileClosed(() => replaceFile(file))));
    api.forgive();
  }

  /** I8: every order answers as it did, however often it is posted. */
  async #repeatAll(): Promise<readonly string[]> {
    const { api } = this.#parts;
    const broken: string[] = [];
    for (const { asked, transactionId } of this.#lasting()) {
      const { status, body } = await api.ask(asked);
      if (status !== 201 || body["transactionId"] !== transactionId) {
        broken.push(`I8: the order of ${transactionId} is now answered ${status} ${JSON.stringify(body)}`);
      }
    }
    return broken;
  }

  async #loseCommits(): Promise<void> {
    const { storage, server, api, customers } = this.#parts;
    const ids = customers.placed.map(({ transactionId }) => transactionId);
    const open = await unfinished(storage, ids);
    await api.whileForgetting(async () => server?.lose());
    this.#loss = { begun: customers.begun, settled: new Set(ids.filter((id) => !open.has(id))) };
  }

  /** The orders of which nothing was lost. */
  #lasting(): readonly Placed[] {
    const loss = this.#loss;
    return this.customers.placed.filter(
      ({ number, transactionId }) => loss === null || number >= loss.begun || loss.settled.has(transactionId),
    );
  }

  /** What is left to be judged. */
  get atRest(): ChaosAtRest {
    const { storage, service, receiver, customers, ready, before } = this.#parts;
    const lasting = new Set(this.#lasting());
    const shaken = customers.placed.filter((order) => !lasting.has(order));
    const mayBeLost = new Set(shaken.map(({ transactionId }) => transactionId));
    const hasLost = this.#loss !== null;
    return { storage, service, receiver, placed: customers.placed, hasLost, mayBeLost, chain: ready, before };
  }

  async close(): Promise<void> {
    const { victims, chain, receiver, storage, server, isSmallDisk, folder } = this.#parts;
    await Promise.all(victims.map((victim) => victim.end()));
    await chain.kill();
    await receiver.close();
    await storage.close();
    await server?.stop();
    if (isSmallDisk) unmountSmallDisk(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

const serverOf = (form: ChaosForm, kind: FailoverKind): Promise<DatabaseServer> =>
  form === "failover" ? serverWithStandby(kind) : lonelyServer();
