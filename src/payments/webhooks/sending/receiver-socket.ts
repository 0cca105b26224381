/** Opens a guarded connection: look up, judge, connect, judge again, verify the certificate. */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import type { Clock } from "../../../core/runtime.ts";
import { isLoopbackAddress, literalAddress, type ReceiverRules, refusedAddress } from "./receiver-url.ts";
import type { DeadlineOptions } from "./deadline.ts";
import { openTunnel } from "./proxy-tunnel.ts";
import type { Lookup } from "./resolve-host.ts";

/** The stage of opening a connection that failed. */
export type ConnectFault = "dns" | "blocked_address" | "connect" | "tls";

/** Thrown by {@link openReceiverSocket}: the failed stage, with the underlying error as `cause`. */
export class ReceiverConnectError extends Error {
  readonly fault: ConnectFault;

  constructor(fault: ConnectFault, cause?: unknown) {
    super(`could not connect to the receiver: ${fault}`, { cause });
    this.name = "ReceiverConnectError";
    this.fault = fault;
  }
}

export interface SocketOptions extends ReceiverRules {
  readonly lookup: Lookup;
  /** The certificates to verify against; one context serves all connections. */
  readonly secureContext: SecureContext;
  readonly clock: Clock;
  /** The proxy of all connections; undefined without a proxy. */
  readonly proxy: URL | undefined;
}

/** A connection, and how many milliseconds each stage took. */
export interface ReceiverSocket {
  readonly socket: Socket;
  readonly opening: { readonly dns: number; readonly connect: number; readonly tls: number };
}

/** Addresses tried of each family; without a bound, one DNS answer could aim us at a thousand hosts. */
const MAX_TRIED_PER_FAMILY = 2;

/** Wait for one address before trying the next, in milliseconds: longer than any round trip, even with one lost SYN. */
const NEXT_ADDRESS_AFTER_MS = 1_500;

/**
 * Connects to the host and port of an https URL. No packet leaves before every address of the name has been judged. One bad
 * address refuses all. No byte is sent before the address actually connected to has been judged too, so a name that answers
 * differently the next time gains nothing. Certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says. The caller
 * owns the socket.
 *
 * Through a proxy the addresses of the name are judged before the proxy is asked. The proxy then resolves the name by
 * itself, so guarding its connections is the proxy's duty. TLS is verified end to end, from here to the receiver.
 *
 * Rejects with {@link ReceiverConnectError}, also when `signal` aborts: look at the signal first.
 */
export async function openReceiverSocket(
  url: URL,
  options: SocketOptions,
  signal: AbortSignal,
): Promise<ReceiverSocket> {
  const { lookup, deny, secureContext, clock } = options;
  // The URL was accepted before: an `http:` one is a literal loopback address, and goes through no proxy.
  const isPlain = url.protocol === "http:";
  const allowAddress = isPlain ? isLoopbackAddress : options.allowAddress;
  const proxy = isPlain ? undefined : options.proxy;
  const stages = [clock.now()];
  const literal = literalAddress(url.hostname);
  const addresses = literal === null ? await lookUp(url.hostname, lookup, signal) : [literal];
  if (addresses.some((ip) => refusedAddress(ip, allowAddress, deny))) {
    throw new ReceiverConnectError("blocked_address");
  }
  stages.push(clock.now());

  const tcp =
    proxy === undefined
      ? await connectedTo(url, { addresses, allowAddress, deny }, signal)
      : await tunnelledTo(url, proxy, { clock, caller: signal });
  stages.push(clock.now());

  const socket = isPlain ? tcp : await secured(tcp, url, { secureContext, signal });
  stages.push(clock.now());
  // A wall clock may be set back meanwhile.
  const [dns = 0, connect = 0, tlsMs = 0] = stages
    .slice(1)
    .map((at, index) => Math.max(0, at - (stages[index] ?? at)));
  return { socket, opening: { dns, connect, tls: tlsMs } };
}

/** Speaks TLS over a connection, and verifies the receiver's certificate. */
function secured(
  tcp: Socket,
  { hostname }: URL,
  { secureContext, signal }: { readonly secureContext: SecureContext; readonly signal: AbortSignal },
): Promise<Socket> {
  const literal = literalAddress(hostname);
  const tls = connectTls({
    socket: tcp,
    host: literal ?? hostname,
    // SNI carries names only (RFC 6066).
    ...(literal === null && { servername: hostname }),
    secureContext,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  });
  return opened(tls, "secureConnect", signal);
}

/** Addresses of a name, and the rules that judge them. */
interface JudgedAddresses extends Pick<SocketOptions, "allowAddress" | "deny"> {
  readonly addresses: readonly string[];
}

/** Connects to an allowed address, and checks the address that answered. */
async function connectedTo(
  url: URL,
  { addresses, allowAddress, deny }: JudgedAddresses,
  signal: AbortSignal,
): Promise<Socket> {
  const tcp = connectTcp({
    host: literalAddress(url.hostname) ?? url.hostname,
    port: url.port === "" ? 443 : Number(url.port),
    // Node asks this instead of DNS and tries the answers in turn; a literal is not asked about.
    lookup: (_hostname, _options, answer) => answer(null, candidates(addresses)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
  });
  await opened(tcp, "connect", signal);
  if (tcp.remoteAddress === undefined || refusedAddress(tcp.remoteAddress, allowAddress, deny)) {
    tcp.destroy();
    throw new ReceiverConnectError(tcp.remoteAddress === undefined ? "connect" : "blocked_address");
  }
  return tcp;
}

async function tunnelledTo(url: URL, proxy: URL, patience: Omit<DeadlineOptions, "ms">): Promise<Socket> {
  try {
    return await openTunnel(proxy, url, patience);
  } catch (cause) {
    throw new ReceiverConnectError("connect", cause);
  }
}

async function lookUp(hostname: string, lookup: Lookup, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const addresses = await Promise.race([lookup(hostname, signal), rejectedBy(signal)]);
    if (addresses.length === 0) throw new Error(`no address found for ${hostname}`);
    return addresses;
  } catch (cause) {
    throw new ReceiverConnectError("dns", cause);
  }
}

/** Resolves with the socket at `event`; destroys it and rejects when it fails, closes or `signal` aborts before. */
function opened<S extends Socket>(
  socket: S,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<S> {
  const fault = event === "connect" ? "connect" : "tls";
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      reject(new ReceiverConnectError(fault, cause));
    };
    const abort = (): void => fail(signal.reason);
    // Never removed: an error after this point rejects the read under way, and must not end the process.
    socket.on("error", fail);
    socket.once("close", fail);
    socket.once(event, () => {
      signal.removeEventListener("abort", abort);
      socket.off("close", fail);
      resolve(socket);
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function candidates(addresses: readonly string[]): { address: string; family: number }[] {
  const ofFamily = (family: number): { address: string; family: number }[] =>
    addresses
      .filter((address) => isIP(address) === family)
      .slice(0, MAX_TRIED_PER_FAMILY)
      .map((address) => ({ address, family }));
  return [...ofFamily(4), ...ofFamily(6)];
}
