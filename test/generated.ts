import { readFileSync, writeFileSync } from 'node:fs';
import { checksumsOf, released } from '../src/db/migrations/migrate.ts';
import { endpoints } from '../src/faces/reference/operations-index.ts';
import { Declaration } from '../src/features/declaration/declaration-contract.ts';
import type { Endpoint } from '../src/http/contract/operation.ts';
import { sampledOpenapi } from './openapi-samples.ts';

/** Writes the generated files; with `--check`, only reports stale ones and exits with 1. */

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

const generated: Record<string, string> = {
  'docs/openapi.json': `${JSON.stringify(sampledOpenapi(version), null, 2)}\n`,
  'docs/cueline.schema.json': `${JSON.stringify(schemaOf(Declaration), null, 2)}\n`,
  'src/client/operations.ts': operationsOf(Object.values(endpoints)),
  'release/migrations.json': `${JSON.stringify(await checksums(), null, 2)}\n`,
};

for (const [path, text] of Object.entries(generated)) {
  const file = new URL(path, root);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (read(file) !== text) {
    console.error(`${path} is stale: npm run generate`);
    process.exitCode = 1;
  }
}

/** Adds those of new migrations. What exists stays, because migrations are append-only: a test compares. */
async function checksums(): Promise<object> {
  const stored = read(new URL('release/migrations.json', root)) ?? '{}';
  return { ...Object.fromEntries(await checksumsOf(released)), ...JSON.parse(stored) };
}

/** The schema that editors use for `cueline.yaml`. */
function schemaOf(declaration: object): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, ...declaration, title: 'cueline.yaml' };
}

/** What the client knows at run time of the operations; it imports no code of the contract. */
function operationsOf(all: readonly Endpoint[]): string {
  const paths = Map.groupBy(
    all.filter(({ path }) => path.startsWith('/api/')),
    ({ path }) => path,
  );
  const lines = [...paths].map(([path, operations]) => {
    const methods = operations.map(({ method, id, query, body }) => {
      const input = (query && ' query') || (body && ' body') || '';
      return `${method}: '${id}${input}'`;
    });
    return `  '${path}': { ${methods.join(', ')} },\n`;
  });
  const names = new Set([...paths.keys()].join().match(/(?<=\{)\w+/g));
  const args = [...names].map((name) => `  ${name}: [${name}: string];\n`);
  return [
    '// Written from the contract by `npm run generate`.\n\n',
    '/** Operations by path and method: the id and, if the operation has one, its input. */\n',
    `export const paths = {\n${lines.join('')}};\n\n`,
    '/** Names the parameters of methods. */\n',
    `export interface PathArguments {\n${args.join('')}}\n`,
  ].join('');
}

function read(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
