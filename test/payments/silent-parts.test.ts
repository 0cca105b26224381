/** M26: parts of the host that never answer, such as its signers: told, asked again, and nothing else waits for them. */
import { describe, expect, test } from "vitest";
import { HostParts } from "../../src/payments/frame/host-parts.ts";
import { unasked } from "../../src/solana/agree.ts";
import { askedSigner } from "../../src/payments/frame/asked-signer.ts";
import { deskProvider } from "../../src/payments/swap/desk/desk-provider.ts";
import {
  keypairSigner,
  signTransaction,
  SigningFailed,
  type Signer,
} from "../../src/ledger/sign-transaction.ts";
import { turns } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const never = <T>(): Promise<T> => new Promise(() => {});

/** What a call has ended with. */
const endOf = (call: Promise<string>): Promise<string> =>
  call.catch((error: unknown) => `failed: ${String(error)}`);
const SPONSOR = new Uint8Array(32).fill(3);

describe("a part of the host", () => {
  const opened = () => {
    const clock = virtualClock(0);
    return { clock, parts: new HostParts(clock, 10_000) };
  };
  const pass = async (clock: ReturnType<typeof virtualClock>, ms: number): Promise<void> => {
    clock.advance(ms);
    await turns(3);
  };

  test("M26: is given up at its deadline, its signal aborted, and is silent until an answer comes, also a late one", async () => {
    const { clock, parts } = opened();
    let answer: (text: string) => void = () => {};
    let signal: AbortSignal | undefined;
    const call = parts.ask("screen", (given) => {
      signal = given;
      return new Promise<string>((resolve) => (answer = resolve));
    });
    const refused = endOf(call);
    await pass(clock, 9_999);
    expect([parts.silent(), signal?.aborted]).toEqual([[], false]);
    await pass(clock, 1);
    expect(await refused).toContain("screen did not end within 10000 ms");
    expect([parts.silent(), signal?.aborted]).toEqual([[{ part: "screen", since: 0 }], true]);
    answer("late");
    await turns(3);
    expect(parts.silent()).toEqual([]);
  });

  test("M26: that is silent is asked by one call at a time, after a pause, and others are refused", async () => {
    const { clock, parts } = opened();
    let calls = 0;
    const hang = () => {
      calls += 1;
      return never<string>();
    };
    const first = endOf(parts.ask("signer", hang));
    await pass(clock, 10_000);
    expect(await first).toContain("did not end");
    await expect(parts.ask("signer", hang)).rejects.toThrow("signer has not answered others yet");
    expect(calls).toBe(1);
    await pass(clock, 5_000);
    let answer: (text: string) => void = () => {};
    const probe = parts.ask("signer", () => new Promise<string>((resolve) => (answer = resolve)));
    const other = endOf(parts.ask("signer", hang));
    await pass(clock, 2_000);
    expect(await other).toContain("signer has not answered others yet");
    const waiting = parts.ask("signer", async () => "signed, too");
    answer("signed");
    expect([await probe, await waiting]).toEqual(["signed", "signed, too"]);
    expect(await parts.ask("signer", async () => "signed")).toBe("signed");
    expect([calls, parts.silent()]).toEqual([1, []]);
  });

  test("M26: has sixteen calls open at most: one more gives its place back after two seconds", async () => {
    const { clock, parts } = opened();
    let calls = 0;
    const hang = () => {
      calls += 1;
      return never<string>();
    };
    const all = Array.from({ length: 40 }, () => endOf(parts.ask("signer", hang)));
    const ended: string[] = [];
    for (const each of all) void each.then((message) => ended.push(message));
    await pass(clock, 2_000);
    expect([calls, ended.length]).toEqual([16, 24]);
    await pass(clock, 8_000);
    await turns(10);
    expect(ended).toHaveLength(40);
    const quick = Array.from({ length: 40 }, () => parts.ask("other", async () => "signed"));
    expect(new Set(await Promise.all(quick))).toEqual(new Set(["signed"]));
  });

  test("M26: an error is an answer", async () => {
    const { clock, parts } = opened();
    const hangs = endOf(parts.ask("screen", () => never<string>()));
    await pass(clock, 10_000);
    expect(await hangs).toContain("did not end");
    await pass(clock, 5_000);
    await expect(parts.ask("screen", () => Promise.reject(new Error("busy")))).rejects.toThrow("busy");
    expect(parts.silent()).toEqual([]);
  });
});

describe("a signer of the host", () => {
  const key = keypairSigner(SPONSOR);
  const [one, other] = [Buffer.from("a message"), Buffer.from("another message")];
  const pass = async (clock: ReturnType<typeof virtualClock>, ms: number): Promise<void> => {
    clock.advance(ms);
    await turns(5);
  };

  /** A signer that keeps its answers back until it is told to give them, and what was asked of it. */
  function hangingSigner(deadlineMs?: number) {
    const clock = virtualClock(0);
    const requests: { readonly message: Uint8Array; answer(signature: Uint8Array): void }[] = [];
    const signer: Signer = {
      address: key.address,
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      sign: (message) => new Promise((answer) => void requests.push({ message, answer })),
    };
    const parts = new HostParts(clock, 10_000);
    return { clock, requests, parts, own: askedSigner(signer, "signer", parts.ask) };
  }

  test("N8: that hangs for an hour is asked once for a message, and each late answer is used for its own bytes alone", async () => {
    const { clock, requests, own, parts } = hangingSigner();
    const hour = async (message: Uint8Array): Promise<void> => {
      for (let minute = 0; minute < 60; minute += 1) {
        const late = endOf(own.sign(message).then(String));
        await pass(clock, 10_000);
        expect(await late).toContain("did not end within 10000 ms");
        await pass(clock, 50_000);
      }
    };
    await hour(one);
    await hour(other);
    expect(requests.map(({ message }) => message)).toEqual([one, other]);
    for (const { message, answer } of requests) answer(await key.sign(message));
    await turns(5);
    expect(parts.silent()).toEqual([]);
    expect(await own.sign(other)).toEqual(await key.sign(other));
    expect(await own.sign(one)).toEqual(await key.sign(one));
    expect(requests).toHaveLength(2);
    // What was used is asked for anew.
    void own.sign(one);
    await turns(5);
    expect(requests).toHaveLength(3);
  });

  test("N8: two who want the same bytes at once share one request", async () => {
    const { requests, own } = hangingSigner();
    const both = [own.sign(one), own.sign(one)];
    await turns(5);
    expect(requests).toHaveLength(1);
    requests[0]?.answer(await key.sign(one));
    expect(await Promise.all(both)).toEqual([await key.sign(one), await key.sign(one)]);
  });

  test("N19: that is a person has minutes, and is silent only after them", async () => {
    const { clock, requests, own, parts } = hangingSigner(600_000);
    const signed = own.sign(one);
    await pass(clock, 599_000);
    expect(parts.silent()).toEqual([]);
    requests[0]?.answer(await key.sign(one));
    expect(await signed).toEqual(await key.sign(one));
  });

  test("N19: that signs other bytes is refused, and asked anew for the next try", async () => {
    const { requests, own } = hangingSigner();
    const unsigned = {
      message: one,
      signers: [key.address],
      blockhash: "",
      lastValidBlockHeight: 1,
      firstSlot: 1,
      networkFee: unasked(0n),
      priorityFee: 0n,
      markerRent: unasked(0n),
    };
    const refused = signTransaction(unsigned, [own]);
    await turns(5);
    requests[0]?.answer(await key.sign(other));
    await expect(refused).rejects.toBeInstanceOf(SigningFailed);
    const signed = signTransaction(unsigned, [own]);
    await turns(5);
    requests[1]?.answer(await key.sign(one));
    expect((await signed).bytes.length).toBeGreaterThan(one.length);
  });

  // modules: swap/desk
  test("a deadline of less than a second or more than an hour is refused by its field", () => {
    for (const deadlineMs of [0, 999, 1_500.5, 3_600_001, Number.NaN]) {
      const make = () => deskProvider({ desk: { ...key, deadlineMs } });
      expect(make).toThrow("- desk.deadlineMs: expected whole milliseconds, 1,000 to 3,600,000");
    }
    expect(deskProvider({ desk: { ...key, deadlineMs: 600_000 } }).name).toBe("desk");
  });
});
