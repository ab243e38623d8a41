import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { InlineConfig, Plugin } from 'vite';
import { contractModules } from './contract-modules.ts';

/** One page is built at a time, `session` or `console`, so that neither waits for what only the other needs. */
export const pageConfig = (page: 'session' | 'console'): InlineConfig => ({
  configFile: false,
  logLevel: 'warn',
  root: import.meta.dirname,
  // Relative, so that a page also works where the server stands behind a path of a larger site.
  base: './',
  plugins: [react(), tailwindcss(), contractModules(), preloadedMain()],
  build: {
    target: 'es2023',
    outDir: page === 'session' ? 'dist' : `dist/${page}`,
    // A policy without inline sources would refuse what is inlined.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    // Licences of what is bundled want to be given along with it.
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: { input: `${page}.html` },
  },
});

/** The console begins with a script that sees to the others: they are on their way while it is read. */
function preloadedMain(): Plugin {
  return {
    name: 'preloaded-main',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((each) => each.type === 'chunk');
        const needed = new Set(chunks.filter(({ facadeModuleId }) => facadeModuleId?.endsWith('/console/main.tsx')));
        for (const { imports } of needed) {
          for (const chunk of chunks) if (imports.includes(chunk.fileName)) needed.add(chunk);
        }
        return [...needed].map(({ fileName }) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` },
        }));
      },
    },
  };
}
