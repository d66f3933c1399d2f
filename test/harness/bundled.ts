import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Imported first, by the option of `bundle-packages.ts`, which names the folder of the bundles behind its `?`. */

const root = new URL('../../', import.meta.url);
const packages = new URL('node_modules/', root).href;
const folder = new URL(`.cache/${new URL(import.meta.url).search.slice(1)}/`, packages);
const files = new Map(
  Object.entries(JSON.parse(readFileSync(new URL('map.json', folder), 'utf8')) as object),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const file = files.get(specifier);
    const from = context.parentURL ?? '';
    // What other packages import of these stays with them.
    if (!file || !from.startsWith(root.href) || from.startsWith(packages)) {
      return nextResolve(specifier, context);
    }
    return { url: new URL(file, folder).href, format: 'module', shortCircuit: true };
  },
});
