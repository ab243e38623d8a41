/**
 * A separate program, so that each change of the functions is a fresh start. It loads the named module and answers the
 * calls of a deployment until it is stopped.
 */
import { pathToFileURL } from 'node:url';
import { createClient } from '@vestra/sdk/client';
import { lineOf, type ServeOptions, serveFunctions } from '@vestra/sdk/functions';

type Functions = ServeOptions['functions'];

const [file = '', deployment = '', concurrency = ''] = process.argv.slice(2);
const { VESTRA_URL = '', VESTRA_KEY = '' } = process.env;
const stopping = new AbortController();
const stop = () => stopping.abort();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
// The parent process is gone, so nobody would stop this one.
process.on('disconnect', stop);

try {
  const functions = functionsOf(await import(pathToFileURL(file).href));
  await serveFunctions(createClient({ baseUrl: VESTRA_URL, key: VESTRA_KEY }), {
    deployment,
    functions,
    concurrency: concurrency === '' ? undefined : Number(concurrency),
    signal: stopping.signal,
    onEvent: (event) => process.stderr.write(`${lineOf(event)}\n`),
  });
  process.exit(0);
} catch (error) {
  process.stderr.write(`✖ ${faultOf(error)}\n`);
  process.exit(1);
}

/** The named exports of the module, or its default object. */
function functionsOf(module: Record<string, unknown>): Functions {
  const { default: given, ...named } = module;
  const all = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : named;
  const functions = Object.fromEntries(Object.entries(all).filter(([, each]) => isFunction(each))) as Functions;
  if (Object.keys(functions).length > 0) return functions;
  throw new Error(`${file} exports no function: write \`export async function find_order({ number }) { … }\`.`);
}

function isFunction(each: unknown): boolean {
  if (typeof each === 'function') return true;
  return typeof each === 'object' && each !== null && 'run' in each && typeof each.run === 'function';
}

/** A module that fails to load shows its stack; an error from the service does not need one. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[mc]?ts$/.test(file)) {
    return `Node 22.18 or newer reads TypeScript; this is ${process.versions.node}. Update Node, or write ${file} in JavaScript.`;
  }
  const missing = /^Cannot find package '((?:@[^/']+\/)?[^/']+)/.exec(error.message)?.[1];
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && missing !== undefined) {
    return `${file} imports the package ${missing}, which is not installed: run \`npm install ${missing}\`.`;
  }
  return error instanceof SyntaxError || error instanceof ReferenceError
    ? (error.stack ?? error.message)
    : error.message;
}
