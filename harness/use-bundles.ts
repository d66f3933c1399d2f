import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Preloaded by the option of `bundle-packages.ts`, which names the folder of the bundles after the `?`. */

const root = new URL('../', import.meta.url);
const packages = new URL('node_modules/', root).href;
const folder = new URL(`.cache/${new URL(import.meta.url).search.slice(1)}/`, packages);
const files = new Map(
  Object.entries(JSON.parse(readFileSync(new URL('map.json', folder), 'utf8')) as object),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const from = context.parentURL ?? '';
    // Relative imports of our sources need no resolution.
    if (specifier.startsWith('.') && specifier.endsWith('.ts') && isOwn(from)) {
      return {
        url: new URL(specifier, from).href,
        format: 'module-typescript',
        shortCircuit: true,
      };
    }
    const file = files.get(specifier);
    // Packages keep importing each other directly.
    if (!file || !isOwn(from)) return nextResolve(specifier, context);
    return { url: new URL(file, folder).href, format: 'module', shortCircuit: true };
  },
});

function isOwn(url: string): boolean {
  return url.startsWith(root.href) && !url.startsWith(packages);
}
