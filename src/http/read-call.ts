/** A request that was let in and read, as its endpoint sees it. */
import type { PaymentService } from "../service/payment-service.ts";
import type { RequestOptions } from "../payments/accounts/answer-once.ts";
import type { Caller } from "../payments/accounts/caller.ts";
import type { LimitStatus } from "../payments/accounts/count-hit.ts";
import type { AccountWindowList } from "./account-window-list.ts";
import type { CountedRequest } from "./counted-request.ts";
import type { Call } from "./contract/endpoint.ts";
import type { RequestContent } from "./read-contents.ts";

/** The parts of a call. */
interface CallParts {
  readonly service: PaymentService;
  readonly windows: AccountWindowList;
  readonly caller: Caller;
  readonly path: Readonly<Record<string, string>>;
  readonly request: Request;
  readonly contents: RequestContent;
  readonly counted: CountedRequest;
}

/** A call of an endpoint. */
export class ReadCall implements Call {
  readonly service: PaymentService;
  readonly caller: Caller;
  readonly path: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly options: RequestOptions;
  readonly #request: Request;
  readonly #windows: AccountWindowList;

  constructor({ service, windows, caller, path, request, contents, counted }: CallParts) {
    this.service = service;
    this.caller = caller;
    this.path = path;
    this.body = contents.body;
    this.query = contents.query;
    this.options = { ...contents.options, onLimit: counted.onLimit, onNew: counted.onNew };
    this.#request = request;
    this.#windows = windows;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  standings(): readonly LimitStatus[] {
    return this.#windows.standings(this.caller);
  }
}
