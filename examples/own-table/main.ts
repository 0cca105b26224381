/**
 * Rows of your own, committed with the steps of a chart: `npx tsx examples/own-table/main.ts [parcels.db]`.
 *
 * Every step writes what it means for the host into the host's own table, in the same commit: the row and the state of
 * the chart are both there, or neither is. The file holds the engine's tables and this one, and no other.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "xstate";
import { createEngine, defineTable, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

const parcels = defineTable("parcels", {
  columns: {
    id: "text",
    version: "integer",
    customer: "text",
    place: "text",
    weight: "amount",
    seenAt: "integer",
  },
  indexes: { ofCustomer: ["customer", "seenAt", "id"] },
});
const tables = { parcels };

const chart = setup({
  types: {
    context: {} as { readonly customer: string },
    input: {} as { readonly customer: string },
    events: {} as { type: "LOADED" } | { type: "DELIVERED" },
  },
}).createMachine({
  id: "parcel",
  context: ({ input }) => input,
  initial: "depot",
  states: {
    depot: { on: { LOADED: "van" } },
    van: { on: { DELIVERED: "door" } },
    door: { type: "final" },
  },
});

const parcel = workflow(chart)<{ parcels: NonNullable<typeof parcels.row> }>({
  version: 1,
  effects: {},
  project: ({ id, before, after }, at) => {
    const place = String(after.value);
    if (before !== null) return [{ table: "parcels", id, set: { place, seenAt: at } }];
    const { customer } = after.context;
    return [{ table: "parcels", insert: { id, version: 1, customer, place, weight: 2n ** 64n, seenAt: at } }];
  },
});

const path = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), "parcels-")), "parcels.db");
const storage = await sqliteStorage(path);
const engine = createEngine({ storage, tables, workflows: [parcel] });

for (const id of ["parcel-1", "parcel-2"]) await engine.start(parcel, { id, input: { customer: "ann" } });
await engine.send(parcel, "parcel-1", { type: "LOADED" });

const [row] = await storage.find({ table: parcels, key: "parcel-1" });
console.log(`parcel-1 is in the ${row?.place}, seen ${row?.version} times, weighs ${row?.weight}`);
const ofAnn = await storage.find({ table: parcels, index: "ofCustomer", equals: { customer: "ann" } });
console.log(
  `ann waits for ${ofAnn.length} parcels: ${ofAnn.map(({ id, place }) => `${id} (${place})`).join(", ")}`,
);

await engine.stop();
await storage.close();
