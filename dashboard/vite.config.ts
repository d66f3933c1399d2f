import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run build:dashboard` uses it through `build.ts`; `npm run dev:dashboard` serves the sources beside a server. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [react()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // Older browsers have no light-dark(), which the theme stands on.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    chunkSizeWarningLimit: 1_000,
    // What most pages need comes in one file: each for itself they were seventy requests, and did not compress.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 8 }] } },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4000', '/docs': 'http://127.0.0.1:4000' } },
});
