/** Counts a request against its limit once, even when refused; a replay counts against the limit of replays. */
import type { PaymentService } from "../service/payment-service.ts";
import { isPaymentError, PaymentError } from "../errors/errors.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import type { DurableScope, LimitStatus } from "../payments/frame/accounts/count-hit.ts";
import { type AccountWindowList, limitExceeded, writeRateLimit, type WindowCount } from "./rate-window.ts";
import type { KeyedEndpoint } from "./contract/endpoint.ts";
import { isDurable, type WindowName } from "./contract/limits.ts";

interface LimitedRequest {
  readonly service: PaymentService;
  readonly windows: AccountWindowList;
  /** Undefined for a path or method that does not exist, which counts as a read. */
  readonly endpoint: KeyedEndpoint | undefined;
  readonly caller: Caller;
  /** The headers of the answer, which show the limit. */
  readonly headers: Headers;
  /** Whether the request may be a replay: a POST with an Idempotency-Key. */
  readonly mayBeReplay: boolean;
}

/**
 * Counts a request on arrival, unless it may be a replay, which is answered even when the window is full: a possible
 * replay is counted when the service has found no stored answer. The service itself counts limits shared by all
 * processes.
 */
export class CountedRequest {
  readonly #request: LimitedRequest;
  readonly #limit: WindowName | DurableScope;
  #hit: WindowCount | null = null;
  #wasReplayCounted = false;
  #parties: WindowCount | null = null;

  constructor(request: LimitedRequest) {
    this.#request = request;
    this.#limit = request.endpoint?.limit ?? "reads";
  }

  /** Throws `INSUFFICIENT_SCOPE`, or `RATE_LIMIT_EXCEEDED`, in this order. */
  enter(): void {
    const { windows, endpoint, caller, headers, mayBeReplay } = this.#request;
    const limit = this.#limit;
    if (!isDurable(limit) && !mayBeReplay) this.#count(limit);
    const scope = endpoint?.scope ?? "any";
    if (scope !== "any" && !caller.scopes.includes(scope)) {
      throw new PaymentError("INSUFFICIENT_SCOPE", { required: scope });
    }
    this.#refuseWhenFull();
    if (isDurable(limit) || !mayBeReplay) return;
    const standing = windows.standing(limit, caller);
    writeRateLimit(headers, standing);
    if (standing.remaining > 0) return;
    // Only a replay can be answered here, so the request counts as a replay before its look-up.
    windows.hitReplay(standing, caller);
    this.#wasReplayCounted = true;
  }

  /** Told by the service that the request is no replay. Throws `RATE_LIMIT_EXCEEDED`. */
  readonly onNew = (): void => {
    if (isDurable(this.#limit) || this.#hit !== null) return;
    this.#count(this.#limit);
    this.#refuseWhenFull();
  };

  /**
   * Told by the service how many addresses a quote asks about, once more when it has to decide again. Throws
   * `RATE_LIMIT_EXCEEDED`.
   */
  readonly onParties = (count: number): void => {
    const { windows, caller } = this.#request;
    const { accepted, standing } = (this.#parties ??= windows.hit("quoteParties", caller, count));
    if (!accepted) throw limitExceeded(standing, caller.tier);
  };

  /** Told by the service how the account stands with a limit that all processes count together. */
  readonly onLimit = (standing: LimitStatus): void => writeRateLimit(this.#request.headers, standing);

  /**
   * Counts a request that was refused before the service could see it, and returns the error to answer with: a full
   * window comes before a bad body, and after a missing scope.
   */
  async refused(refusal: unknown): Promise<unknown> {
    // Replays have their own window, which the request was counted in.
    if (isPaymentError(refusal, "RATE_LIMIT_EXCEEDED")) return refusal;
    const isScope = isPaymentError(refusal, "INSUFFICIENT_SCOPE");
    const full = await this.#countRefused();
    return full === null || isScope ? refusal : full;
  }

  /** Takes back what was counted, and counts a replay instead. Throws `RATE_LIMIT_EXCEEDED`. */
  readonly onReplay = async (): Promise<void> => {
    const { service, windows, caller, headers } = this.#request;
    const limit = this.#limit;
    const standing = isDurable(limit)
      ? await service.limitStatus(caller, limit)
      : (this.#hit?.giveBack() ?? windows.standing(limit, caller));
    writeRateLimit(headers, standing);
    if (!this.#wasReplayCounted) windows.hitReplay(standing, caller);
  };

  #count(limit: WindowName): void {
    const { windows, caller, headers } = this.#request;
    this.#hit = windows.hit(limit, caller);
    writeRateLimit(headers, this.#hit.standing);
  }

  #refuseWhenFull(): void {
    if (this.#hit?.accepted === false) throw limitExceeded(this.#hit.standing, this.#request.caller.tier);
  }

  /** The refusal of a full window, null while it has room. */
  async #countRefused(): Promise<unknown> {
    const { service, caller, headers, endpoint } = this.#request;
    const limit = this.#limit;
    try {
      if (isDurable(limit)) {
        if (endpoint !== undefined) writeRateLimit(headers, await service.countRefused(caller, limit));
      } else this.onNew();
      return null;
    } catch (full) {
      return full;
    }
  }
}
