/**
 * A chain in a process of its own, to be killed: `chain-process.ts <journal>` prints its URL and its wallet's secret
 * key as one JSON line, and listens until its end.
 */
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/core/runtime.ts";

const [journal] = process.argv.slice(2);
if (journal === undefined) throw new Error("Usage: chain-process.ts <journal>");
const chain = await createLocalChain({ clock: systemClock, slotMs: 400, journal });
const { secretKey } = chain.createWallet("payer", { lamports: 1_000_000_000_000n, usdc: 1_000_000_000n });
const { url } = await chain.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ url, secretKey: [...secretKey] })}\n`);
