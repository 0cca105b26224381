/** `npm run bench [-- NAME …]`: measures the figures of test/bench/README.md, each beside a reference in the same run. */
// modules: private, webhooks
import { parseArgs } from "node:util";
import { benchCpu } from "./cpu.ts";
import { benchDeliver } from "./deliver.ts";
import { benchEngine } from "./engine.ts";
import { benchHttp } from "./http.ts";
import { benchPackage } from "./package.ts";
import { benchPeers } from "./peers.ts";
import { benchPrivate } from "./private.ts";
import { benchPrivateCosts } from "./private-costs.ts";
import { benchScale } from "./scale.ts";
import { benchSend } from "./send.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean", default: false }, sizes: { type: "string" } },
});
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  cpu: () => benchCpu({ isWriting: values.write }),
  engine: benchEngine,
  peers: benchPeers,
  send: benchSend,
  private: benchPrivate,
  "private-costs": benchPrivateCosts,
  deliver: benchDeliver,
  http: benchHttp,
  scale: () => benchScale(values.sizes),
  package: benchPackage,
};
for (const name of positionals.length === 0 ? Object.keys(BENCHES) : positionals) {
  const bench = BENCHES[name];
  if (bench === undefined) throw new Error(`there is no bench "${name}": ${Object.keys(BENCHES).join(", ")}`);
  await bench();
}
