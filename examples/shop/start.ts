/**
 * The shop with all that it needs: `npx tsx examples/shop/start.ts [folder]` starts `paystate dev` and the
 * shop, each in a process of its own, and registers the shop's webhook. README.md beside this file does it step by step.
 * Ctrl-C ends both.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createClient } from "paystate/client";

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "shop-"));
const port = process.env["PORT"] ?? "3000";
const children: ChildProcess[] = [];

/** Starts a program of this repository, and resolves with the first match in its output, which is shown where told. */
function start(
  program: string,
  { args, env = {}, until }: { args: readonly string[]; env?: Record<string, string>; until: RegExp },
): Promise<string> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) console.log(line);
      const [, found] = until.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`${program} ${args[0] ?? ""} has ended`)));
  });
}

function end(): void {
  for (const child of children) child.kill("SIGTERM");
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);

const data = ["--data", join(folder, "payments")];
const anyPorts = ["--port", "0", "--rpc-port", "0"];
const line = await start("src/cli/main.ts", {
  args: ["dev", "--json", "--slot-ms", "100", ...anyPorts, ...data],
  until: /^(\{.*)$/,
});
const dev = JSON.parse(line) as {
  readonly baseUrl: string;
  readonly inspectorUrl: string;
  readonly apiKeys: { readonly free: string };
  readonly wallets: readonly [customer: { secretKey: string }, shop: { secretKey: string }];
};
const secret = keptSecret();
const env = {
  PAYMENTS_URL: dev.baseUrl,
  API_KEY: dev.apiKeys.free,
  WEBHOOK_SECRET: secret,
  SHOP_SECRET_KEY: dev.wallets[1].secretKey,
  PRACTICE_SECRET_KEY: dev.wallets[0].secretKey,
  STAFF_KEY: process.env["STAFF_KEY"] ?? randomUUID(),
};
await start("examples/shop/main.ts", { args: [join(folder, "orders.db")], env, until: /(is open)/ });
await registerWebhook();
console.log(
  `payments: ${dev.inspectorUrl}, key ${env.API_KEY}; the staff's key: ${env.STAFF_KEY}; data: ${folder}`,
);

/** The same at each start on the folder, since notices of the last one may still come. */
function keptSecret(): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "webhook-secret");
  if (!existsSync(file)) writeFileSync(file, `whsec_${randomBytes(24).toString("base64")}`, { mode: 0o600 });
  return readFileSync(file, "utf8");
}

/** The service looks whether the shop answers, so the shop runs by now. */
async function registerWebhook(): Promise<void> {
  const client = createClient({ baseUrl: dev.baseUrl, apiKey: dev.apiKeys.free });
  const url = `http://127.0.0.1:${port}/webhook`;
  const { webhooks } = await client.listWebhooks();
  if (webhooks.some((webhook) => webhook.url === url)) return;
  const events = ["transaction.completed", "transaction.failed", "transaction.cancelled"] as const;
  await client.registerWebhook({ url, secret, events });
}
