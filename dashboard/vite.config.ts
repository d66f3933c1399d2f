import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Used by `build.ts` and, with hot reload, by `npm run dev:dashboard`. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  // Chunks and styles load relative to each other. The server completes the addresses in the page.
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The theme needs light-dark(), which older browsers lack.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    chunkSizeWarningLimit: 1_000,
    // One chunk for modules shared by most pages: seventy small chunks meant seventy requests and compressed worse, and
    // with a lower count the first page loads what only others need.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 34 }] } },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4000', '/docs': 'http://127.0.0.1:4000' } },
});
