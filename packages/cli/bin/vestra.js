#!/usr/bin/env node
// From source the command runs on the Node that was installed with it, whatever Node started it; elsewhere on its own.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const packages = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const installed = join(packages, '..', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
const node = existsSync(installed) ? installed : process.execPath;
const main = join(packages, 'cli', 'src', 'main.ts');

if (realpathSync(node) === realpathSync(process.execPath)) await import(pathToFileURL(main).href);
else {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C in a terminal reaches the whole group: handed on as well it would arrive twice, which means "now" to a server.
  const isTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGINT', () => isTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}
