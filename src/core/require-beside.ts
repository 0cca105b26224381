/** Finds optional packages from where this code lies, also in a bundle. */
import Module from "node:module";

/** A `require` that looks beside this file. Bundlers leave this form of the call alone. */
export function requireBeside(): NodeJS.Require {
  try {
    // Only a bundle that is a CommonJS file has this name. Its import.meta.url is missing, or that of the build's machine.
    return Module.createRequire(__filename);
  } catch {
    return Module.createRequire(import.meta.url);
  }
}
