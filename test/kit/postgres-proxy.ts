/** A way to a PostgreSQL server that fails on purpose: connections that go at a chosen moment, and hints that are swallowed. */
import { connect, createServer, type Socket } from "node:net";

/** What happens to the next message that contains a text. */
export interface Accident {
  /** Of what the program sends. */
  readonly text: string;
  /**
   * `before`: the connection goes and the message never arrives. `after`: the server has answered, and the connection
   * goes with the answer. `silent`: the server has answered, and the connection stays open and silent.
   */
  readonly moment: "before" | "after" | "silent";
  /** Which of these messages it is: the first, counted from 1, or a later one. */
  readonly nth?: number;
}

/** The way, at a URL of its own. */
export interface PostgresProxy {
  readonly url: string;
  /** Plans one accident; it happens once. */
  plan(accident: Accident): void;
  /** How many accidents have happened. */
  readonly happened: () => number;
  /** From now on no notification passes, as behind a pooler that hands out connections per transaction. */
  swallowNotifications(): void;
  /** Leads elsewhere from now on, as the address of a primary does after a failover. What is open is cut. */
  lead(url: string): void;
  /** The same without a word: what is open stays open, and nothing passes, as with a machine that is gone. */
  vanish(url: string): void;
  stop(): Promise<void>;
}

const NOTIFICATION = "A".codePointAt(0);

/** Opens a way to the server of this URL. */
export async function postgresProxy(target: string): Promise<PostgresProxy> {
  let { hostname, port } = new URL(target);
  const { username, pathname, search } = new URL(target);
  const open = new Set<Socket>();
  let planned: Accident[] = [];
  let happened = 0;
  let swallows = false;

  const join = (client: Socket, server: Socket): void => {
    let fate: Accident["moment"] | null = null;
    const cut = (): void => {
      happened += 1;
      client.destroy();
      server.destroy();
    };
    client.on("data", (bytes) => {
      const meets = ({ text, nth = 1 }: Accident): boolean => bytes.includes(text) && nth <= 1;
      const accident = planned.find(meets);
      planned = planned
        .filter((each) => each !== accident)
        .map((each) => (bytes.includes(each.text) ? { ...each, nth: (each.nth ?? 1) - 1 } : each));
      if (accident?.moment === "before") return cut();
      fate ??= accident?.moment ?? null;
      server.write(bytes);
    });
    const pass = messagesOf((message) => {
      if (!(swallows && message[0] === NOTIFICATION)) client.write(message);
    });
    server.on("data", (bytes) => {
      if (fate === "after") return cut();
      if (fate === "silent") happened += 1;
      else pass(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.setNoDelay(true);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      open.add(one);
    }
  };
  const proxy = createServer((client) => join(client, connect(Number(port), hostname)));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `postgres://${username}@127.0.0.1:${address.port}${pathname}${search}`,
    plan: (accident) => void planned.push(accident),
    happened: () => happened,
    swallowNotifications: () => void (swallows = true),
    lead(url) {
      ({ hostname, port } = new URL(url));
      for (const socket of open) socket.destroy();
    },
    vanish(url) {
      ({ hostname, port } = new URL(url));
      for (const socket of open) socket.pause().removeAllListeners("close");
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** Takes what a server sends apart: each message is a letter, a length and the rest. */
function messagesOf(give: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      give(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}
