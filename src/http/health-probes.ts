/** Health probes for load balancers and orchestrators, without a key: is the process alive, can it take payments. */
import type { HealthCache } from "../service/health-cache.ts";

/** 200 as long as this process answers at all. One that does not should be restarted. */
export const LIVE_PATH = "/health/live";

/**
 * 503 while the storage is silent or the chain is a wrong one, so that requests go elsewhere; 200 while payments are
 * taken, if late, or the chain is silent: cancels and reads go on.
 */
export const READY_PATH = "/health/ready";

/** The answer at `LIVE_PATH`. */
export function liveAnswer(): Response {
  return answer(200, "ok");
}

/** The answer at `READY_PATH`. It has the word alone: the rest of health is the operator's. */
export async function readyAnswer(health: HealthCache): Promise<Response> {
  const { status } = await health.read();
  return answer(status === "down" ? 503 : 200, status);
}

function answer(code: number, status: string): Response {
  return Response.json({ status }, { status: code, headers: { "cache-control": "no-store" } });
}
