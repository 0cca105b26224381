/** Publishes each call to a node on the diagnostics channel. */
import { nodeAsked } from "../../diagnostics.ts";
import type { Clock } from "../../runtime.ts";
import type { Exchange } from "./bounded-fetch.ts";
import { EndpointFailure } from "../endpoint-failure.ts";

/** The same exchange, of the endpoint of this name. */
export function publishedExchange(exchange: Exchange, endpoint: string, clock: Clock): Exchange {
  return async (input, init) => {
    const begunAt = clock.now();
    const publish = (outcome: string): void =>
      nodeAsked.publish(() => ({
        endpoint,
        method: methodOf(init.body),
        outcome,
        // A wall clock may be set back meanwhile.
        durationMs: Math.max(0, clock.now() - begunAt),
      }));
    try {
      const text = await exchange(input, init);
      publish("answered");
      return text;
    } catch (error) {
      publish(error instanceof EndpointFailure ? error.kind : "closed");
      throw error;
    }
  };
}

/** The method of a JSON-RPC call. It is written before the parameters. */
function methodOf(body: RequestInit["body"]): string {
  return (typeof body === "string" ? /"method":"(\w+)"/.exec(body)?.[1] : undefined) ?? "unknown";
}
