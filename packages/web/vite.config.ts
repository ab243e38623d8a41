import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';
import { contractModules } from './contract-modules.ts';

/** Builds `session` and `console` separately, so that they share no chunks. */
export const pageConfig = (page: 'session' | 'console', folder: string): InlineConfig => ({
  configFile: false,
  logLevel: 'warn',
  root: import.meta.dirname,
  // Relative, so that pages work behind a path prefix.
  base: './',
  plugins: [react(), tailwindcss(), contractModules()],
  build: {
    target: 'es2023',
    outDir: page === 'session' ? folder : join(folder, page),
    emptyOutDir: true,
    // The content security policy forbids inlined assets.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    // Bundled packages require their licences to be distributed.
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: { input: `${page}.html` },
  },
});
