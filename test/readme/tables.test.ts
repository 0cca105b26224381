/** What the pages list is what there is: options, channels, matters, dependencies. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeAsked, requestAnswered, taskEnded, webhookCalled } from "../../src/core/diagnostics.ts";
import { paymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { wholeHelp } from "../../src/cli/program.ts";
import { codeIn, fieldsOf, ROOT, tableOf, textOf } from "./page.ts";

/** Options that stand in files of their own, since they go with a module. */
const OF_MODULES: Readonly<Record<string, readonly string[]>> = {
  createEngine: [
    ...fieldsOf("src/engine/retention-options.ts", "RetentionOptions"), // modules: retention
    ...fieldsOf("src/engine/watcher-options.ts", "WatcherOptions"), // modules: watching
  ],
};

const PRIVATE = "src/payments/private/README.md";

test.each([
  [
    "src/service/README.md",
    "createPaymentService",
    "src/service/payment-service-options.ts",
    "PaymentServiceOptions",
  ],
  ["src/service/README.md", "createHttpHandler", "src/http/create-http-handler.ts", "HttpHandlerOptions"],
  ["src/client/README.md", "createClient", "src/client/client-options.ts", "ClientOptions"],
  ["src/engine/README.md", "createEngine", "src/engine/engine-options.ts", "EngineOptions"],
  ["src/solana/README.md", "solanaLedger", "src/solana/index.ts", "SolanaLedgerOptions"],
  ["src/solana/README.md", "EndpointOptions", "src/solana/endpoint-options.ts", "EndpointSettings"],
  [PRIVATE, "privateRouting", "src/payments/private/private-routing-options.ts", "PrivateRoutingOptions"],
  [PRIVATE, "deskProvider", "src/payments/swap/desk/desk-provider.ts", "DeskOptions"], // modules: swap/desk
  [PRIVATE, "jupiterProvider", "src/payments/swap/jupiter/jupiter-provider.ts", "JupiterOptions"], // modules: swap/jupiter
])("%s lists all options of %s", (page, factory, file, name) => {
  const listed = tableOf(page, `**\`${factory}\`**`).flatMap(([option]) => codeIn(option));
  expect(listed.toSorted()).toEqual([...fieldsOf(file, name), ...(OF_MODULES[factory] ?? [])].toSorted());
});

// modules: webhooks
test("the page of the service lists all options of webhooks", () => {
  const listed = tableOf("src/service/README.md", "**`webhooks`**").flatMap(([name]) => codeIn(name));
  const options = paymentServiceOptions.shape.webhooks.unwrap().shape;
  expect(listed.toSorted()).toEqual(Object.keys(options).toSorted());
});

test("the page of metrics lists every channel", () => {
  const channels = tableOf("src/payments/operator/README.md", "### Channels").flatMap(([name]) =>
    codeIn(name),
  );
  const topics = [requestAnswered, taskEnded, webhookCalled, nodeAsked];
  expect(channels).toEqual(topics.map(({ name }) => name));
});

test("the operator's page lists every kind of matter and every action", () => {
  const page = "src/payments/operator/README.md";
  const source = (file: string): string => readFileSync(`${ROOT}src/payments/frame/acts/${file}`, "utf8");
  const namesIn = (text: string, pattern: RegExp): readonly string[] =>
    [...text.matchAll(pattern)].map(([, name = ""]) => name).toSorted();
  const listedBelow = (mark: string): readonly string[] =>
    tableOf(page, mark)
      .flatMap(([name]) => codeIn(name))
      .toSorted();
  const [, kinds = ""] = /type MatterKind =([^;]*);/.exec(source("matter.ts")) ?? [];
  expect(listedBelow("## Matters")).toEqual(namesIn(kinds, /"(\w+)"/g));
  const actions = namesIn(source("command.ts"), /readonly action: "(\w+)"/g);
  expect(actions).toContain("foreign");
  expect(listedBelow("`paystate operator resolve")).toEqual(actions);
});

test("each dependency is named with its reason", () => {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Record<
    "dependencies" | "peerDependencies" | "optionalDependencies",
    Record<string, string>
  >;
  const page = textOf("src/guide/questions.md");
  const listed = [...page.matchAll(/^- `([^`]+)`(?: \([a-z ]+\))?: \S.+\.$/gm)].map(([, name = ""]) => name);
  const needed = [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.peerDependencies),
    // One runtime, one binary per platform.
    ...Object.keys(manifest.optionalDependencies).map((name) => name.replace(/^litesvm-.*/, "litesvm-*")),
  ];
  expect(listed.toSorted()).toEqual([...new Set(needed)].toSorted());
});

test("each development tool is named with its use", () => {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const page = textOf("CONTRIBUTING.md");
  const [section = ""] = page.slice(page.indexOf("\n### Development tools\n")).split("\n## ");
  const listed = [...section.matchAll(/^- (.+?): /gm)].flatMap(([, names]) => codeIn(names));
  const foreign = JSON.parse(textOf("test/foreign/package.json")) as Record<
    "dependencies" | "optionalDependencies",
    Record<string, string>
  >;
  const examples = JSON.parse(textOf("examples/package.json")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string>
  >;
  const site = JSON.parse(textOf("test/site/package.json")) as Record<
    "devDependencies",
    Record<string, string>
  >;
  const installed = [
    site.devDependencies,
    manifest.devDependencies,
    foreign.dependencies,
    foreign.optionalDependencies,
    examples.dependencies,
    examples.devDependencies,
  ];
  const names = new Set(installed.flatMap((each) => Object.keys(each)));
  expect(listed.toSorted()).toEqual([...names].toSorted());
});

test("the command's own help has no option that its page has not", () => {
  const page = textOf("src/cli/README.md");
  const options = new Set([...wholeHelp().matchAll(/--[a-z-]+/g)].map(([option]) => option));
  options.delete("--help");
  expect([...options].filter((option) => !page.includes(option))).toEqual([]);
});
