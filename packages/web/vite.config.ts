import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that a page also works where the server stands behind a path of a larger site.
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    target: 'es2023',
    // A policy without inline sources would refuse what is inlined.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    // Licences of what is bundled want to be given along with it.
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: { input: 'session.html' },
  },
});
