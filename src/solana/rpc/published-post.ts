/** Publishes each call to a node on the diagnostics channel, those of one request singly. */
import { nodeAsked } from "../../diagnostics.ts";
import type { Clock } from "../../runtime.ts";
import { EndpointFailure } from "../endpoint-failure.ts";
import type { Outcome, RpcBatchFetch } from "./rpc-call.ts";

/** Wraps `post`: each of its calls is published under the name of the endpoint. */
export function publishedPost(post: RpcBatchFetch, endpoint: string, clock: Clock): RpcBatchFetch {
  return async (calls) => {
    const begunAt = clock.now();
    const outcomes = await post(calls);
    // A wall clock may be set back meanwhile.
    const durationMs = Math.max(0, clock.now() - begunAt);
    calls.forEach(({ method }, index) => {
      nodeAsked.publish(() => ({ endpoint, method, outcome: wordOf(outcomes[index]), durationMs }));
    });
    return outcomes;
  };
}

function wordOf(outcome: Outcome | undefined): string {
  if (outcome?.status === "fulfilled") return "answered";
  const reason: unknown = outcome?.reason;
  return reason instanceof EndpointFailure ? reason.kind : "closed";
}
