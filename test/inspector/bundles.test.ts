/** Bundles that were written by hand, or to hurt: refused with a sentence, and never shown. */
import { createHash } from "node:crypto";
import type { PendingTask } from "paystate/storage";
import { expect } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { bundleStorage } from "../../src/inspector/bundle/bundle-storage.ts";
import { BundleRefused, readBundle, type BundleContent } from "../../src/inspector/bundle/bundle.ts";
import { parcelTest } from "./parcel-test.ts";
import { viewerOf } from "./viewer.ts";

/** A bundle whose sum fits what is in it. */
const forged = (content: unknown): string => {
  const sha256 = createHash("sha256")
    .update(JSON.stringify(content) ?? "")
    .digest("hex");
  return JSON.stringify({ format: "paystate bundle", version: 1, sha256, content });
};

/** `exported` is the bundle of an instance. */
const test = parcelTest.extend("exported", async ({ world: { engine, workflow, storage, clock } }) => {
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  await engine.send(workflow, "p1", { type: "PAUSE" });
  return viewerOf(createInspector({ storage, workflows: [workflow], clock })).html("/bundle?id=p1");
});

test("a bundle is read as it was exported", ({ exported: text }) => {
  expect(readBundle(text)).toEqual((JSON.parse(text) as { readonly content: BundleContent }).content);
});

test("a bundle of another shape is refused, even where its sum fits", ({ exported }) => {
  const good = readBundle(exported);
  const { instance, history, chart } = good;
  const hostile = "<img src=x onerror=alert(1)>";
  const wrong: readonly unknown[] = [
    undefined,
    null,
    [],
    {},
    { ...good, instance: null },
    { ...good, instance: { ...instance, snapshot: "{" } },
    { ...good, instance: { ...instance, snapshot: "null" } },
    { ...good, instance: { ...instance, createdAt: "now" } },
    { ...good, history: history.map((row) => ({ ...row, version: hostile })) },
    { ...good, history: history.map((row) => ({ ...row, event: "null" })) },
    { ...good, tasks: [{ id: hostile }] },
    { ...good, chart: { ...chart, chart: { name: "x", root: { states: "many" }, transitions: [] } } },
    JSON.parse('{"__proto__":{"instance":1},"constructor":2}'),
  ];
  for (const content of wrong) expect(() => readBundle(forged(content))).toThrow(BundleRefused);
  for (const text of [
    "null",
    "7",
    "{}",
    '{"format":"paystate bundle"}',
    '{"format":"paystate bundle","version":1}',
  ]) {
    expect(() => readBundle(text)).toThrow(BundleRefused);
  }
});

test("a bundle that is nested a hundred thousand times is refused", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const text = `{"format":"paystate bundle","version":1,"sha256":"","content":${deep}}`;
  expect(() => readBundle(text)).toThrow(BundleRefused);
});

test("a bundle is listed like a storage: a task that never failed is not failing, and a page begins behind the one before", async ({
  exported,
}) => {
  const content = readBundle(exported);
  const [task] = content.tasks;
  const failing = { ...(task as PendingTask), id: "failing", failures: 1 };
  const { id } = content.instance;
  const storage = bundleStorage({ ...content, tasks: [...content.tasks, failing] });
  expect(await storage.tasks({ order: "failing", least: 1, limit: 9 })).toEqual([failing]);
  const [first, ...behind] = content.history;
  expect(await storage.history(id, { after: first?.version ?? 0, limit: 9 })).toEqual(behind);
});
