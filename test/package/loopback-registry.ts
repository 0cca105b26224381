/** A registry on this machine that has the package as if it were published; for all others it points to npm's own. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readJson, root, run, tarball } from "./project.ts";

/** The registry, as long as it is open. */
interface LoopbackRegistry {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the packed package under its name and version. */
export async function loopbackRegistry(): Promise<LoopbackRegistry> {
  const manifest = readJson(join(root, "package.json")) as {
    readonly name: string;
    readonly version: string;
  };
  const { name, version } = manifest;
  const others = run("npm", "config", "get", "registry").trim();
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const file = `/${name}/-/${name}-${version}.tgz`;
  const server = createServer(({ url: path = "/" }, response) => {
    if (path === `/${name}`) {
      const versions = { [version]: { ...manifest, dist: { tarball: `${url}${file}`, integrity } } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    } else if (path === file) {
      response.end(bytes);
    } else {
      response.writeHead(302, { location: new URL(path.slice(1), others).href }).end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
