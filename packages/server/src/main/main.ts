import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import './fast-resolution.ts';

// Both must be in place before the rest is looked up, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
const { run } = await import('./run.ts');
await run();
