/** The client's options and their checks, without a library: the client is small. */
import { type Clock, type Random, systemClock, systemRandom } from "../core/runtime.ts";

/** Sends a request: the platform's `fetch`, or `createHttpHandler(…).fetch` in the service's own process. */
export type ClientFetch = (request: Request) => Promise<Response>;

/** Options of `createClient`. */
export interface ClientOptions {
  /** The URL of the service, without `/v1`, such as "https://pay.example" or "https://shop.example/payments". */
  readonly baseUrl: string;
  /** A key of the account. It is sent to `baseUrl` only: redirects are not followed. */
  readonly apiKey: string;
  /** Sends the requests. Default: the platform's own `fetch`. */
  readonly fetch?: ClientFetch;
  /** How long one request may take, in milliseconds. Default 60,000; the service may wait for 25,000 of them. */
  readonly timeoutMs?: number;
  /** How often a request is sent again when no answer came, or 429, 502, 503 or 504. Default 4; 0 for never. */
  readonly retries?: number;
  /** How long all pauses of one call may take together, in milliseconds. Default 30,000. */
  readonly maxWaitMs?: number;
  /** Measures time and pauses. Default: the machine's own. */
  readonly clock?: Clock;
  /** Makes idempotency keys and spreads pauses. Default: the operating system's. */
  readonly random?: Random;
}

/** The options with their defaults. */
export type CheckedClientOptions = Required<ClientOptions>;

const DEFAULTS = {
  // Called as a function of its own: a browser's fetch refuses to be a method.
  fetch: (request: Request) => fetch(request),
  timeoutMs: 60_000,
  retries: 4,
  maxWaitMs: 30_000,
  clock: systemClock,
  random: systemRandom,
};

/** Throws a `TypeError` that names the option and what would be right. */
export function checkClientOptions(options: ClientOptions): CheckedClientOptions {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const stranger = given.find(([name]) => !Object.hasOwn(CHECKS, name));
  if (stranger !== undefined) throw wrong(stranger[0], `expected one of ${Object.keys(CHECKS).join(", ")}`);
  const checked = { ...DEFAULTS, ...Object.fromEntries(given) } as CheckedClientOptions;
  for (const [name, check] of Object.entries(CHECKS)) {
    if (!check.fits(checked[name as keyof ClientOptions])) throw wrong(name, `expected ${check.expected}`);
  }
  return { ...checked, baseUrl: checked.baseUrl.replace(/\/+$/, "") };
}

/** A check of an option. */
interface Check {
  readonly expected: string;
  fits(value: unknown): boolean;
}

const whole = (least: number): Check => ({
  expected: `a whole number, ${least} or more`,
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= least,
});

const objectWith = (...methods: readonly string[]): Check => ({
  expected: `an object with ${methods.join(" and ")}`,
  fits: (value) =>
    typeof value === "object" &&
    methods.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"),
});

const CHECKS: Readonly<Record<keyof ClientOptions, Check>> = {
  baseUrl: { expected: 'a URL such as "https://pay.example", without a query', fits: isWebAddress },
  // A line break would end the header, and the platform's own error would show the key.
  apiKey: {
    expected: "a key of the service, in visible ASCII characters",
    fits: (value) => typeof value === "string" && /^[\x21-\x7e]+$/.test(value),
  },
  fetch: { expected: "a function that takes a Request", fits: (value) => typeof value === "function" },
  timeoutMs: whole(1),
  retries: whole(0),
  maxWaitMs: whole(0),
  clock: objectWith("now", "sleep"),
  random: objectWith("bytes"),
};

/** The value is not shown: it may be the key. */
function wrong(name: string, what: string): TypeError {
  return new TypeError(`createClient was given an option that it cannot work with: ${name}: ${what}`);
}

function isWebAddress(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    const { protocol, search, hash, username } = new URL(value);
    return /^https?:$/.test(protocol) && `${search}${hash}${username}` === "";
  } catch {
    return false;
  }
}
