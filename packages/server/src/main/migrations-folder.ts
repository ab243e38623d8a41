import { join } from 'node:path';

export const migrationsFolder: string = join(import.meta.dirname, '..', 'platform', 'db', 'migrations');
