"""Written by `npm run fix` from package.json."""

VERSION = "0.3.0"
