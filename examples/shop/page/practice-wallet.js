/** A wallet by Wallet Standard, for practice: it holds a key of the development chain and asks before it signs. */

const PKCS8 = Uint8Array.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]);
const SIGNATURE_BYTES = 64;

register(await practiceWallet(await (await fetch("/practice-key")).json()));

async function practiceWallet({ address, secretKey }) {
  const bytes = Uint8Array.from(secretKey);
  const seed = new Uint8Array([...PKCS8, ...bytes.subarray(0, 32)]);
  const key = await crypto.subtle.importKey("pkcs8", seed, "Ed25519", false, ["sign"]);
  const chains = ["solana:localnet"];
  const features = ["solana:signTransaction"];
  const account = { address, publicKey: bytes.subarray(32), chains, features };

  const signTransaction = async ({ transaction }) => {
    if (!confirm("Practice wallet: sign this transaction?")) throw new Error("the wallet was told no");
    // How many signatures there are, 64 bytes for each, and the message. The customer's is the first and the only one.
    const message = transaction.subarray(1 + transaction[0] * SIGNATURE_BYTES);
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, message));
    const signedTransaction = transaction.slice();
    signedTransaction.set(signature, 1);
    return { signedTransaction };
  };
  return {
    version: "1.0.0",
    name: "Practice wallet",
    icon: "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=",
    chains,
    accounts: [account],
    features: {
      "standard:connect": { version: "1.0.0", connect: async () => ({ accounts: [account] }) },
      "standard:events": { version: "1.0.0", on: () => () => {} },
      "solana:signTransaction": {
        version: "1.0.0",
        supportedTransactionVersions: ["legacy", 0],
        signTransaction: (...inputs) => Promise.all(inputs.map(signTransaction)),
      },
    },
  };
}

/** Whoever comes first, the page or the wallet, hears of the other. */
function register(wallet) {
  const introduce = (page) => page.register(wallet);
  window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: introduce }));
  window.addEventListener("wallet-standard:app-ready", ({ detail }) => introduce(detail));
}
