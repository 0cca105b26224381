/** H22: receivers that mean harm. Time is bounded by the deadline, memory by what is read. */
// modules: webhooks
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { MAX_RESPONSE_BYTES, ExcerptReader } from "../../../src/payments/webhooks/sending/answer-reader.ts";
import { answerWith, type HttpsReceiver } from "../../kit/https-receiver.ts";
import { attemptTest as test } from "./attempt-test.ts";

/** What fits into the buffers of the kernel and of TLS between two processes; far less than "endless". */
const IN_FLIGHT_BYTES = 16 * 1024 * 1024;

test("H22: an infinite body is read up to 64 KiB, kept up to 1 KiB, and the connection closed", async ({
  receiver,
  attempt,
}) => {
  let written = 0;
  receiver.answer((_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(16 * 1024, "a");
    const pump = (): void => {
      if (response.destroyed || response.socket === null) return;
      written += chunk.length;
      if (response.write(chunk)) setImmediate(pump);
      else response.once("drain", pump);
    };
    pump();
  });
  expect(await attempt()).toMatchObject({ ok: true, error: null, excerpt: "a".repeat(1_024) });
  await receiver.drained();
  expect(written).toBeLessThan(IN_FLIGHT_BYTES);
});

test("H22: reading stops with the chunk that fills 64 KiB", () => {
  const excerpt = new ExcerptReader();
  let taken = 0;
  const next = (): boolean => {
    taken += 1_000;
    return excerpt.take(new Uint8Array(1_000).fill(97));
  };
  while (next());
  expect(excerpt.text()).toBe("a".repeat(1_024));
  expect(taken).toBeGreaterThanOrEqual(MAX_RESPONSE_BYTES);
  expect(taken).toBeLessThan(MAX_RESPONSE_BYTES + 1_000);
});

test("H22: a megabyte of headers fails as headers_too_large", async ({ receiver, attempt }) => {
  receiver.answer(answerWith(200, "", { "x-huge": "a".repeat(1024 * 1024) }));
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "headers_too_large" });
  await receiver.drained();
});

test("H22: headers without end fail as headers_too_large", async ({ receiver, attempt }) => {
  receiver.answer((_request, response) => {
    const { socket } = response;
    socket?.write("HTTP/1.1 200 OK\r\n");
    const pump = (): void => {
      if (socket === null || socket.destroyed) return;
      if (socket.write(`x-a: ${"a".repeat(1_000)}\r\n`)) setImmediate(pump);
      else socket.once("drain", pump);
    };
    pump();
  });
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "headers_too_large" });
  await receiver.drained();
});

/** Answers with `head`, and then with more of the same until the connection is ended. Counts what it has written. */
function endless(receiver: HttpsReceiver, head: string, more: string): { readonly written: () => number } {
  let written = 0;
  receiver.answer((_request, { socket }) => {
    socket?.write(head);
    const pump = (): void => {
      if (socket === null || socket.destroyed || written > 4 * IN_FLIGHT_BYTES) return;
      written += more.length;
      if (socket.write(more)) setImmediate(pump);
      else socket.once("drain", pump);
    };
    pump();
  });
  return { written: () => written };
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const OK = { ok: true, httpStatus: 200, error: null };
const RESET = { ok: false, httpStatus: null, error: "reset" };

test.for([
  ["the reason phrase", "HTTP/1.1 200 ", "a", RESET],
  ["the reason phrase of an interim answer", "HTTP/1.1 102 ", "a", RESET],
  ["empty lines before the answer", "\r\n", "\r\n", RESET],
  ["the extensions of a chunk", `${CHUNKED}1;`, "a", OK],
  ["the length of a chunk", CHUNKED, "0", OK],
] as const)(
  "H22: %s without end is cut, long before the deadline",
  async ([, head, more, outcome], { receiver, attempt }) => {
    const flood = endless(receiver, head, more.repeat(64 * 1024));
    expect(await attempt()).toMatchObject(outcome);
    await receiver.drained();
    expect(flood.written()).toBeLessThan(IN_FLIGHT_BYTES);
  },
);

test("H22: 64 KiB of body in chunks of one byte are read to the end", async ({ receiver, attempt }) => {
  receiver.answer((_request, { socket }) => {
    socket?.end(`${CHUNKED}${"1\r\na\r\n".repeat(MAX_RESPONSE_BYTES - 1)}0\r\n\r\n`);
  });
  expect(await attempt()).toMatchObject({ ...OK, excerpt: "a".repeat(1_024) });
});

test("H22: a gzip bomb is not decompressed", async ({ receiver, attempt }) => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
  receiver.answer(answerWith(200, bomb, { "content-encoding": "gzip" }));
  const result = await attempt();
  expect(result).toMatchObject({ ok: true, error: null });
  expect(result.excerpt?.slice(0, 2)).toBe("\u001f\uFFFD");
  expect(receiver.requests.at(-1)?.headers).not.toHaveProperty("accept-encoding");
});

test("H22: a status line of one byte a second ends at the deadline", async ({ receiver, clock, attempt }) => {
  receiver.answer((_request, response) => {
    const line = "HTTP/1.1 200 OK\r\n\r\n";
    for (const byte of line.slice(0, 10)) {
      response.socket?.write(byte);
      clock.advance(1_000);
    }
  });
  expect(await attempt()).toMatchObject({ ok: false, error: "timeout", durationMs: 10_000 });
  await receiver.drained();
});

test("H22: a body of one byte a second ends at the deadline and the notice counts as delivered", async ({
  receiver,
  clock,
  attempt,
}) => {
  let isAnswered = false;
  receiver.answer((_request, response) => {
    isAnswered = true;
    response.writeHead(200).write("t");
  });
  // After the answer the clock is read at the status line first; from there on only the body is waited for.
  let isTurned = false;
  const watched = {
    ...clock,
    now: (): number => {
      if (isAnswered && !isTurned) setImmediate(() => clock.advance(10_000));
      isTurned = isAnswered;
      return clock.now();
    },
  };
  expect(await attempt(receiver.url, { clock: watched })).toEqual({
    ok: true,
    httpStatus: 200,
    error: null,
    durationMs: 0,
    excerpt: "t",
    opening: { dns: 0, connect: 0, tls: 0 },
  });
  await receiver.drained();
});

test("H22, H24: interim answers without end are cut at 64 KiB", async ({ receiver, attempt }) => {
  let interim = 0;
  receiver.answer((_request, response) => {
    const pump = (): void => {
      if (response.destroyed || response.socket === null) return;
      response.writeProcessing();
      interim += 1;
      setImmediate(pump);
    };
    pump();
  });
  expect(await attempt()).toMatchObject({ ok: false, error: "headers_too_large" });
  await receiver.drained();
  expect(interim).toBeLessThan(10_000);
});
