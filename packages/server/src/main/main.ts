import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Before the rest is looked up, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
// Of what is made while the code is read nearly everything stays. V8 would take that for a sign of much to do and make the
// room for young objects as large as it may be, which a server that rests then keeps: 16 MB for nothing.
setFlagsFromString('--semi-space-growth-factor=1');
const { run } = await import('./run.ts');
await run();
// From then on it is as large as it may be as soon as there is something to do.
setFlagsFromString('--semi-space-growth-factor=8');
// What reading the code has left behind is given back once the start is over: 3 to 5 MB of a server that rests.
setTimeout(() => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setFlagsFromString('--no-expose-gc');
}, 5_000).unref();
