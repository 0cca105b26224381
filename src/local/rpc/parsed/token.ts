/** Instructions of SPL Token, and those of Token-2022 that wallets meet, in words. */
import { ByteReader } from "../../byte-reader.ts";
import { uiTokenAmount } from "../../token-balances.ts";
import { EXTENSION_NAMES } from "../../token-extensions.ts";
import { applyLayout, type Instruction, type InstructionLayout, type Parsed } from "./layout.ts";

const AUTHORITY_TYPES = [
  "mintTokens",
  "freezeAccount",
  "accountOwner",
  "closeAccount",
  "transferFeeConfig",
  "withheldWithdraw",
  "closeMint",
  "interestRate",
  "permanentDelegate",
  "confidentialTransferMint",
  "transferHookProgramId",
  "confidentialTransferFeeConfig",
  "metadataPointer",
  "groupPointer",
  "groupMemberPointer",
  "scaledUiAmount",
  "pause",
] as const;

/** The authorities of a token account; all others are a mint's. */
const OF_ACCOUNTS = new Set(["accountOwner", "closeAccount"]);

const AUTHORITY = { alone: "authority", multisig: "multisigAuthority" };
const OWNER = { alone: "owner", multisig: "multisigOwner" };
const MINT_AUTHORITY = { alone: "mintAuthority", multisig: "multisigMintAuthority" };
const FREEZE_AUTHORITY = { alone: "freezeAuthority", multisig: "multisigFreezeAuthority" };

const amount = (data: ByteReader): object => ({ amount: data.u64().toString() });

const checkedAmount = (data: ByteReader): object => ({ tokenAmount: uiTokenAmount(data.u64(), data.u8()) });

const newMint = (data: ByteReader): object => ({
  decimals: data.u8(),
  mintAuthority: data.address(),
  freezeAuthority: data.addressIfAny(),
});

const owner = (data: ByteReader): object => ({ owner: data.address() });

const freezing = (type: string): InstructionLayout => ({
  type,
  accounts: ["account", "mint"],
  authority: FREEZE_AUTHORITY,
});

/** The index is the number of the instruction; what has a shape of its own is left out and found below. */
const LAYOUTS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: "initializeMint", accounts: ["mint", "rentSysvar"], fields: newMint },
  1: { type: "initializeAccount", accounts: ["account", "mint", "owner", "rentSysvar"] },
  3: { type: "transfer", accounts: ["source", "destination"], fields: amount, authority: AUTHORITY },
  4: { type: "approve", accounts: ["source", "delegate"], fields: amount, authority: OWNER },
  5: { type: "revoke", accounts: ["source"], authority: OWNER },
  7: { type: "mintTo", accounts: ["mint", "account"], fields: amount, authority: MINT_AUTHORITY },
  8: { type: "burn", accounts: ["account", "mint"], fields: amount, authority: AUTHORITY },
  9: { type: "closeAccount", accounts: ["account", "destination"], authority: OWNER },
  10: freezing("freezeAccount"),
  11: freezing("thawAccount"),
  12: {
    type: "transferChecked",
    accounts: ["source", "mint", "destination"],
    fields: checkedAmount,
    authority: AUTHORITY,
  },
  13: {
    type: "approveChecked",
    accounts: ["source", "mint", "delegate"],
    fields: checkedAmount,
    authority: OWNER,
  },
  14: {
    type: "mintToChecked",
    accounts: ["mint", "account"],
    fields: checkedAmount,
    authority: MINT_AUTHORITY,
  },
  15: { type: "burnChecked", accounts: ["account", "mint"], fields: checkedAmount, authority: AUTHORITY },
  16: { type: "initializeAccount2", accounts: ["account", "mint", "rentSysvar"], fields: owner },
  17: { type: "syncNative", accounts: ["account"] },
  18: { type: "initializeAccount3", accounts: ["account", "mint"], fields: owner },
  20: { type: "initializeMint2", accounts: ["mint"], fields: newMint },
  21: { type: "getAccountDataSize", accounts: ["mint"], fields: extensionTypes },
  22: { type: "initializeImmutableOwner", accounts: ["account"] },
  23: { type: "amountToUiAmount", accounts: ["mint"], fields: amount },
  24: {
    type: "uiAmountToAmount",
    accounts: ["mint"],
    fields: (data) => ({ uiAmount: data.text(data.left) }),
  },
  25: {
    type: "initializeMintCloseAuthority",
    accounts: ["mint"],
    fields: (data) => ({ newAuthority: data.addressIfAny() ?? null }),
  },
};

/** Transfer fees, by the second byte. */
const FEE_LAYOUTS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: "initializeTransferFeeConfig",
    accounts: ["mint"],
    fields: (data) => ({
      transferFeeConfigAuthority: data.addressIfAny(),
      withdrawWithheldAuthority: data.addressIfAny(),
      transferFeeBasisPoints: data.u16(),
      maximumFee: data.u64(),
    }),
  },
  1: {
    type: "transferCheckedWithFee",
    accounts: ["source", "mint", "destination"],
    fields: (data) => {
      const [units, decimals, fee] = [data.u64(), data.u8(), data.u64()];
      return { tokenAmount: uiTokenAmount(units, decimals), feeAmount: uiTokenAmount(fee, decimals) };
    },
    authority: AUTHORITY,
  },
};

const INITIALIZE_MULTISIG = 2;
const SET_AUTHORITY = 6;
const INITIALIZE_MULTISIG_2 = 19;
const TRANSFER_FEE_EXTENSION = 26;

/** An instruction of a token program in words. Throws when it is none, or one that is not described here. */
export function parseToken({ accounts, data }: Instruction): Parsed {
  const reader = new ByteReader(data);
  const number = reader.u8();
  switch (number) {
    case INITIALIZE_MULTISIG: {
      const layout = { type: "initializeMultisig", accounts: ["multisig", "rentSysvar"], fields: threshold };
      return withSigners(layout, accounts, reader);
    }
    case INITIALIZE_MULTISIG_2:
      return withSigners(
        { type: "initializeMultisig2", accounts: ["multisig"], fields: threshold },
        accounts,
        reader,
      );
    case SET_AUTHORITY:
      return parseSetAuthority(accounts, reader);
    default: {
      const layout = number === TRANSFER_FEE_EXTENSION ? FEE_LAYOUTS[reader.u8()] : LAYOUTS[number];
      if (layout === undefined) throw new RangeError("This instruction is not described.");
      return applyLayout(layout, accounts, reader);
    }
  }
}

function threshold(data: ByteReader): object {
  return { m: data.u8() };
}

function withSigners(layout: InstructionLayout, accounts: readonly string[], data: ByteReader): Parsed {
  const { type, info } = applyLayout(layout, accounts, data);
  return { type, info: { ...info, signers: accounts.slice(layout.accounts.length) } };
}

function parseSetAuthority(accounts: readonly string[], data: ByteReader): Parsed {
  const authorityType = AUTHORITY_TYPES[data.u8()];
  if (authorityType === undefined) throw new RangeError("There is no such authority.");
  const layout: InstructionLayout = {
    type: "setAuthority",
    accounts: [OF_ACCOUNTS.has(authorityType) ? "account" : "mint"],
    fields: (rest) => ({ authorityType, newAuthority: rest.addressIfAny() ?? null }),
    authority: AUTHORITY,
  };
  return applyLayout(layout, accounts, data);
}

function extensionTypes(data: ByteReader): object {
  const extensions: string[] = [];
  while (data.left >= 2) extensions.push(EXTENSION_NAMES[data.u16()] ?? "unknown");
  return extensions.length === 0 ? {} : { extensionTypes: extensions };
}
