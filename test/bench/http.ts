/** What the handler costs beside a bare server of `node:http` that answers the same bytes: processor time a request. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { systemClock } from "../../src/core/runtime.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { report } from "./figures.ts";

const REQUESTS = 2_000;
const WARM_UP = 1_000;
const CONNECTIONS = 16;
const ACCOUNTS = 20;
const ROUNDS = 3;

/** A process of its own, so that this one's processor time is the server's alone. */
const CLIENT = `
const { Agent, get } = require("node:http");
const [url, total, atOnce, ...keys] = process.argv.slice(1);
const agent = new Agent({ keepAlive: true, maxSockets: Number(atOnce) });
let next = 0;
const lane = async () => {
  for (let n = next++; n < Number(total); n = next++) {
    const headers = { authorization: "Bearer " + keys[n % keys.length] };
    await new Promise((resolve, reject) => {
      get(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(String(response.statusCode)));
        response.resume().on("end", resolve);
      }).on("error", reject);
    });
  }
};
Promise.all(Array.from({ length: Number(atOnce) }, lane)).then(() => process.exit(0));
`;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

async function ask(url: string, total: number, keys: readonly string[]): Promise<void> {
  const args = ["--eval", CLIENT, url, String(total), String(CONNECTIONS), ...keys];
  const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit")) as [number];
  if (code !== 0) throw new Error(`the client ended with ${code}`);
}

/** Microseconds of this process for each request to `path`: the least of some rounds. */
async function costOf(listener: Listener, path: string, keys: readonly string[]): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  await ask(url, WARM_UP, keys);
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const used = process.cpuUsage();
    await ask(url, REQUESTS, keys);
    const { user, system } = process.cpuUsage(used);
    costs.push((user + system) / REQUESTS);
  }
  server.close();
  server.closeAllConnections();
  return Math.min(...costs);
}

/** A list, an object of an account's own, and the document. The service keeps everything in memory. */
export async function benchHttp(): Promise<void> {
  const world = await serviceFixture();
  const { service } = world;
  const many = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };
  const limits = { reads: many, documents: 1_000_000 };
  const handler = createHttpHandler({ service, clock: systemClock, limits });
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++) {
    const { accountId } = await service.createAccount({ name: `bench ${n}`, tier: "enterprise" });
    keys.push((await service.issueKey({ accountId, environment: "test" })).key);
  }
  try {
    for (const path of ["/v1/tokens", "/v1/webhooks", "/v1/openapi.json"]) {
      const headers = { authorization: `Bearer ${keys[0] ?? ""}` };
      const answer = await handler.fetch(new Request(`http://bench.example${path}`, { headers }));
      const body = Buffer.from(await answer.text());
      const type = "application/json";
      const bare = await costOf(
        (_request, response) => {
          response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
        },
        path,
        keys,
      );
      const ours = await costOf((request, response) => void handler.node(request, response), path, keys);
      report({
        name: `http, GET ${path}`,
        bytes: body.length,
        "µs a request": Math.round(ours),
        "µs of bare node:http": Math.round(bare),
        "beside it": ours / bare,
      });
    }
  } finally {
    await world.close();
  }
}
