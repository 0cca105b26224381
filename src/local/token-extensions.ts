/** What Token-2022 keeps behind a mint or a token account: its extensions, in the words of nodes. */
import type { AccountState } from "./account-state.ts";
import { ByteReader } from "./byte-reader.ts";
import { extensionEntries } from "./token-layout.ts";

/** The names of the extensions; the index is the number of the type. */
export const EXTENSION_NAMES = [
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

/** An extension as nodes write it; those without content have no state. */
export interface Extension {
  readonly extension: string;
  readonly state?: object;
}

const ACCOUNT_STATES = ["uninitialized", "initialized", "frozen"] as const;

type ReadState = (data: ByteReader) => object | undefined;

/** Those that only are there or not. */
const none: ReadState = () => undefined;

/** Contents by name. The confidential ones are ciphertext that this chain cannot make: they stay unparsed. */
const STATES: Readonly<Partial<Record<(typeof EXTENSION_NAMES)[number], ReadState>>> = {
  transferFeeConfig: (data) => ({
    transferFeeConfigAuthority: data.addressUnlessZero(),
    withdrawWithheldAuthority: data.addressUnlessZero(),
    withheldAmount: data.u64(),
    olderTransferFee: transferFee(data),
    newerTransferFee: transferFee(data),
  }),
  transferFeeAmount: (data) => ({ withheldAmount: data.u64() }),
  mintCloseAuthority: (data) => ({ closeAuthority: data.addressUnlessZero() }),
  defaultAccountState: (data) => ({ accountState: ACCOUNT_STATES[data.u8()] }),
  immutableOwner: none,
  memoTransfer: (data) => ({ requireIncomingTransferMemos: data.u8() === 1 }),
  nonTransferable: none,
  interestBearingConfig: (data) => ({
    rateAuthority: data.addressUnlessZero(),
    initializationTimestamp: data.i64(),
    preUpdateAverageRate: data.i16(),
    lastUpdateTimestamp: data.i64(),
    currentRate: data.i16(),
  }),
  cpiGuard: (data) => ({ lockCpi: data.u8() === 1 }),
  permanentDelegate: (data) => ({ delegate: data.addressUnlessZero() }),
  nonTransferableAccount: none,
  transferHook: (data) => ({ authority: data.addressUnlessZero(), programId: data.addressUnlessZero() }),
  transferHookAccount: (data) => ({ transferring: data.u8() === 1 }),
  metadataPointer: (data) => ({
    authority: data.addressUnlessZero(),
    metadataAddress: data.addressUnlessZero(),
  }),
  tokenMetadata: (data) => ({
    updateAuthority: data.addressUnlessZero(),
    mint: data.address(),
    name: data.text(data.u32()),
    symbol: data.text(data.u32()),
    uri: data.text(data.u32()),
    additionalMetadata: pairs(data),
  }),
  groupPointer: (data) => ({ authority: data.addressUnlessZero(), groupAddress: data.addressUnlessZero() }),
  tokenGroup: (data) => ({
    updateAuthority: data.addressUnlessZero(),
    mint: data.address(),
    size: data.u64(),
    maxSize: data.u64(),
  }),
  groupMemberPointer: (data) => ({
    authority: data.addressUnlessZero(),
    memberAddress: data.addressUnlessZero(),
  }),
  tokenGroupMember: (data) => ({ mint: data.address(), group: data.address(), memberNumber: data.u64() }),
  scaledUiAmountConfig: (data) => ({
    authority: data.addressUnlessZero(),
    multiplier: data.f64().toString(),
    newMultiplierEffectiveTimestamp: data.i64(),
    newMultiplier: data.f64().toString(),
  }),
  pausableConfig: (data) => ({ authority: data.addressUnlessZero(), paused: data.u8() === 1 }),
  pausableAccount: none,
};

/** The extensions of a mint or token account, as they are stored. An unknown one is `unparseableExtension`. */
export function readExtensions(account: AccountState): Extension[] {
  return extensionEntries(account).map(({ type, value }) => readExtension(EXTENSION_NAMES[type], value));
}

function readExtension(name: (typeof EXTENSION_NAMES)[number] | undefined, value: Uint8Array): Extension {
  const read = name === undefined ? undefined : STATES[name];
  if (name === undefined || read === undefined) return UNPARSEABLE;
  try {
    const state = read(new ByteReader(value));
    return { extension: name, ...(state === undefined ? {} : { state }) };
  } catch {
    return UNPARSEABLE;
  }
}

const UNPARSEABLE: Extension = { extension: "unparseableExtension" };

function transferFee(data: ByteReader): object {
  return { epoch: data.u64(), maximumFee: data.u64(), transferFeeBasisPoints: data.u16() };
}

function pairs(data: ByteReader): [string, string][] {
  const found: [string, string][] = [];
  for (let left = data.u32(); left > 0; left -= 1) found.push([data.text(data.u32()), data.text(data.u32())]);
  return found;
}
