/** The output of `paystate dev` once it is ready: one line for programs, or a page for people. */
import { styleText } from "node:util";
import bs58 from "bs58";
import type { Tier } from "../payments/frame/tables/identity.ts";
import type { LocalWallet } from "../local/index.ts";
import { DEV_HELPERS_PATH } from "./dev-helpers.ts";
import type { DevSandbox } from "./dev-sandbox.ts";
import { INSPECTOR_PATH } from "../inspector/inspector.ts";
import type { Token } from "../payments/frame/assets/assets.ts";

/** The one line of `--json`. */
export interface DevStatus {
  /** Without `/v1`. */
  readonly baseUrl: string;
  /** The pages that show every instance, live. */
  readonly inspectorUrl: string;
  readonly rpcUrl: string;
  readonly webSocketUrl: string;
  readonly apiKeys: Readonly<Record<Tier, string>>;
  /** `secretKey` is base58 of the 64 bytes. */
  readonly wallets: readonly { readonly address: string; readonly secretKey: string }[];
  readonly sandbox: DevSandbox;
  readonly tokens: readonly { readonly symbol: string; readonly mint: string; readonly decimals: number }[];
}

/** Names and addresses of the parts of a development service. */
interface DevFacts extends Pick<DevStatus, "baseUrl" | "rpcUrl" | "webSocketUrl" | "apiKeys" | "sandbox"> {
  readonly wallets: readonly LocalWallet[];
  readonly tokens: readonly Token[];
}

export function devStatus(facts: DevFacts): DevStatus {
  return {
    baseUrl: facts.baseUrl,
    inspectorUrl: `${facts.baseUrl}${INSPECTOR_PATH}`,
    rpcUrl: facts.rpcUrl,
    webSocketUrl: facts.webSocketUrl,
    apiKeys: facts.apiKeys,
    wallets: facts.wallets.map(({ address, secretKey }) => ({ address, secretKey: bs58.encode(secretKey) })),
    sandbox: facts.sandbox,
    tokens: facts.tokens.map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
  };
}

/** The page for people; coloured when the terminal shows colours. */
export function readyPage(
  { baseUrl, inspectorUrl, rpcUrl, webSocketUrl, apiKeys, wallets, sandbox, tokens }: DevStatus,
  dataFolder: string,
): string {
  const colours = process.stdout.isTTY && process.stdout.hasColors();
  const style = (format: "bold" | "cyan" | "dim", text: string): string =>
    colours ? styleText(format, text) : text;
  const row = (name: string, value: string): string => `  ${style("dim", name.padEnd(12))}${value}`;
  return [
    style("bold", "paystate dev is ready"),
    "",
    row("API", style("cyan", `${baseUrl}/v1`)),
    row("inspector", style("cyan", inspectorUrl)),
    row("helpers", style("cyan", `${baseUrl}${DEV_HELPERS_PATH}`)),
    row("chain", `${style("cyan", rpcUrl)}, websockets ${style("cyan", webSocketUrl)}`),
    row("data", dataFolder),
    "",
    style("bold", "API keys, each its own account"),
    ...Object.entries(apiKeys).map(([tier, key]) => row(tier, key)),
    "",
    style("bold", "Wallets, funded with SOL, USDC and USDT"),
    ...wallets.flatMap(({ address, secretKey }) => [
      row("address", address),
      row("secret key", style("dim", secretKey)),
    ]),
    "",
    style("bold", "Sandbox: payees whose payments fail"),
    row("frozen", sandbox.frozen),
    row("no account", sandbox.noAccount),
    row("held", sandbox.held),
    "",
    style("bold", "Tokens"),
    ...tokens.map(({ symbol, mint, decimals }) => row(symbol, `${mint}  ${decimals} decimals`)),
    "",
    style("dim", "These keys are worth nothing anywhere else. Ctrl-C stops; started again, all goes on."),
    "",
    `curl -H "Authorization: Bearer ${apiKeys.free}" ${baseUrl}/v1/tokens`,
  ].join("\n");
}
