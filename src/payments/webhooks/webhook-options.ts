/** Options of webhooks, and their checks. */
import { z } from "zod";
import { functionOption, optionsWith } from "../../core/options.ts";
import { readNetwork } from "../../core/networks.ts";
import { readProxyUrl } from "./sending/proxy-tunnel.ts";
import { denyList, readHostName } from "./sending/receiver-url.ts";

/** Text that `read` makes something of; null from it refuses the text. */
function readAs<T>(read: (text: string) => T | null, expected: string) {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== null) return value;
    context.addIssue({ code: "custom", message: `expected ${expected}` });
    return z.NEVER;
  });
}

const denyOption = optionsWith({
  addresses: z
    .array(readAs(readNetwork, 'an address or a network, such as "203.0.113.0/24"'))
    .readonly()
    .default([]),
  hosts: z.array(readAs(readHostName, 'the name of a host, such as "example.com"')).readonly().default([]),
}).transform(({ addresses, hosts }) => denyList(addresses, hosts));

const disableAfterOption = z.union(
  [
    z.literal("never"),
    optionsWith({
      abandoned: z.number().int().min(1).max(10_000).default(100),
      undeliveredMs: z.number().int().min(0).max(31_536_000_000).default(259_200_000),
    }),
  ],
  { error: 'expected "never", or { abandoned: 1 to 10,000, undeliveredMs: 0 to 31,536,000,000 (a year) }' },
);

/** Checks the option `webhooks` of a service, and fills in the defaults. */
export const webhookOptions = optionsWith({
  /**
   * Opens addresses that webhooks may otherwise never reach (private, loopback …). For development only: it lets
   * tenants send requests into this server's own network. Default: none.
   */
  allowAddress: functionOption<(ip: string) => boolean>().optional(),
  /**
   * Targets that webhooks never reach, such as the operator's own public machines: addresses and networks like
   * `"203.0.113.0/24"` or `"2001:db8::7"`, and names of hosts like `"example.com"`, each with every name below it.
   * Judged at registration, update, test and every connection, and stronger than `allowAddress`. Default: none.
   */
  deny: denyOption.optional(),
  /**
   * Takes receivers at `http://127.0.0.1:PORT` and `http://[::1]:PORT`, such as your own app on this machine, without TLS.
   * For development: a service on mainnet does not start with it. Default false.
   */
  allowLoopbackHttp: z.boolean().default(false),
  /** Certificate authorities in PEM to trust instead of Node's own. Default: Node's and NODE_EXTRA_CA_CERTS. */
  ca: z.union([z.string(), z.array(z.string()).readonly()]).optional(),
  /**
   * Sends everything through this egress proxy by HTTP CONNECT, such as `"http://user:password@proxy.example:3128"`
   * (`http:` or `https:`). TLS is verified end to end, from here to the receiver. Names are still looked up and judged
   * here first; which address the proxy then connects to, only the proxy can guard. A proxy that refuses, or
   * has not connected within 5 seconds, fails the attempt with `connect`; it is repeated like any. Default: none.
   */
  proxy: readAs(
    readProxyUrl,
    'the URL of a proxy, such as "http://proxy.example:3128", with its user and password percent-encoded',
  ).optional(),
  /** Takes 200 to 299 as received instead of exactly 200. Default false. */
  acceptAny2xx: z.boolean().optional(),
  /**
   * The time for which deliveries are also signed with the previous secret, once a new secret is set. Default 24
   * hours, at most 30 days.
   */
  secretOverlapMs: z.number().int().min(0).max(2_592_000_000).default(86_400_000),
  /**
   * When a webhook is disabled automatically, with the reason `disabled_after_failures`: after `abandoned` abandoned
   * deliveries in a row, when no delivery succeeded for `undeliveredMs` milliseconds. The owner enables the webhook
   * again and recovers missed events. Default 100 and 3 days; "never" leaves every webhook enabled.
   */
  disableAfter: disableAfterOption.prefault({}),
});

/** Options of webhooks, `webhooks` of `createPaymentService`. Each has a default. @interface */
export type WebhookServiceOptions = z.input<typeof webhookOptions>;

/** The options of webhooks, checked. */
export type CheckedWebhookOptions = z.output<typeof webhookOptions>;

/** The options of a service that webhooks take. */
export interface WebhookOptions {
  readonly webhooks: CheckedWebhookOptions;
}
