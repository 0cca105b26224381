/** A payment service on a database file whose webhooks go to a real HTTPS receiver on loopback. */
// modules: webhooks
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copiedSqlite } from "../../kit/storages.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../../kit/https-receiver.ts";
import { sharedCertificate } from "../../kit/loopback-certificate.ts";
import { passTime } from "../../kit/pass-time.ts";
import { serviceFixture, type ServiceFixture } from "../../kit/service-fixture.ts";

/** The events of a status. */
export const ALL_EVENTS = [
  "transaction.pending",
  "transaction.confirmed",
  "transaction.completed",
  "transaction.failed",
];

/** A secret that both kinds of signatures can be made with. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** What a test of webhooks works with. */
export interface WebhookWorld {
  readonly fixture: ServiceFixture;
  readonly receiver: HttpsReceiver;
  readonly caller: Caller;
  /** Where the database file is, and nothing else. */
  readonly folder: string;
  /** Registers a webhook at the receiver for all events, unless told otherwise; answers its id. */
  register(request?: object): Promise<string>;
  /** Alice sends Bob 1.5 USDC; answers the transaction's id. */
  sendOne(): Promise<string>;
  /** The deliveries that arrived. */
  posts(): HttpsReceiver["requests"];
  /** The event of each delivery that arrived. */
  eventsReceived(): readonly unknown[];
  /** Opens the database once more, as another process does. */
  reopen(): Promise<PaymentStorage>;
  close(): Promise<void>;
}

/** Webhooks are delivered to the receiver, whatever else is said of them. */
export async function webhookWorld({
  webhooks,
  ...options
}: Partial<PaymentServiceOptions> = {}): Promise<WebhookWorld> {
  const certificate = await sharedCertificate();
  const folder = mkdtempSync(join(tmpdir(), "paystate-webhooks-"));
  const opened: PaymentStorage[] = [];
  const reopen = async (): Promise<PaymentStorage> => {
    const storage = await copiedSqlite(join(folder, "payments.db"));
    opened.push(storage);
    return storage;
  };
  const fixture = await serviceFixture({
    storage: await reopen(),
    webhooks: { ca: certificate.ca, allowAddress: (ip) => ip === "127.0.0.1", ...webhooks },
    ...options,
  });
  const receiver = await startHttpsReceiver({ certificate, now: () => fixture.clock.now() });
  const caller = await fixture.caller();
  const posts = (): HttpsReceiver["requests"] => receiver.requests.filter(({ method }) => method === "POST");
  return {
    fixture,
    receiver,
    caller,
    folder,
    posts,
    reopen,
    async register(request = {}) {
      const all = { url: receiver.url, events: ALL_EVENTS };
      return (await fixture.service.registerWebhook(caller, { ...all, ...request })).body.webhookId;
    },
    async sendOne() {
      const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
      const { address: to } = fixture.wallet("bob");
      return (await fixture.send(caller, { from: alice, to, amount: "1.5" })).transactionId;
    },
    eventsReceived: () =>
      posts().map(({ body }) => (JSON.parse(body.toString("utf8")) as { event: string }).event),
    async close() {
      await receiver.close();
      await fixture.close();
      for (const storage of opened) await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lets virtual time pass for a service that is not the fixture's own. */
export function passFor(
  { fixture }: Pick<WebhookWorld, "fixture">,
  service: PaymentService,
  storage: PaymentStorage,
  until: number,
): Promise<void> {
  const { workflows } = service;
  return passTime({ clock: fixture.clock, engine: service, storage, workflows }, until);
}
