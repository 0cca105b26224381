/** Makes one attempt to deliver a notice: a single POST over a guarded connection, within an absolute deadline. */
import { createSecureContext } from "node:tls";
import { webhookCalled } from "../../../core/diagnostics.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { AllowAddress, DenyList } from "./receiver-url.ts";
import { DeadlineError, withDeadline } from "./deadline.ts";
import { InterimAnswersError } from "./answer-reader.ts";
import type { ConnectionTime, ReceiverRequest } from "./receiver-connection.ts";
import { ReceiverConnectionPool } from "./receiver-connection-pool.ts";
import { type ConnectFault, ReceiverConnectError } from "./receiver-socket.ts";
import { dnsLookup, type Lookup } from "./resolve-host.ts";

/** From the look-up of the name to the status line, in milliseconds. */
export const DELIVERY_DEADLINE_MS = 10_000;

/** The deadline of the reachability check at registration, while a caller waits. */
const REACH_DEADLINE_MS = 5_000;

/**
 * Why an attempt failed. The first four name the stage of connecting that failed. `reset`: the
 * connection ended, or something else than HTTP came, before a status line. `blocked_address`: the guard refused;
 * tenants are shown `dns` instead, so that they cannot scan the host's network.
 */
export type AttemptError =
  ConnectFault | "timeout" | "reset" | "headers_too_large" | "redirect" | "http_status";

/** The result of an attempt. */
export interface AttemptResult {
  /** Whether the receiver took the notice. */
  readonly ok: boolean;
  /** The status of the answer; null when none came. */
  readonly httpStatus: number | null;
  /** Null exactly when `ok`. */
  readonly error: AttemptError | null;
  /** Milliseconds until the status line or the failure. */
  readonly durationMs: number;
  /** The beginning of the answer's body as text; null when there was none. */
  readonly excerpt: string | null;
  /**
   * How long each stage of opening its connection took; null for a kept connection, and when no connection was opened.
   */
  readonly opening: ConnectionTime | null;
}

/** The delivery, and its target. */
interface AttemptRequest {
  readonly url: string;
  /** The bytes of the notice, from `noticeBody`. */
  readonly body: string;
  /** From `signatureHeaders`; content type and user agent are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** Gives the attempt up, for instance when its lease was lost: {@link DeliveryClient.attempt} then rejects. */
  readonly signal?: AbortSignal;
}

/** Options of deliveries. */
export interface DeliveryOptions {
  readonly clock: Clock;
  /** Takes the place of DNS. Its answers are judged like any. */
  readonly lookup?: Lookup;
  /** Opens addresses that the guard refuses. For development only: it lets tenants reach this server's network. */
  readonly allowAddress?: AllowAddress;
  /** Addresses and names that are never reached, also where `allowAddress` would allow them. */
  readonly deny?: DenyList;
  /** Takes `http:` receivers on this machine's loopback addresses. For development only. Default false. */
  readonly allowLoopbackHttp?: boolean;
  /** Accept 200 to 299 as success instead of exactly 200. Default false. */
  readonly acceptAny2xx?: boolean;
  /** Certificate authorities in PEM that replace Node's own (and NODE_EXTRA_CA_CERTS). For development. */
  readonly ca?: string | readonly string[];
  /** An egress proxy, from `readProxyUrl`, that all connections go through by CONNECT. */
  readonly proxy?: URL;
}

/** Delivers notices. Keeps nothing between two attempts but idle connections, each for one URL. */
export interface DeliveryClient {
  /**
   * Posts once and follows nothing. The outcome is decided by the status line; what of the body comes within the same
   * deadline is read for the excerpt. A receiver's fault is an outcome. Rejects only with the reason of the
   * caller's signal, or when a header could not be sent (a bug of the caller).
   */
  attempt(request: AttemptRequest): Promise<AttemptResult>;
  /** Whether anything at `url` answers HTTP: a HEAD without payload and secret, any status counts. Never rejects. */
  reach(url: string): Promise<boolean>;
  /** Ends the connections that are not in use. A process need not wait for it: idle ones do not keep it alive. */
  endIdle(): Promise<void>;
}

/** Makes the deliverer of webhooks. Every connection is guarded: see `openReceiverSocket`. */
export function createDeliveryClient(options: DeliveryOptions): DeliveryClient {
  return new GuardedDelivery(options);
}

class GuardedDelivery implements DeliveryClient {
  readonly #clock: Clock;
  readonly #acceptAny2xx: boolean;
  readonly #connections: ReceiverConnectionPool;

  constructor({
    clock,
    lookup = dnsLookup(),
    allowAddress,
    deny,
    allowLoopbackHttp,
    acceptAny2xx = false,
    ca,
    proxy,
  }: DeliveryOptions) {
    this.#clock = clock;
    this.#acceptAny2xx = acceptAny2xx;
    // Without `ca` these are Node's own authorities and those of NODE_EXTRA_CA_CERTS.
    const secureContext = createSecureContext(ca === undefined ? {} : { ca: [ca].flat() });
    this.#connections = new ReceiverConnectionPool({
      clock,
      lookup,
      allowAddress,
      deny,
      allowLoopbackHttp,
      secureContext,
      proxy,
    });
  }

  async attempt({ url, body, headers, signal: caller }: AttemptRequest): Promise<AttemptResult> {
    const deadline = { ms: DELIVERY_DEADLINE_MS, clock: this.#clock, caller };
    const request = { method: "POST", body, headers: { ...headers, ...FIXED_HEADERS } } as const;
    const result = await withDeadline(deadline, (signal) => this.#post(url, request, signal));
    const { error, durationMs } = result;
    webhookCalled.publish(() => ({ outcome: error ?? "delivered", durationMs }));
    return result;
  }

  reach(url: string): Promise<boolean> {
    const request = { method: "HEAD", headers: { "user-agent": USER_AGENT } } as const;
    return withDeadline({ ms: REACH_DEADLINE_MS, clock: this.#clock }, (signal) =>
      this.#connections.callAlone({ text: url, request, signal, onStatus: () => {} }).then(
        () => true,
        () => false,
      ),
    );
  }

  endIdle(): Promise<void> {
    return this.#connections.endIdle();
  }

  async #post(text: string, request: ReceiverRequest, signal: AbortSignal): Promise<AttemptResult> {
    const startedAt = this.#clock.now();
    // A wall clock may be set back meanwhile.
    const duration = (): number => Math.max(0, this.#clock.now() - startedAt);
    let durationMs = 0;
    const onStatus = (): void => void (durationMs = duration());
    try {
      const answered = await this.#connections.call({ text, request, signal, onStatus });
      const { statusCode, excerpt, opening } = answered;
      const error = judge(statusCode, this.#acceptAny2xx);
      return { ok: error === null, httpStatus: statusCode, error, durationMs, excerpt, opening };
    } catch (thrown) {
      const error = faultOf(thrown, signal);
      const nothing = { httpStatus: null, excerpt: null, opening: null };
      return { ok: false, error, durationMs: duration(), ...nothing };
    }
  }
}

const USER_AGENT = "paystate";
const FIXED_HEADERS = { "content-type": "application/json", "user-agent": USER_AGENT };

function judge(status: number, acceptAny2xx: boolean): AttemptError | null {
  if (status === 200 || (acceptAny2xx && status >= 200 && status < 300)) return null;
  return status >= 300 && status < 400 ? "redirect" : "http_status";
}

/** Names what was thrown before a status line. Rethrows the caller's abort and what is a bug. */
function faultOf(thrown: unknown, signal: AbortSignal): AttemptError {
  if (signal.aborted) {
    if (signal.reason instanceof DeadlineError) return "timeout";
    throw signal.reason;
  }
  if (thrown instanceof ReceiverConnectError) return thrown.fault;
  const { code } = thrown as { readonly code?: unknown };
  if (thrown instanceof InterimAnswersError) return "headers_too_large";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "headers_too_large";
  if (code === "UND_ERR_INVALID_ARG") throw thrown;
  return "reset";
}
