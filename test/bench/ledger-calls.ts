/** What the chain is asked, and on whose behalf: each call of a node with the question of the service that led to it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Figure } from "./figures.ts";

/** One call of a node. */
export interface NodeCall {
  readonly method: string;
  /** The HTTP request that held it, counted from 1: those of a batch have one. */
  readonly request: number;
  /** The ledger's method; `watch` when it looks at many deposit addresses in turn. In a batch that of its first call. */
  readonly question: string;
  /** When its answer was there, in milliseconds of `performance.now()`, and the CPU time used by then, in microseconds. */
  readonly at: number;
  readonly cpu: number;
}

/** Books of the calls; storage, ledger and `fetch` must be used instead of those they were made of. */
export interface LedgerCalls {
  readonly calls: NodeCall[];
  readonly fetch: typeof fetch;
  watching(storage: PaymentStorage): PaymentStorage;
  asking(ledger: Ledger): Ledger;
}

/** A call as it is sent. */
interface Asked {
  readonly method: string;
}

/** The kinds of watches whose polls are `watch`. */
const DEPOSIT_WATCHES = new Set(["deposits", "recentDeposits", "lateDeposits", "slowDeposits"]);
/** Following signatures until they are final: what the polls of `attempts` ask. */
const FOLLOWING = new Set(["statuses", "fates"]);

/** Which of the three parts of the figure a call belongs to. */
export function partOf({ question }: NodeCall): "watch" | "status" | "rest" {
  if (question === "watch") return "watch";
  return FOLLOWING.has(question) ? "status" : "rest";
}

/** How many calls of each part there were for each payment. */
export function perPayment(calls: readonly NodeCall[], payments: number): Omit<Figure, "name"> {
  const count = (part: string): number => calls.filter((call) => partOf(call) === part).length / payments;
  return {
    "calls each": calls.length / payments,
    "requests each": new Set(calls.map(({ request }) => request)).size / payments,
    watch: count("watch"),
    status: count("status"),
    rest: count("rest"),
  };
}

/** The calls of each method on behalf of each question, most first, for each payment. */
export function callList(calls: readonly NodeCall[], payments: number): Omit<Figure, "name"> {
  const counts = new Map<string, number>();
  for (const { question, method } of calls) {
    const name = `${question}: ${method}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  return Object.fromEntries(sorted.map(([name, count]) => [name, count / payments]));
}

/** CPU time of this process in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export function ledgerCalls(node: typeof fetch): LedgerCalls {
  const questions = new AsyncLocalStorage<string>();
  const calls: NodeCall[] = [];
  /** What each kind of watch looked at last: so full readings by its polls are told from settlements, which ask the same. */
  const polled = new Map<string, ReadonlySet<string>>();
  let requests = 0;
  const isWatched = (address: string): boolean => [...polled.values()].some((keys) => keys.has(address));
  const isPoll = (method: string | symbol, asked: unknown): boolean =>
    method === "amountsIn" || (method === "funds" && (asked as readonly string[]).every(isWatched));

  return {
    calls,
    fetch: async (input, init) => {
      const asked = JSON.parse(init?.body as string) as Asked | readonly Asked[];
      const question = questions.getStore() ?? "none";
      const answer = await node(input, init);
      requests += 1;
      const common = { request: requests, question, at: performance.now(), cpu: cpuTime() };
      calls.push(...[asked].flat().map(({ method }) => ({ ...common, method })));
      return answer;
    },
    watching: (storage) =>
      replacing(storage, "watches", async (request) => {
        const watches = await storage.watches(request);
        if ("kind" in request && DEPOSIT_WATCHES.has(request.kind)) {
          polled.set(request.kind, new Set(watches.map(({ key }) => key)));
        }
        return watches;
      }),
    asking: (ledger) =>
      new Proxy(ledger, {
        get(target, property, receiver) {
          const method: unknown = Reflect.get(target, property, receiver);
          if (typeof method !== "function") return method;
          return (...args: unknown[]): unknown => {
            const question = isPoll(property, args[0]) ? "watch" : String(property);
            return questions.run(question, (): unknown => Reflect.apply(method, target, args));
          };
        },
      }),
  };
}

/** The same object but for one method. */
export function replacing<T extends object, K extends keyof T>(whole: T, name: K, method: T[K]): T {
  return new Proxy(whole, {
    get(target, property, receiver) {
      if (property === name) return method;
      const value: unknown = Reflect.get(target, property, receiver);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
