#!/usr/bin/env node
// From source, the command runs on the Node that was installed with it; elsewhere on the Node that started it.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const packages = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const installed = join(packages, '..', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
const node = existsSync(installed) ? installed : process.execPath;
const main = join(packages, 'cli', 'src', 'main.ts');

// Node strips types since 22.18.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (node === process.execPath && (major < 22 || (major === 22 && minor < 18))) {
  console.error(`Vestra needs Node 22.18 or newer to run from source; this is ${process.versions.node}.`);
  process.exit(1);
}

if (realpathSync(node) === realpathSync(process.execPath)) await import(pathToFileURL(main).href);
else {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C in a terminal reaches the whole process group. Forwarding it too would deliver it twice, which makes a
  // server stop at once.
  const isTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGINT', () => isTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}
