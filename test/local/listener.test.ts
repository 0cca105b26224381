/** The chain on a port, and what it refuses before it does anything. */
import { expect, test } from "vitest";
import { createLocalChain } from "paystate/local";
import { loadLitesvm, nativePackageName } from "../../src/local/litesvm.ts";
import { stillChain } from "./kit.ts";

const HERE = { host: "127.0.0.1", port: 0 };

test("browsers may call from any origin", async () => {
  const { url } = await (await stillChain()).listen(HERE);
  const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: "https://wallet.example" } });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(await (await fetch(`${url}/health`)).text()).toBe("ok");
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(url, { method: "POST", body: "x".repeat(60_000) })).status).toBe(413);
});

test("a port in use is refused with a sentence that says so", async () => {
  const chain = await stillChain();
  const { url } = await chain.listen(HERE);
  const port = Number(new URL(url).port);
  await expect(chain.listen({ ...HERE, port })).rejects.toThrow(
    `The local chain cannot listen: port ${port} of 127.0.0.1 is in use: stop what listens there or choose another port.`,
  );
});

test("closing the chain closes its ports, and calls in this process fail like a dead network", async () => {
  const chain = await stillChain();
  const { url } = await chain.listen(HERE);
  await chain.close();
  await chain.close();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
  await expect(chain.fetch("http://local.invalid", { method: "POST", body: "{}" })).rejects.toThrow(
    "The local chain was closed.",
  );
});

test("the native package follows from the machine", () => {
  expect(nativePackageName({ os: "linux", cpu: "x64", libc: "gnu" })).toBe("litesvm-linux-x64-gnu");
  expect(nativePackageName({ os: "linux", cpu: "arm64", libc: "musl" })).toBe("litesvm-linux-arm64-musl");
  expect(nativePackageName({ os: "darwin", cpu: "arm64", libc: "gnu" })).toBe("litesvm-darwin-arm64");
  expect(() => nativePackageName({ os: "win32", cpu: "x64", libc: "gnu" })).toThrow("no build for win32-x64");
});

test("a missing or unloadable native package says what to install", () => {
  expect(() => loadLitesvm("litesvm-not-there")).toThrow(
    'needs the package litesvm-not-there, which is not installed: run "npm install --save-optional --save-exact litesvm-not-there@1.5.0"',
  );
  const broken = (): never => {
    throw new Error("invalid ELF header");
  };
  expect(() => loadLitesvm("litesvm-linux-x64-gnu", broken)).toThrow("does not load (invalid ELF header)");
});

test("numbers that make no chain are refused", async () => {
  const clock = { now: () => 0 };
  await expect(createLocalChain({ clock, slotMs: -1 })).rejects.toThrow(/slotMs/);
  await expect(createLocalChain({ clock, confirmedAfter: 5, finalizedAfter: 4 })).rejects.toThrow(
    /confirmedAfter/,
  );
});

test("funds that make no valid account found no wallet", async () => {
  const chain = await stillChain();
  expect(() => chain.createWallet("poor", { lamports: 1n })).toThrow("InsufficientFundsForRent");
  expect(chain.wallets()).toEqual([]);
  const { address } = chain.createWallet("poor", { lamports: 1_000_000_000n });
  expect(chain.wallets()).toMatchObject([{ name: "poor", address }]);
  expect(() => chain.setRent(-1n)).toThrow(RangeError);
});

test("an amount that is no u64 is refused, not wrapped around", async () => {
  const chain = await stillChain();
  expect(() => chain.fund(chain.faucet.address, { usdc: 2n ** 64n + 5n })).toThrow(RangeError);
  expect(() => chain.fund(chain.faucet.address, { lamports: -1n })).toThrow(RangeError);
});
