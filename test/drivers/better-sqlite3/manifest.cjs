/** What the driver that fits says of itself: whoever asks for the version of better-sqlite3 gets that of the real one. */
// oxlint-disable import/no-commonjs -- it stands in for a package.json, which is required

module.exports = require(
  `better-sqlite3-${Number.parseInt(process.versions.node, 10) < 22 ? 12 : 13}/package.json`,
);
