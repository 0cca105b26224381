/** Loads modules that need @solana/web3.js. It is an optional peer, so an engine alone installs nothing of Solana. */

// Most package managers put the second, which web3.js brings, where it is found; pnpm wants it named.
const PACKAGES = ["@solana/web3.js", "@solana/buffer-layout"];
const COMMAND = "npm install @solana/web3.js@1 @solana/buffer-layout@4";

/** Loads modules that import web3.js. Throws a sentence with the command to type if no 1.x of it is installed. */
export async function loadWithWeb3<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isOfWeb3(error)) throw error;
    throw new Error(`payments and the local chain need @solana/web3.js, 1.99 or a later 1.x: ${COMMAND}`, {
      cause: error,
    });
  }
}

/** A missing package has a code; another major version lacks names, which is a mistake of syntax to Node. */
function isOfWeb3(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (!PACKAGES.some((name) => message.includes(name))) return false;
  return code.endsWith("MODULE_NOT_FOUND") || error instanceof SyntaxError;
}
