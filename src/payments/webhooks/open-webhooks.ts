/** Opens webhooks in a service: what sends, what announces, and what is told beside the steps. */
import type { AnnounceEffect } from "../frame/notices/notice-writes.ts";
import type { SecretBox } from "../frame/secrets/secret-box.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import { announceEffect } from "./announce-effect.ts";
import { createDeliveryClient, type DeliveryClient, type DeliveryOptions } from "./sending/attempt.ts";
import type { ReceiverRules } from "./sending/receiver-url.ts";
import {
  webhookDeliveryWorkflow,
  type DisableRule,
  type WebhookDeliveryWorkflow,
} from "./webhook-delivery-workflow.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

/** The options of webhooks, checked. */
export interface CheckedWebhookOptions {
  readonly allowAddress?: DeliveryOptions["allowAddress"] | undefined;
  readonly deny?: DeliveryOptions["deny"] | undefined;
  readonly allowLoopbackHttp: boolean;
  readonly ca?: DeliveryOptions["ca"] | undefined;
  readonly proxy?: DeliveryOptions["proxy"] | undefined;
  readonly acceptAny2xx?: boolean | undefined;
  readonly secretOverlapMs: number;
  readonly disableAfter: DisableRule | "never";
}

interface OpeningParts extends Pick<ServiceContext<WebhookStorage>, "storage" | "clock" | "assets"> {
  /** Seals what signs. */
  readonly sealing: SecretBox;
}

/** Webhooks of a service. */
export interface OpenedWebhooks {
  readonly sealing: SecretBox;
  readonly delivery: DeliveryClient;
  readonly deliveries: WebhookDeliveryWorkflow;
  /** The effect by which charts announce. */
  readonly announce: AnnounceEffect;
  readonly rules: ReceiverRules;
  readonly secretOverlapMs: number;
}

export function openWebhooks(options: CheckedWebhookOptions, given: OpeningParts): OpenedWebhooks {
  const { storage, clock, assets, sealing } = given;
  const { allowAddress, deny, ca, proxy, acceptAny2xx, disableAfter, allowLoopbackHttp } = options;
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
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter });
  const announce = announceEffect({ storage, clock, assets, deliveries });
  return { sealing, delivery, deliveries, announce, rules, secretOverlapMs: options.secretOverlapMs };
}
