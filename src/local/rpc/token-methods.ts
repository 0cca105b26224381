/** Methods about mints and token accounts. */
import { isTokenProgram } from "../../solana/programs.ts";
import { uiTokenAmount } from "../token-balances.ts";
import { readMint, readTokenAccount, type TokenAccount } from "../token-layout.ts";
import { encodeAccount } from "./account-data.ts";
import { readAddress, type RpcCall, type RpcHandler, withContext } from "./call.ts";
import { invalidParams } from "./errors.ts";

function getTokenAccountsByOwner(call: RpcCall): unknown {
  const owner = call.address(0);
  const config = call.config(2);
  const view = call.view(config);
  const matches = readFilter(call);
  const found = [...call.chain.tokenOwners.candidates(owner)].toSorted().flatMap((pubkey) => {
    const account = view.account(pubkey);
    const token = readTokenAccount(account);
    if (token === undefined || token.owner !== owner || !matches(token)) return [];
    return [{ pubkey, account: encodeAccount(account, config, view) }];
  });
  return withContext(view.slot, found);
}

/** Either `{ mint }` or `{ programId }`, as the second parameter. */
function readFilter(call: RpcCall): (token: TokenAccount) => boolean {
  const filter = call.config(1);
  if (filter["mint"] !== undefined) {
    const mint = readAddress(filter["mint"]);
    if (readMint(call.chain.viewAt(call.head).account(mint)) === undefined) {
      throw invalidParams("Invalid param: could not find mint");
    }
    return (token) => token.mint === mint;
  }
  const program = readAddress(filter["programId"]);
  if (!isTokenProgram(program)) throw invalidParams("Invalid param: unrecognized Token program id");
  return (token) => token.program === program;
}

function getTokenAccountBalance(call: RpcCall): unknown {
  const view = call.view(call.config(1));
  const account = view.account(call.address(0));
  if (account === null) throw invalidParams("Invalid param: could not find account");
  const token = readTokenAccount(account);
  const mint = token && readMint(view.account(token.mint));
  if (token === undefined || mint === undefined) throw invalidParams("Invalid param: not a Token account");
  return withContext(view.slot, uiTokenAmount(token.amount, mint.decimals));
}

function getTokenSupply(call: RpcCall): unknown {
  const view = call.view(call.config(1));
  const account = view.account(call.address(0));
  if (account === null) throw invalidParams("Invalid param: could not find account");
  const mint = readMint(account);
  if (mint === undefined) throw invalidParams("Invalid param: not a Token mint");
  return withContext(view.slot, uiTokenAmount(mint.supply, mint.decimals));
}

/** The methods of this file by name. */
export const tokenMethods: Readonly<Record<string, RpcHandler>> = {
  getTokenAccountsByOwner,
  getTokenAccountBalance,
  getTokenSupply,
};
