/** `paystate inspect FILE`: the inspector over a database file or a bundle, which is only read. */
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { readOnlySqlite } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import type { AnyTable } from "../../storage/table.ts";
import type { InspectedEngine } from "../engine/create-engine.ts";
import { inspectorHandler } from "../http/create-inspector.ts";
import { BundleRefused, isBundle, readBundle, type BundleContent } from "../inspector/bundle/bundle.ts";
import { bundleStorage } from "../inspector/bundle/bundle-storage.ts";
import type { DrawableChart } from "../inspector/chart-registry.ts";
import { INSPECTOR_PATH } from "../inspector/inspector.ts";
import { paymentTables } from "../payments/payment-storage.ts";
import { systemClock } from "../core/runtime.ts";
import { stderrLogger } from "../core/stderr-logger.ts";
import { workflowsIn } from "./charts-file.ts";
import { closeServer, DEV_HOST, listenOn } from "./loopback-server.ts";
import { paymentCharts } from "./payment-charts.ts";
import { type Print, UsageError } from "./command.ts";
import { isUrl } from "./url-or-path.ts";

/** The arguments of the command, read and checked. */
interface InspectArguments {
  readonly file: string;
  /** A module with the host's own charts. */
  readonly charts: string | undefined;
  readonly port: number;
  readonly json: boolean;
  readonly debug: boolean;
}

/** An open inspector, and the way to close it. */
interface Opened {
  readonly inspected: InspectedEngine;
  readonly drawings: readonly DrawableChart[];
  readonly close: () => Promise<void>;
}

/** Serves the pages until the answer is called. Rejects with a sentence for what cannot be opened. */
export async function inspect(args: InspectArguments, print: Print): Promise<() => Promise<void>> {
  if (isUrl(args.file)) {
    // Not shown: it may hold a password.
    throw new UsageError(
      "inspect reads a file of SQLite or a bundle: the service shows what is in PostgreSQL",
    );
  }
  const { inspected, drawings, close } = await opened(args).catch((error: unknown) => {
    throw error instanceof StorageUnusable || error instanceof BundleRefused
      ? new Error(`${args.file}: ${error.message}`, { cause: error })
      : error;
  });
  const { node } = inspectorHandler({
    inspected,
    drawings,
    authorize: null,
    acts: false,
    clock: systemClock,
    pace: systemClock,
    log: stderrLogger(args.debug),
  });
  const wish = { option: "--port", wanted: args.port, last: undefined };
  const { server, port } = await listenOn(wish, () =>
    createServer((request, response) => void node(request, response)),
  );
  const url = `http://${DEV_HOST}:${port}${INSPECTOR_PATH}`;
  const words = `${args.file} is open for reading at ${url}\nNothing in it is changed. Ctrl-C ends.`;
  print(args.json ? JSON.stringify({ file: args.file, inspectorUrl: url }) : words);
  return async () => {
    await closeServer(server);
    await close();
  };
}

async function opened({ file, charts }: InspectArguments): Promise<Opened> {
  const bundle = await bundleIn(file);
  if (bundle !== null) return openedBundle(bundle);
  const own = charts === undefined ? [] : await workflowsIn(charts);
  const storage = await readOnlySqlite(file);
  const close = (): Promise<void> => storage.close();
  try {
    const inspected = await inspectedIn(storage);
    return { inspected: { ...inspected, workflows: [...inspected.workflows, ...own] }, drawings: [], close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A larger file is no bundle: the history in one is bounded. */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

async function bundleIn(file: string): Promise<BundleContent | null> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true || found.size > MAX_BUNDLE_BYTES) return null;
  const bytes = await readFile(file);
  // Every SQLite file begins with these words.
  if (bytes.subarray(0, 6).toString() === "SQLite") return null;
  const text = bytes.toString();
  return isBundle(text) ? readBundle(text) : null;
}

function openedBundle(content: BundleContent): Opened {
  const { chart } = content;
  return {
    inspected: { storage: bundleStorage(content), workflows: [], isProduction: () => false },
    drawings: chart === null ? [] : [chart],
    close: async () => {},
  };
}

/** A database without the tables of payments is one of a host's own engine. */
async function inspectedIn(storage: EngineStorage): Promise<InspectedEngine> {
  return (await hasTables(storage, Object.values(paymentTables)))
    ? paymentCharts(storage)
    : { storage, workflows: [], isProduction: () => false };
}

/** Absent tables would have to be made, which is not done here. */
async function hasTables(storage: EngineStorage, tables: readonly AnyTable[]): Promise<boolean> {
  try {
    await storage.install(tables);
    return true;
  } catch (error) {
    if (error instanceof StorageUnusable && error.code === "unwritable") return false;
    throw error;
  }
}
