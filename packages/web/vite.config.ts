import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';
import { contractModules } from './contract-modules.ts';

/** One page is built at a time, `session` or `console`, so that neither waits for what only the other needs. */
export const pageConfig = (page: 'session' | 'console', folder: string): InlineConfig => ({
  configFile: false,
  logLevel: 'warn',
  root: import.meta.dirname,
  // Relative, so that a page also works where the server stands behind a path of a larger site.
  base: './',
  plugins: [react(), tailwindcss(), contractModules()],
  build: {
    target: 'es2023',
    outDir: page === 'session' ? folder : join(folder, page),
    emptyOutDir: true,
    // A policy without inline sources would refuse what the build inlines.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    // Licences of what is bundled want to be given along with it.
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: { input: `${page}.html` },
  },
});
