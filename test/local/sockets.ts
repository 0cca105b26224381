/** What the tests of the local chain's websockets share: connections over a port, raw sockets, and patience. */
import { setImmediate as turn } from "node:timers/promises";
import { Connection } from "@solana/web3.js";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { createLocalChain, type Listener, type LocalChain } from "paystate/local";
import { type Clock, systemClock } from "../../src/core/runtime.ts";

/** The chain on any free port. */
export function listening(chain: LocalChain): Promise<Listener> {
  return chain.listen({ host: "127.0.0.1", port: 0 });
}

/**
 * A chain whose slots follow the machine's clock: for helpers that send and then wait for confirmation. Its slots are
 * short, and long enough that a blockhash outlives a machine with other things to do.
 */
export async function livingChain(clock: Clock = systemClock): Promise<LocalChain> {
  const chain = await createLocalChain({ clock, slotMs: 50 });
  onTestFinished(() => chain.close());
  return chain;
}

/** An unmodified web3.js connection over the port, told the one URL that people tell it. */
export async function connectOverPort(chain: LocalChain): Promise<Connection> {
  return connectTo(await listening(chain));
}

/** An unmodified web3.js connection to a listener. */
function connectTo({ url }: Listener): Connection {
  const connection = new Connection(url, "confirmed");
  // web3.js has no way to end a connection, and would go on calling a chain that is closed with its test.
  const { _rpcWebSocket: socket } = connection as unknown as {
    _rpcWebSocket: { setAutoReconnect(on: boolean): void };
  };
  onTestFinished(async () => {
    socket.setAutoReconnect(false);
    // It may still be asking for what a notification has told it meanwhile, and would not catch a failure.
    await connection.getSlot();
  });
  return connection;
}

/**
 * Resolves once the chain has taken `count` more calls of these methods: subscriptions are made behind the back of
 * whoever calls web3.js's `on…`.
 */
export function taken(chain: LocalChain, count: number, pattern = /Subscribe$/): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    const lift = chain.faults.add(({ method }) => {
      if (pattern.test(method)) left -= 1;
      if (left === 0) {
        lift();
        // It is carried out, and answered, in the turn that asked.
        void turn().then(resolve);
      }
      return undefined;
    });
  });
}

/** A message of the chain. */
export interface Message {
  readonly id?: number | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: { readonly subscription: number; readonly result: unknown };
}

/** A raw socket, for what no library would send. */
export interface RawSocket {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** The next message, in the order in which they came. */
  next(): Promise<Message>;
  /** Calls a method and takes the next message for its answer. */
  call(method: string, ...params: unknown[]): Promise<Message>;
  /** The code the socket was closed with. */
  readonly closed: Promise<number>;
}

/** Opens a raw socket, closed with the test. */
export async function rawSocket(url: string): Promise<RawSocket> {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  const messages: Message[] = [];
  const waiting: ((message: Message) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString("utf8")) as Message;
    const taker = waiting.shift();
    if (taker === undefined) messages.push(message);
    else taker(message);
  });
  const closed = new Promise<number>((resolve) => void socket.once("close", resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.on("error", reject);
  });
  let id = 0;
  const send = (message: unknown): void => socket.send(JSON.stringify(message));
  const next = (): Promise<Message> => {
    const message = messages.shift();
    return message === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(message);
  };
  return {
    socket,
    closed,
    send,
    next,
    call: (method, ...params) => {
      id += 1;
      send({ jsonrpc: "2.0", id, method, params });
      return next();
    },
  };
}
