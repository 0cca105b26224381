/** What a stranger sees of a host that runs: its chart comes to an end, and a payment through it is completed. */
import assert from "node:assert/strict";
import type { RunningProgram } from "../readme/programs.ts";
import { sendSol } from "../readme/send-sol.ts";
import { show } from "./hosts/page.ts";

/** What the host says when it takes payments. */
interface Opening {
  readonly baseUrl: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/** Pays through a host that was just started, and ends it. `shown` waits for the transaction, as a page would. */
export async function payThrough(host: RunningProgram, shown: typeof show = show): Promise<void> {
  await host.says(/^answer 42$/m);
  const [line] = await host.says(/^\{.*\}$/m);
  const { baseUrl, key, from, to } = JSON.parse(line) as Opening;
  const door = { url: `${baseUrl}/v1`, key };
  const transactionId = await sendSol(door, { from: Buffer.from(from, "hex"), to });
  assert.equal(await shown(baseUrl, key, transactionId), "completed");
  assert.equal(await host.stop(), 0, host.output());
}
