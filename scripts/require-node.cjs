// Old syntax, so that an old Node can read it: without this, Node 20 prints a stack for the first TypeScript file.
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 22 || (parts[0] === 22 && parts[1] < 18)) {
  console.error(
    'Vestra needs Node 22.18 or newer; this is ' +
      process.versions.node +
      '. Install a newer one from https://nodejs.org.',
  );
  process.exit(1);
}
