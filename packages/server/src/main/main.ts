import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Before the rest is looked up, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
const { run } = await import('./run.ts');
await run();
