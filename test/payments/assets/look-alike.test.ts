/** Symbols that are taken for an asset's, whichever letters they are written in. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import { isLookAlike } from "../../../src/payments/frame/assets/look-alike.ts";

const assets = assetsWith(MAINNET_STABLECOINS);

test.each([
  ...["USDC", "usdc", "UsDt", "SOL", "S0L", "5OL", "so1", "SOI", "SO|", "U$DC", "VSDC"],
  ...["ＵＳＤＣ", "USDС", "UЅDC", "ՍЅDС", "𝐔𝐒𝐃𝐂", "ⓊⓈⒹⓉ", "ꓢꓳꓡ", "ᴜsᴅᴄ", "ЅОL", "U̲S̲D̲C̲", "ÚSDĆ", "uſdc"],
  ...["USDC ", " SOL", "US DC", "U.S.D.C.", "U-S-D-T", "$USDC", "«SOL»", "USDC.", "(SOL)"],
])("Q6: %j is taken for an asset's symbol", (symbol) => {
  expect(isLookAlike(symbol, assets)).toBe(true);
});

test.each([
  "",
  "USD",
  "DAI",
  "BONK",
  "EURC",
  "USDCet",
  "USDC.e",
  "USDT0",
  "xSOL",
  "mSOL",
  "JitoSOL",
  "SOLV",
  "日本円コイン",
])("Q6: %j is a symbol of its own", (symbol) => {
  expect(isLookAlike(symbol, assets)).toBe(false);
});

test("Q6: no letter beyond ASCII makes an asset's symbol another one, and any text is judged", () => {
  const letter = fc
    .string({ unit: "binary", minLength: 1, maxLength: 1 })
    .filter((one) => /^[^\0-\x7f]$/u.test(one.normalize("NFKD")) && /^\p{L}$/u.test(one));
  fc.assert(
    fc.property(letter, fc.nat({ max: 3 }), fc.constantFrom("USDC", "USDT"), (one, at, symbol) => {
      expect(isLookAlike(symbol.slice(0, at) + one + symbol.slice(at + 1), assets)).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 32 }), (text) => {
      expect(typeof isLookAlike(text, assets)).toBe("boolean");
    }),
  );
});
