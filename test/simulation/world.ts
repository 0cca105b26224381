/** What outlives every process of a simulated life: a chain, a database, a receiver, and the client's own notes. */
// modules: webhooks
import { createHash } from "node:crypto";
import type { AnyWorkflow } from "../../src/engine/index.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { SCOPES, type Caller } from "../../src/payments/frame/accounts/caller.ts";
import { type Random, silentLogger } from "../../src/core/runtime.ts";
import { NOTICE_EVENTS, type NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import type { FaultRule } from "../../src/local/faults.ts";
import type { Funds } from "../../src/local/index.ts";
import type { InstanceRecord } from "../../storage/storage.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { Adapter } from "../kit/adapters.ts";
import { chainFixture, SLOTS_TO_FINALITY, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";
import {
  answerWith,
  startHttpsReceiver,
  type HttpsReceiver,
  type ReceivedRequest,
  type ReceiverScript,
} from "../kit/https-receiver.ts";
import { mortalProcess, type MortalProcess } from "../kit/mortal.ts";
import { recordStorage, type StorageLog } from "../kit/record-storage.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import type { House } from "./house.ts";
import type { Asset, Order } from "./order.ts";
import { watchedKinds } from "../../src/workflow/watch-rows.ts";

/** How long the work of the dead is held up, in milliseconds. */
export const LEASE_MS = 15_000;
/** How late an engine may notice the work of another, in milliseconds: its default. */
export const POLL_MS = 1_500;

/** What many worlds share, because a chain and a TLS server for each would take longer than their lives. */
export interface Surroundings {
  readonly fixture: ChainFixture;
  readonly receiver: HttpsReceiver;
  readonly alice: Wallet;
  /** A number no world has had. */
  nextWorld(): number;
  close(): Promise<void>;
}

export async function surroundings(): Promise<Surroundings> {
  const fixture = await chainFixture();
  const receiver = await startHttpsReceiver({ now: () => fixture.clock.now() });
  let worlds = 0;
  return {
    fixture,
    receiver,
    alice: fixture.wallet("alice", { lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n }),
    nextWorld: () => ++worlds,
    async close() {
      await receiver.close();
      await fixture.close();
    },
  };
}

/** In what a world differs from others; all of it has a default. */
export interface WorldSettings {
  readonly options?: Partial<PaymentServiceOptions>;
  /** Whose own money the service moves, besides what callers sign; nobody's unless said otherwise. */
  readonly house?: House;
  /** Who else has what to begin with, by name. */
  readonly wallets?: Readonly<Record<string, Funds>>;
  /** How the receiver answers the `attempt`-th request (from 1) with a notice of any payment; 200 unless said otherwise. */
  readonly receiver?: (event: NoticeEvent, attempt: number) => ReceiverScript;
  /** What goes wrong between the service and its node, all the time. */
  readonly faults?: FaultRule;
  /** What the processes have between themselves and their storage; nothing unless said otherwise. */
  readonly through?: (storage: PaymentStorage) => PaymentStorage;
}

/** By the name of a wallet: base units that it has more than to begin with. */
export type Books = Readonly<Record<string, Readonly<Record<Asset, bigint>>>>;

/** One world. Its processes come and go. */
export interface World {
  readonly fixture: ChainFixture;
  /** The database as an onlooker sees it. */
  readonly storage: PaymentStorage;
  /** Everything that was ever committed. */
  readonly log: StorageLog;
  readonly workflows: () => readonly AnyWorkflow[];
  readonly caller: Caller;
  readonly alice: Wallet;
  /** Those who have something to begin with, by name. */
  readonly wallets: readonly string[];
  /** The wallet of this name in this world. Whoever has nothing to begin with is there when first asked for. */
  wallet(name: string): Wallet;
  /** Whom a payment pays: a wallet that receives no other. */
  recipient(payment: string): Wallet;
  /** By the chain's own books, finalized. */
  gains(names: readonly string[]): Promise<Books>;
  /** What the client wrote down: the transaction it was told of for each payment, and the cancellations it was granted. */
  readonly taken: Map<string, string>;
  readonly cancelled: Set<string>;
  /** What was promised for payments out of the house, and how much was deposited for each. */
  readonly orders: Map<string, Order>;
  readonly deposited: Map<string, bigint>;
  /** The state in which a payment's machine stands. */
  stateOf(payment: string): Promise<unknown>;
  /** Deliveries that arrived, by whatever process, in order. */
  received(): readonly ReceivedRequest[];
  /** The service of this process, on a handle of its own, started when it is first asked for. */
  service(process: MortalProcess): Promise<PaymentService>;
  /** When the next task becomes claimable, null when there is none. */
  nextDue(): Promise<number | null>;
  /** Whoever has not ended, and in which state. */
  open(): Promise<readonly string[]>;
  /** The kinds of what is watched for. */
  watched(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

/** Makes a world: one account, one webhook, a recipient for each of these payments. Nothing has happened yet. */
export async function openWorld(
  { fixture, receiver, alice, nextWorld }: Surroundings,
  adapter: Adapter,
  payments: readonly string[],
  {
    options,
    house,
    wallets = {},
    receiver: script = () => answerWith(200),
    faults,
    through = (storage) => storage,
  }: WorldSettings,
): Promise<World> {
  const number = nextWorld();
  const { clock, chain, ledger, mints } = fixture;
  const database = await adapter.make();
  const log: StorageLog = { commits: [], claims: [] };
  const handles: PaymentStorage[] = [];
  const open = async (): Promise<PaymentStorage> => {
    const handle = await database.open();
    handles.push(handle);
    return handle;
  };
  const storage = await open();
  let workflows: readonly AnyWorkflow[] = [];
  const services = new Map<MortalProcess, PaymentService>();
  const random = seededRandom(`world ${number}`);

  const begin = async (process: MortalProcess): Promise<PaymentService> => {
    const recorded = recordStorage(await open(), log, () => clock.now());
    const service = createPaymentService({
      storage: through(process.within(recorded)),
      ledger: process.within(ledger),
      clock: process.timedBy(clock),
      random,
      masterSecrets: [TEST_MASTER_SECRET],
      stablecoins: mints,
      leaseMs: LEASE_MS,
      logger: silentLogger,
      webhooks: { ca: receiver.ca, allowAddress: (ip) => ip === "127.0.0.1" && process.may("attempt") },
      ...house?.options({ wallet, within: process.within, mints }),
      ...options,
    });
    ({ workflows } = service);
    services.set(process, service);
    return service;
  };

  const founded: Readonly<Record<string, Funds>> = { ...house?.wallets, ...wallets };
  const known = new Map<string, Wallet>();
  const wallet = (name: string): Wallet => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const { address, secretKey } = chain.createWallet(`${name} ${number}`, founded[name] ?? {});
    const made = { address: address as Wallet["address"], secretKey };
    known.set(name, made);
    return made;
  };
  for (const name of [...payments, ...Object.keys(founded)]) wallet(name);
  chain.advance(SLOTS_TO_FINALITY);
  const taken = new Map<string, string>();
  const path = `/hook/${number}`;
  const requests = new Map<string, number>();
  receiver.answer((request, response) => {
    const event = eventOf(request);
    // What a process of an earlier world sent with its last breath is none of this one's.
    if (request.path !== path || event === null) return answerWith(200)(request, response);
    const attempt = (requests.get(event) ?? 0) + 1;
    requests.set(event, attempt);
    return script(event, attempt)(request, response);
  });
  const lift = faults === undefined ? (): void => {} : chain.faults.add(faults);

  const setup = await begin(mortalProcess());
  const { accountId } = await setup.createAccount({ name: "simulated", tier: "enterprise" });
  const caller: Caller = { accountId, tier: "enterprise", scopes: SCOPES };
  const url = new URL(path, receiver.url).href;
  await setup.registerWebhook(caller, { url, events: [...NOTICE_EVENTS] });

  return {
    fixture,
    storage,
    log,
    workflows: () => workflows,
    caller,
    alice,
    wallets: Object.keys(founded),
    wallet,
    recipient(payment) {
      if (!payments.includes(payment)) throw new Error(`there is no payment ${payment} in this world`);
      return wallet(payment);
    },
    async gains(names) {
      const addresses = names.map((name) => wallet(name).address);
      const { funds } = await ledger.funds(addresses, [mints.USDC], "finalized");
      return Object.fromEntries(
        names.map((name, index) => {
          const { lamports = 0n, usdc = 0n } = founded[name] ?? {};
          const SOL = (funds[index]?.lamports ?? 0n) - lamports;
          return [name, { SOL, USDC: (funds[index]?.tokens[0] ?? 0n) - usdc }];
        }),
      );
    },
    taken,
    cancelled: new Set(),
    orders: new Map(),
    deposited: new Map(),
    async stateOf(payment) {
      const instance = await storage.load(taken.get(payment) ?? "");
      return instance === null ? undefined : valueOf(instance);
    },
    received: () => receiver.requests.filter((request) => request.path === path && request.method === "POST"),
    async service(process) {
      const running = services.get(process);
      if (running !== undefined) return running;
      const service = await begin(process);
      await service.start();
      return service;
    },
    nextDue: () => storage.nextDue(workflows.flatMap(({ claims }) => claims)),
    async open() {
      const ids = log.commits.flatMap(({ commit }) => (commit.starts ?? []).map(({ id }) => id));
      const instances = await Promise.all(ids.map((id) => storage.load(id)));
      return instances.flatMap((instance) =>
        instance?.status === "active" ? `${instance.workflow} ${JSON.stringify(valueOf(instance))}` : [],
      );
    },
    async watched() {
      const kinds = new Set(workflows.flatMap(({ given }) => Object.keys(given.watches ?? {})));
      return new Set((await watchedKinds(storage)).filter((kind) => kinds.has(kind)));
    },
    async close() {
      lift();
      // The dead cannot be stopped.
      const living = [...services].filter(([process]) => !process.isDead());
      await Promise.all(
        living.map(([process, service]) => Promise.race([service.stop({ timeoutMs: 0 }), process.died])),
      );
      for (const handle of handles) await handle.close();
      await database.destroy();
    },
  };
}

function valueOf({ snapshot }: Pick<InstanceRecord, "snapshot">): unknown {
  return (JSON.parse(snapshot) as { readonly value: unknown }).value;
}

/** The notice that a request brings; null for anything else, such as the look at a URL when it is registered. */
export function eventOf({ method, body }: ReceivedRequest): NoticeEvent | null {
  return method === "POST" ? (JSON.parse(body.toString("utf8")) as { event: NoticeEvent }).event : null;
}

/** Chance that turns out the same in every run. */
function seededRandom(seed: string): Random {
  let drawn = 0;
  return {
    bytes(length) {
      drawn += 1;
      return createHash("shake256", { outputLength: length }).update(`${seed}, draw ${drawn}`).digest();
    },
  };
}
