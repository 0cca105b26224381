/** Ours in the bench beside peers: four steps which each record a result, on the database that this process is told. */
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { benchedEngine, withResults } from "./workflows.ts";

/** The settings that each process of this bench takes as JSON in its first argument. */
export interface PeerSettings {
  /** Of the server; of ours also the path of a file. */
  readonly url: string;
  /** In each window, which any message begins and an answer ends. */
  readonly workflows: number;
  readonly atOnce: number;
}

const { url, workflows, atOnce } = JSON.parse(process.argv[2] ?? "") as PeerSettings;
const storage = await (url.startsWith("postgres:") ? postgresStorage(url) : sqliteStorage(url));
const { run } = benchedEngine(paymentStorage(storage), withResults);
process.on("message", () => {
  void run({ total: workflows, atOnce }).then(() => process.send?.({ done: workflows }));
});
process.once("disconnect", () => process.exit());
process.send?.({ ready: true });
