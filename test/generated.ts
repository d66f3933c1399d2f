import { readFileSync, writeFileSync } from 'node:fs';
import { Declaration } from '../src/contract/agents/declaration.ts';
import { openapi } from '../src/contract/openapi/openapi.ts';

/** Writes the generated files; with `--check`, only reports stale ones and exits with 1. */

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

const generated: Record<string, string> = {
  'docs/openapi.json': `${JSON.stringify(openapi(version), null, 2)}\n`,
  'docs/cueline.schema.json': `${JSON.stringify(schemaOf(Declaration), null, 2)}\n`,
};

for (const [path, text] of Object.entries(generated)) {
  const file = new URL(path, root);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (read(file) !== text) {
    console.error(`${path} is stale: npm run generate`);
    process.exitCode = 1;
  }
}

/** The schema that editors use for `cueline.yaml`. */
function schemaOf(declaration: object): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, ...declaration, title: 'cueline.yaml' };
}

function read(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
