"""Written by `npm run fix` from package.json."""

VERSION = "0.2.0"
