/** The driver that fits this Node: CommonJS like the driver, so that bundles take both alike. */
// oxlint-disable import/no-commonjs -- it stands in for a CommonJS package

/** @throws What to do where npm has left it out: it is optional, since no Node takes both. */
function fitting() {
  try {
    const { version } = require("./manifest.cjs");
    return require(`better-sqlite3-${Number.parseInt(version, 10)}`);
  } catch (cause) {
    if (cause.code !== "MODULE_NOT_FOUND") throw cause;
    throw new Error(
      `no better-sqlite3 is installed for Node ${process.versions.node}: run \`npm ci\` with this Node; ` +
        "on Node 20 it may need python3, make and g++",
      { cause },
    );
  }
}

module.exports = fitting();
