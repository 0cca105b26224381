/** The symbol that a Token-2022 mint carries on itself, read with distrust: a stranger may have made the mint. */
import { ACCOUNT_TYPE, ACCOUNT_TYPE_OFFSET, MINT_BYTES } from "./layouts.ts";

// Behind the account type stands a list of extensions: type (u16), length (u16), value.
const EXTENSION_HEADER_BYTES = 4;
const EXTENSION_TOKEN_METADATA = 19;
// Within the metadata: update authority and mint, 32 bytes each; then name, symbol and uri, each with a u32 length.
const NAME_AT = 64;
// A longer text is no symbol.
const MAX_SYMBOL_BYTES = 32;

/** The symbol in a mint's data; null without a readable symbol. Never throws. */
export function readTokenSymbol(mint: Buffer): string | null {
  if (mint.length <= MINT_BYTES || mint[ACCOUNT_TYPE_OFFSET] !== ACCOUNT_TYPE.mint) return null;
  let at = ACCOUNT_TYPE_OFFSET + 1;
  while (at + EXTENSION_HEADER_BYTES <= mint.length) {
    const type = mint.readUInt16LE(at);
    const length = mint.readUInt16LE(at + 2);
    const start = at + EXTENSION_HEADER_BYTES;
    if (type === EXTENSION_TOKEN_METADATA) return symbolIn(mint.subarray(start, start + length));
    at = start + length;
  }
  return null;
}

function symbolIn(metadata: Buffer): string | null {
  const name = stringAt(metadata, NAME_AT);
  const symbol = name === null ? null : stringAt(metadata, name.end);
  if (symbol === null || symbol.bytes.length > MAX_SYMBOL_BYTES) return null;
  const text = symbol.bytes.toString("utf8").trim();
  // Control, formatting and replacement characters would let one symbol look like another.
  return text !== "" && /^[^\p{C}\uFFFD]+$/u.test(text) ? text : null;
}

function stringAt(data: Buffer, at: number): { bytes: Buffer; end: number } | null {
  if (at + 4 > data.length) return null;
  const start = at + 4;
  const end = start + data.readUInt32LE(at);
  return end <= data.length ? { bytes: data.subarray(start, end), end } : null;
}
