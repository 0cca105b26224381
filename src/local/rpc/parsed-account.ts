/** `jsonParsed`: mints and token accounts in words. */
import type { AccountState } from "../account-state.ts";
import type { View } from "../chain-state.ts";
import { uiTokenAmount } from "../token-balances.ts";
import { extensionTypes, readMint, readTokenAccount, TOKEN_2022_PROGRAM } from "../token-layout.ts";

/** Names of Token-2022's extensions; the number of the type is the index. Their contents are not parsed here. */
const EXTENSIONS = [
  "uninitialized",
  "transferFeeConfig",
  "transferFeeAmount",
  "mintCloseAuthority",
  "confidentialTransferMint",
  "confidentialTransferAccount",
  "defaultAccountState",
  "immutableOwner",
  "memoTransfer",
  "nonTransferable",
  "interestBearingConfig",
  "cpiGuard",
  "permanentDelegate",
  "nonTransferableAccount",
  "transferHook",
  "transferHookAccount",
  "confidentialTransferFeeConfig",
  "confidentialTransferFeeAmount",
  "metadataPointer",
  "tokenMetadata",
  "groupPointer",
  "tokenGroup",
  "groupMemberPointer",
  "tokenGroupMember",
  "confidentialMintBurn",
  "scaledUiAmountConfig",
  "pausableConfig",
  "pausableAccount",
] as const;

/** The parsed form of a mint or token account; `undefined` for everything else, which is answered as base64. */
export function parsedAccount(account: AccountState, view: View): unknown {
  const parsed = parsedTokenAccount(account, view) ?? parsedMint(account);
  if (parsed === undefined) return undefined;
  const program = account.owner === TOKEN_2022_PROGRAM ? "spl-token-2022" : "spl-token";
  return { program, parsed, space: account.data.length };
}

function parsedTokenAccount(account: AccountState, view: View): unknown {
  const token = readTokenAccount(account);
  if (token === undefined) return undefined;
  const decimals = readMint(view.account(token.mint))?.decimals;
  if (decimals === undefined) return undefined;
  const info = {
    isNative: token.nativeReserve !== null,
    mint: token.mint,
    owner: token.owner,
    state: token.state,
    tokenAmount: uiTokenAmount(token.amount, decimals),
    ...(token.delegate === null
      ? {}
      : { delegate: token.delegate, delegatedAmount: uiTokenAmount(token.delegatedAmount, decimals) }),
    ...(token.nativeReserve === null
      ? {}
      : { rentExemptReserve: uiTokenAmount(token.nativeReserve, decimals) }),
    ...(token.closeAuthority === null ? {} : { closeAuthority: token.closeAuthority }),
    ...extensions(account),
  };
  return { type: "account", info };
}

function parsedMint(account: AccountState): unknown {
  const mint = readMint(account);
  if (mint === undefined) return undefined;
  const { mintAuthority, supply, decimals, isInitialized, freezeAuthority } = mint;
  const info = { mintAuthority, supply: supply.toString(), decimals, isInitialized, freezeAuthority };
  return { type: "mint", info: { ...info, ...extensions(account) } };
}

function extensions(account: AccountState): { extensions?: unknown } {
  const types = account.owner === TOKEN_2022_PROGRAM ? extensionTypes(account) : [];
  if (types.length === 0) return {};
  return { extensions: types.map((type) => ({ extension: EXTENSIONS[type] ?? "unparseableExtension" })) };
}
