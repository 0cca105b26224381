/**
 * The parts of webhooks in a service: what sends, what announces, what is told beside the steps, and the calls of their
 * owners.
 */
import { StartRefused } from "../frame/secrets/bind-database.ts";
import { MAINNET_GENESIS } from "../frame/assets/assets.ts";
import type { OpeningDeps, OpenModule, ModuleWork } from "../frame/open-module.ts";
import { abandonedWebhooks } from "./abandoned-webhooks.ts";
import { announceEffect } from "./announce-effect.ts";
import { deliveryBacklog } from "./delivery-backlog.ts";
import { egressOf } from "./egress.ts";
import { deliveriesUnderWay, webhookErasure } from "./erasure.ts";
import { NoticeFeed } from "./notice-feed.ts";
import { goesWithNotice } from "./old-deliveries.ts";
import { OrderEventLoop } from "./order-event-loop.ts";
import { createDeliveryClient, type DeliveryClient } from "./sending/attempt.ts";
import type { ReceiverRules } from "./sending/receiver-url.ts";
import { WebhookActs } from "./viewer-acts.ts";
import { webhookCalls } from "./webhook-calls.ts";
import { webhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";
import { webhooksOf } from "./webhook-limit.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import type { WebhookStorage, WebhookTables } from "./webhook-storage.ts";

type WebhookDeps = OpeningDeps<WebhookStorage, WebhookTables, WebhookOptions>;

export function openWebhooks(deps: WebhookDeps): OpenModule<never> {
  const { storage, clock, sealing } = deps;
  const { disableAfter, secretOverlapMs, allowLoopbackHttp, proxy } = deps.options.webhooks;
  const { delivery, rules } = senderOf(deps);
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter });
  const calls = webhookCalls({ ...deps, delivery, rules, deliveries, secretOverlapMs });
  const feed = new NoticeFeed(deps);
  const acts = new WebhookActs({ ...deps, calls });
  return {
    workflows: [deliveries],
    chainless: [deliveries],
    announce: announceEffect({ ...deps, deliveries }),
    work: workOf(feed, new OrderEventLoop({ ...deps, deliveries }), delivery),
    calls,
    listeners: { subscribe: feed.subscribe.bind(feed) },
    accountFields: (caller) => webhooksOf(storage, caller),
    health: {
      silent: { backlog: [] },
      read: async () => ({ backlog: await deliveryBacklog(storage, clock.now()) }),
    },
    diagnose: async () => ({ egress: await egressOf(proxy, clock) }),
    matters: [abandonedWebhooks(storage)],
    offers: (instance) => acts.offers(instance),
    perform: (instance, key, by) => acts.perform(instance, key, by),
    erasureCheck: (id) => deliveriesUnderWay(storage, id),
    erasure: webhookErasure(storage),
    goesWithNotice: goesWithNotice(storage),
    check(genesisHash) {
      if (!allowLoopbackHttp || genesisHash !== MAINNET_GENESIS) return;
      throw new StartRefused(
        "webhooks.allowLoopbackHttp: for development only, and the ledger answers for mainnet",
      );
    },
  };
}

function senderOf({ clock, options }: WebhookDeps): {
  readonly delivery: DeliveryClient;
  readonly rules: ReceiverRules;
} {
  const { allowAddress, deny, ca, proxy, acceptAny2xx, allowLoopbackHttp } = options.webhooks;
  const rules = {
    ...(allowAddress === undefined ? {} : { allowAddress }),
    ...(deny === undefined ? {} : { deny }),
    ...(allowLoopbackHttp ? { allowLoopbackHttp } : {}),
  };
  const delivery = createDeliveryClient({
    clock,
    ...rules,
    ...(ca === undefined ? {} : { ca }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(acceptAny2xx === undefined ? {} : { acceptAny2xx }),
  });
  return { delivery, rules };
}

function workOf(feed: NoticeFeed, events: OrderEventLoop, delivery: DeliveryClient): ModuleWork {
  return {
    run() {
      feed.run();
      events.run();
    },
    stop: () => events.stop(),
    async end(timeoutMs) {
      await feed.stop(timeoutMs);
      await delivery.endIdle();
    },
    async settled() {
      const hasTold = await events.settled();
      await feed.settled();
      return hasTold;
    },
    committed({ writes = [] }) {
      feed.hear(writes);
      events.hear(writes);
    },
  };
}
