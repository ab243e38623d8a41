import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Enable the cache before the modules are resolved, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
const { run } = await import('./run.ts');
await run(process.argv.slice(2));
