import { join } from 'node:path';

export const migrationsFolder: string = join(import.meta.dirname, '..', 'db', 'migrations');
