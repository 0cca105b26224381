/** `npm run bench [-- NAME …] [--json]`: measures the figures of test/bench/README.md, each beside a reference in the same run. */
import { parseArgs } from "node:util";
import { benchChildren } from "./children.ts";
import { benchDevChain } from "./dev-chain.ts";
import { benchDeliver } from "./deliver.ts";
import { benchEngine } from "./engine.ts";
import { benchFollowed } from "./followed.ts";
import { benchGrowth } from "./growth.ts";
import { reportJson, reportTable, type Report } from "./figures.ts";
import { benchHttp } from "./http.ts";
import { benchHostile } from "./hostile.ts";
import { benchIdle } from "./idle.ts";
import { benchInspector } from "./inspector.ts";
import { benchImport } from "./import.ts";
import { benchLandings } from "./landings.ts";
import { benchPackage } from "./package.ts";
import { benchPostgres } from "./postgres.ts";
import { benchPeers } from "./peers.ts";
import { benchPayroll } from "./payroll.ts";
import { benchPrivate } from "./private.ts";
import { benchPrivateCosts } from "./private-costs.ts";
import { benchRefusal } from "./refusal.ts";
import { benchRetention } from "./retention.ts";
import { benchScale } from "./scale.ts";
import { benchSend } from "./send.ts";
import { benchTarpit } from "./tarpit.ts";
import { benchTimers } from "./timers.ts";
import { benchWatch } from "./watch.ts";
import { benchSteps } from "./steps.ts";

/** What one of them, `scale`, may be told. */
interface BenchOptions {
  /** Numbers of orders, separated by commas. */
  readonly sizes?: string;
  /** `sqlite` or `postgres` alone. */
  readonly database?: string;
}

const BENCHES: Readonly<Record<string, (report: Report, options: BenchOptions) => Promise<void>>> = {
  engine: benchEngine,
  timers: benchTimers,
  children: benchChildren,
  steps: benchSteps,
  postgres: benchPostgres,
  peers: benchPeers,
  send: benchSend,
  private: benchPrivate,
  payroll: benchPayroll,
  "private-costs": benchPrivateCosts,
  watch: benchWatch,
  landings: benchLandings,
  followed: benchFollowed,
  deliver: benchDeliver,
  growth: benchGrowth,
  scale: benchScale,
  retention: benchRetention,
  tarpit: benchTarpit,
  hostile: benchHostile,
  idle: benchIdle,
  http: benchHttp,
  refusal: benchRefusal,
  import: benchImport,
  package: benchPackage,
  "dev-chain": benchDevChain,
  inspector: benchInspector,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    sizes: { type: "string" },
    database: { type: "string" },
  },
});
const report = values.json ? reportJson : reportTable;
for (const name of positionals.length === 0 ? Object.keys(BENCHES) : positionals) {
  const bench = BENCHES[name];
  if (bench === undefined) throw new Error(`there is no bench "${name}": ${Object.keys(BENCHES).join(", ")}`);
  await bench(report, values);
}
